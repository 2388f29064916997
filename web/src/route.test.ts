import { describe, expect, it } from "vitest";
import { address, parseRoute, type Route } from "./route";

describe("routes", () => {
  it("survive a round trip", () => {
    const routes: Route[] = [
      { screen: "home" },
      { screen: "rooms" },
      { screen: "create" },
      { screen: "ais" },
      { screen: "tv" },
      { screen: "room", roomId: "r 1/2" },
      { screen: "join", joinCode: "ABC" },
      { screen: "game", gameId: "r1-3" },
      { screen: "game", gameId: "r1-3", ply: 23 },
      { screen: "player", playerId: "p1" },
      { screen: "ai", kind: "mcts-roxanne", level: 5 },
    ];
    for (const route of routes) expect(parseRoute(address(route))).toEqual(route);
  });

  it("take an invalid AI level as the default", () => {
    for (const level of ["", "/", "/x", "/-1"]) {
      expect(parseRoute(`#/ai/mcts${level}`)).toEqual({ screen: "ai", kind: "mcts", level: 0 });
    }
  });

  it("show the start of a game for an invalid ply", () => {
    for (const ply of ["/", "/0", "/x", "/-1"]) {
      expect(parseRoute(`#/game/g${ply}`)).toEqual({ screen: "game", gameId: "g" });
    }
  });

  it("lead home from unknown addresses", () => {
    for (const hash of ["", "#", "#/", "#/nowhere", "#/game", "#/join/", "#/%"]) {
      expect(parseRoute(hash)).toEqual({ screen: "home" });
    }
  });
});
