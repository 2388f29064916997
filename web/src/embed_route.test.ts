import { describe, expect, it } from "vitest";
import { embedAddress, embedCode, type EmbedRoute, parseEmbedRoute } from "./embed_route";

describe("routes of embedded boards", () => {
  it("survive a round trip", () => {
    const routes: EmbedRoute[] = [
      { screen: "game", gameId: "r1-3" },
      { screen: "game", gameId: "r1-3", ply: 23 },
      { screen: "room", roomId: "r 1/2" },
      { screen: "analysis", start: "", moves: "f5d6" },
    ];
    for (const route of routes) expect(parseEmbedRoute(embedAddress(route).replace("/embed", ""))).toEqual(route);
  });

  it("have an address of their own", () => {
    expect(embedAddress({ screen: "game", gameId: "g", ply: 5 })).toBe("/embed#/game/g/5");
    expect(embedAddress({ screen: "analysis", start: "", moves: "f5" })).toBe("/embed#/position/start/f5");
  });

  it("show nothing but games and positions", () => {
    for (const hash of ["", "#/", "#/rooms", "#/player/p1", "#/game"]) expect(parseEmbedRoute(hash)).toBeUndefined();
  });

  it("make code in which a name cannot end the attribute", () => {
    expect(embedCode("https://a.b", { screen: "game", gameId: "g" }, 'x" onload="<&')).toBe(
      '<iframe src="https://a.b/embed#/game/g" title="x&quot; onload=&quot;&lt;&amp;" width="400" height="560" ' +
        'loading="lazy"></iframe>',
    );
  });
});
