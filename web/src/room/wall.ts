import type { RoomSummary } from "../gen/reversi/v1/lobby_pb";
import type { Outcome, Room } from "../gen/reversi/v1/types_pb";

/** A game on the wall. */
export interface Tile {
  row: RoomSummary;
  /** How it ended, where that is known. */
  outcome?: Outcome;
  /** When it goes, in milliseconds, once the list has it no longer. */
  until?: number;
}

/** The tiles by room, in the order in which they came: none moves because another comes. */
export type Wall = ReadonlyMap<string, Tile>;

/** How long the end of a game is shown, in milliseconds. */
export const LINGER = 6_000;

/** The wall after the list of running games has changed, or time has gone by. What did not change is the same tile. */
export function rehang(wall: Wall, rows: ReadonlyMap<string, RoomSummary>, now: number): Wall {
  const next = new Map<string, Tile>();
  for (const [roomId, tile] of wall) {
    const row = rows.get(roomId);
    if (row && isShown(row)) next.set(roomId, tile.row === row ? tile : { row });
    else if (!row && (tile.until ?? Infinity) > now) next.set(roomId, { ...tile, until: tile.until ?? now + LINGER });
  }
  for (const [roomId, row] of rows) if (!next.has(roomId) && isShown(row)) next.set(roomId, { row });
  return next;
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
