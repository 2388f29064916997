import { describe, expect, it } from "vitest";
import { tileLayout } from "./tile_layout";

describe("tile layout", () => {
  it("chooses the columns with the largest tiles", () => {
    expect(tileLayout(8, { width: 1900, height: 900 }, 60, 20)).toEqual({ columns: 4, width: 380 });
    expect(tileLayout(2, { width: 1900, height: 900 }, 60, 20)).toEqual({ columns: 2, width: 840 });
  });

  it("scrolls with two columns on a phone", () => {
    expect(tileLayout(8, { width: 304, height: 500 }, 60, 10)).toEqual({ columns: 2, width: 147 });
  });

  it("never exceeds the width", () => {
    for (const tiles of [0, 1, 2, 7, 60]) {
      for (const width of [100, 304, 1000, 3840]) {
        const { columns, width: tile } = tileLayout(tiles, { width, height: 700 }, 60, 10);
        expect(columns * tile + (columns - 1) * 10).toBeLessThanOrEqual(width);
      }
    }
  });
});
