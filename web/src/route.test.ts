import { describe, expect, it } from "vitest";
import { ALL_GAMES } from "./record_filter";
import { address, parseRoute, type Route } from "./route";

describe("routes", () => {
  it("survive a round trip", () => {
    const routes: Route[] = [
      { screen: "home" },
      { screen: "rooms" },
      { screen: "create" },
      { screen: "ais" },
      { screen: "players" },
      { screen: "tv" },
      { screen: "bots" },
      { screen: "tournaments" },
      { screen: "tournament", tournamentId: "t1" },
      { screen: "organise" },
      { screen: "records", filter: ALL_GAMES },
      { screen: "records", filter: { ...ALL_GAMES, playerId: "p/1", playerName: "a b?&=", kind: 1, rated: true } },
      { screen: "records", filter: { ...ALL_GAMES, opening: "Tiger", from: "2026-01-31", until: "2026-02-01" } },
      { screen: "explore", moves: "" },
      { screen: "explore", moves: "f5d6" },
      { screen: "explore", moves: "", kind: 2 },
      { screen: "explore", moves: "f5", kind: 3, minRating: 1600 },
      { screen: "room", roomId: "r 1/2" },
      { screen: "join", joinCode: "ABC" },
      { screen: "game", gameId: "r1-3" },
      { screen: "game", gameId: "r1-3", ply: 23 },
      { screen: "player", playerId: "p1" },
      { screen: "ai", kind: "mcts-roxanne", level: 5 },
    ];
    for (const route of routes) expect(parseRoute(address(route))).toEqual(route);
  });

  it("leave out what does not restrict, and what is no day or number", () => {
    expect(address({ screen: "records", filter: ALL_GAMES })).toBe("#/records");
    expect(address({ screen: "explore", moves: "f5" })).toBe("#/explore/f5");
    const unusable = parseRoute("#/records?from=yesterday&until=2026-13-01&kind=x&minRating=-5");
    expect(unusable).toEqual({ screen: "records", filter: ALL_GAMES });
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

  it("lead home without a screen, and say so of an unknown one", () => {
    for (const hash of ["", "#", "#/"]) expect(parseRoute(hash)).toEqual({ screen: "home" });
    for (const hash of ["#/nowhere", "#/game", "#/join/", "#/player/", "#/%", "#/unknown"]) {
      expect(parseRoute(hash)).toEqual({ screen: "unknown" });
    }
  });
});
