import { describe, expect, it } from "vitest";
import { address, parseRoute, type Route } from "./route";

describe("routes", () => {
  it("are read as they are written", () => {
    const routes: Route[] = [
      { screen: "home" },
      { screen: "rooms" },
      { screen: "create" },
      { screen: "tv" },
      { screen: "room", roomId: "r 1/2" },
      { screen: "join", joinCode: "ABC" },
      { screen: "game", gameId: "r1-3" },
      { screen: "player", playerId: "p1" },
      { screen: "ai", kind: "mcts-roxanne", level: 5 },
    ];
    for (const route of routes) expect(parseRoute(address(route))).toEqual(route);
  });

  it("take what is no level for the AI's own", () => {
    for (const level of ["", "/", "/x", "/-1"]) {
      expect(parseRoute(`#/ai/mcts${level}`)).toEqual({ screen: "ai", kind: "mcts", level: 0 });
    }
  });

  it("lead home from anywhere else", () => {
    for (const hash of ["", "#", "#/", "#/nowhere", "#/game", "#/join/", "#/%"]) {
      expect(parseRoute(hash)).toEqual({ screen: "home" });
    }
  });
});
