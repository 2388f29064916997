import { describe, expect, it } from "vitest";
import { isSpeed, step } from "./playback";

describe("playback", () => {
  it("steps by keys within the game", () => {
    expect(["ArrowLeft", "ArrowRight", "Home", "End"].map((key) => step(key, 5, 60))).toEqual([4, 6, 0, 60]);
    expect(step("ArrowLeft", 0, 60)).toBe(0);
    expect(step("ArrowRight", 60, 60)).toBe(60);
    expect(step("a", 5, 60)).toBeUndefined();
  });

  it("accepts its own speeds only", () => {
    expect(isSpeed("2×")).toBe(true);
    for (const other of ["3×", "toString", 1, null]) expect(isSpeed(other)).toBe(false);
  });
});
