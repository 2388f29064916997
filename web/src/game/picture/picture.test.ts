import { describe, expect, it } from "vitest";
import { START } from "../board";
import { type BoardColors, type Picture, pictureSvg } from "./picture";

const COLORS: BoardColors = {
  frame: "#010101",
  onFrame: "#020202",
  board: "#030303",
  line: "#040404",
  black: "#050505",
  blackEdge: "#060606",
  blackRing: "#070707",
  white: "#080808",
  whiteEdge: "#090909",
  mark: "#101010",
  markEdge: "#111111",
};
const drawn = (picture: Picture) => pictureSvg(picture, COLORS, 10);

describe("pictures", () => {
  it("mark the last move if there is one", () => {
    expect(drawn({ board: START })).not.toContain("<circle");
    expect(drawn({ board: START, last: 63 })).toContain('<circle cx="75" cy="75"');
  });

  it("are higher with the names of the players, which cannot end their element", () => {
    expect(drawn({ board: START })).toContain('width="920" height="920"');
    const named = drawn({ board: START, names: { black: "</text><script>", white: "A & B" }, note: "1. d3" });
    expect(named).toContain('width="920" height="1100"');
    expect(named).toContain("&lt;/text>&lt;script>");
    for (const said of ["A &amp; B", ">1. d3<", ">2<"]) expect(named).toContain(said);
  });

  it("use every color", () => {
    const names = { black: "a", white: "b" };
    for (const color of Object.values(COLORS)) expect(drawn({ board: START, last: 27, names })).toContain(color);
  });
});
