import { describe, expect, it } from "vitest";
import { START } from "./board";
import { type BoardColors, boardSvg, discs } from "./board_svg";

const COLORS: BoardColors = {
  board: "green",
  line: "darkgreen",
  frame: "brown",
  onFrame: "beige",
  black: "black",
  blackEdge: "black",
  blackRing: "gray",
  white: "white",
  whiteEdge: "gray",
  mark: "gold",
};

describe("board SVG", () => {
  it("draws the discs of a color as one path", () => {
    // d4 and e5 are white: their circles begin left of their centers, at 31/35 and 41/45.
    expect(discs(START, "white")).toBe("M31 35a4 4 0 1 1 8 0a4 4 0 1 1 -8 0M41 45a4 4 0 1 1 8 0a4 4 0 1 1 -8 0");
  });

  it("marks the last move if there is one", () => {
    expect(boardSvg(START, undefined, COLORS)).not.toContain("<circle");
    expect(boardSvg(START, 63, COLORS)).toContain('<circle cx="75" cy="75" r="1.2" fill="gold"');
  });
});
