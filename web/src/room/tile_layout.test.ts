import { describe, expect, it } from "vitest";
import { fit } from "./tile_layout";

describe("fitting tiles", () => {
  it("takes the columns that make the tiles largest", () => {
    expect(fit(8, { width: 1900, height: 900 }, 60, 20)).toEqual({ columns: 4, width: 380 });
    expect(fit(2, { width: 1900, height: 900 }, 60, 20)).toEqual({ columns: 2, width: 840 });
  });

  it("shows two columns on a phone, and scrolls", () => {
    expect(fit(8, { width: 304, height: 500 }, 60, 10)).toEqual({ columns: 2, width: 147 });
  });

  it("never asks for more width than there is", () => {
    for (const tiles of [0, 1, 2, 7, 60]) {
      for (const width of [100, 304, 1000, 3840]) {
        const { columns, width: tile } = fit(tiles, { width, height: 700 }, 60, 10);
        expect(columns * tile + (columns - 1) * 10).toBeLessThanOrEqual(width);
      }
    }
  });
});
