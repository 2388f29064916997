import { isOver, unpackBoard } from "../game/board";
import type { RoomSummary } from "../gen/reversi/v1/lobby_pb";
import type { Outcome, Room } from "../gen/reversi/v1/types_pb";

/** A game on the wall. */
export interface Tile {
  row: RoomSummary;
  /** How it ended, where that is known. */
  outcome?: Outcome;
  /** Until when its end is shown, in milliseconds; absent while it runs. */
  until?: number;
}

/** The tiles by room, in the order in which they came: none moves because another comes. */
export type Wall = ReadonlyMap<string, Tile>;

/** How long the end of a game is shown, in milliseconds. The next game of a series may have begun by then. */
export const LINGER = 5_000;

/** The wall after the list of running games has changed, or time has gone by. What did not change is the same tile. */
export function rehang(wall: Wall, rows: ReadonlyMap<string, RoomSummary>, now: number): Wall {
  const next = new Map<string, Tile>();
  for (const [roomId, tile] of wall) {
    const after = followed(tile, rows.get(roomId), now);
    if (after) next.set(roomId, after);
  }
  for (const [roomId, row] of rows) if (!wall.has(roomId) && isShown(row)) next.set(roomId, hung(row, now));
  return next;
}

/** What becomes of a tile; absent when it goes. */
function followed(tile: Tile, row: RoomSummary | undefined, now: number): Tile | undefined {
  if (row && !isShown(row)) return undefined;
  if (tile.until !== undefined && now < tile.until) return tile;
  if (tile.until === undefined && !row) return { ...tile, until: now + LINGER };
  if (!row) return undefined;
  return row === tile.row ? tile : hung(row, now);
}

function hung(row: RoomSummary, now: number): Tile {
  return isOver(unpackBoard(row.black, row.white)) ? { row, until: now + LINGER } : { row };
}

/** The tile with how its game ended, as the room tells it afterwards. */
export function concluded(tile: Tile, { game, seats }: Room): Tile {
  if (!game?.outcome || !game.position) return tile;
  const { black, white, blackDiscs, whiteDiscs } = game.position;
  const lastMove = game.plies.findLast((ply) => !ply.pass)?.square ?? "";
  const row = { ...tile.row, seats, black, white, blackDiscs, whiteDiscs, lastMove, ply: game.ply };
  return { ...tile, row, outcome: game.outcome };
}

/** Where not everybody may watch, the list does not tell the board. */
function isShown({ black, white }: RoomSummary): boolean {
  return (black | white) !== 0n;
}
