import { describe, expect, it } from "vitest";
import { START } from "./board";
import { discs, picture } from "./board_svg";

describe("pictures", () => {
  it("draw every disc as one circle of its colour's path", () => {
    // d4 and e5 are white: their circles begin left of their centers, at 31/35 and 41/45.
    expect(discs(START, "white")).toBe("M31 35a4 4 0 1 1 8 0a4 4 0 1 1 -8 0M41 45a4 4 0 1 1 8 0a4 4 0 1 1 -8 0");
  });

  it("mark the last move only where there is one", () => {
    expect(picture(START, undefined)).not.toContain("<circle");
    expect(picture(START, 63)).toContain('<circle cx="75" cy="75"');
  });
});
