/** A grid of square tiles. */
export interface TileLayout {
  columns: number;
  /** The width of a tile, in pixels. */
  width: number;
}

/** The narrowest readable board, in pixels; if tiles would be narrower, the page scrolls instead. */
const MIN_WIDTH = 132;

const MAX_WIDTH = 900;

/**
 * The layout with the largest tiles that fit into the area. A tile is `footer` higher than wide; `gap` lies between tiles.
 * All lengths are in pixels.
 */
export function tileLayout(
  tiles: number,
  area: { width: number; height: number },
  footer: number,
  gap: number,
): TileLayout {
  let best: TileLayout = { columns: 1, width: 0 };
  for (let columns = 1; columns <= Math.max(1, tiles); columns++) {
    const rows = Math.ceil(tiles / columns);
    const across = (area.width - gap * (columns - 1)) / columns;
    const down = (area.height - gap * (rows - 1)) / rows - footer;
    const width = Math.floor(Math.min(across, down, MAX_WIDTH));
    if (width > best.width) best = { columns, width };
  }
  return best.width >= MIN_WIDTH ? best : scrollingLayout(area.width, gap);
}

/** The most columns that are still readable. */
function scrollingLayout(width: number, gap: number): TileLayout {
  const columns = Math.max(1, Math.floor((width + gap) / (MIN_WIDTH + gap)));
  return { columns, width: Math.max(1, Math.floor((width - gap * (columns - 1)) / columns)) };
}
