/** How many tiles stand beside each other, and how wide each is, in pixels. */
export interface Fit {
  columns: number;
  width: number;
}

/** Below this a board is hard to read: then the page is scrolled instead. */
const NARROWEST = 132;

/** A single board need not fill a wall. */
const WIDEST = 900;

/**
 * The largest tiles of which so many fit into the room that there is. Each is as high as it is wide, and `foot` more for
 * what stands around its board; `gap` lies between them. All lengths are pixels.
 */
export function fit(tiles: number, room: { width: number; height: number }, foot: number, gap: number): Fit {
  let best: Fit = { columns: 1, width: 0 };
  for (let columns = 1; columns <= Math.max(1, tiles); columns++) {
    const rows = Math.ceil(tiles / columns);
    const across = (room.width - gap * (columns - 1)) / columns;
    const down = (room.height - gap * (rows - 1)) / rows - foot;
    const width = Math.floor(Math.min(across, down, WIDEST));
    if (width > best.width) best = { columns, width };
  }
  return best.width >= NARROWEST ? best : scrolled(room.width, gap);
}

/** As many columns as remain readable. */
function scrolled(width: number, gap: number): Fit {
  const columns = Math.max(1, Math.floor((width + gap) / (NARROWEST + gap)));
  return { columns, width: Math.max(1, Math.floor((width - gap * (columns - 1)) / columns)) };
}
