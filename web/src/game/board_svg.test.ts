import { describe, expect, it } from "vitest";
import { START } from "./board";
import { discs } from "./board_svg";

describe("board SVG", () => {
  it("draws the discs of a color as one path", () => {
    // d4 and e5 are white: their circles begin left of their centers, at 31/35 and 41/45.
    expect(discs(START, "white")).toBe("M31 35a4 4 0 1 1 8 0a4 4 0 1 1 -8 0M41 45a4 4 0 1 1 8 0a4 4 0 1 1 -8 0");
  });
});
