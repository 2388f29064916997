import { type Board, type Color, isOver } from "./board";
import { CENTRE } from "./line";
import { type Square, SQUARES } from "./square";

/** What a click puts on a square; `next` changes empty to black, black to white and white to empty. */
export type Brush = "next" | Color | "empty";

/** Why a position that was set up by hand cannot occur in a game, or has nothing to analyse. */
export type Problem = "centre" | "apart" | "over";

export const EMPTY_BOARD: Board = SQUARES.map(() => undefined);

export function painted(board: Board, square: Square, brush: Brush): Board {
  const next = brush === "next" ? NEXT.get(board[square]) : brush === "empty" ? undefined : brush;
  return board.map((cell, at) => (at === square ? next : cell));
}

export function problemOf(board: Board): Problem | undefined {
  if (CENTRE.some((square) => !board[square])) return "centre";
  const joined = connected(board);
  if (SQUARES.some((square) => board[square] && !joined.has(square))) return "apart";
  return isOver(board) ? "over" : undefined;
}

const NEXT: ReadonlyMap<Color | undefined, Color | undefined> = new Map([
  [undefined, "black"],
  ["black", "white"],
  ["white", undefined],
]);

/** The discs that are joined to the centre by neighbouring discs, as all are in a game. */
function connected(board: Board): ReadonlySet<Square> {
  const found = new Set(CENTRE);
  for (const square of found) {
    for (const near of neighbours(square)) if (board[near]) found.add(near);
  }
  return found;
}

function neighbours(square: Square): Square[] {
  const [file, rank] = [square % 8, Math.floor(square / 8)];
  return SQUARES.filter((one) => Math.abs((one % 8) - file) <= 1 && Math.abs(Math.floor(one / 8) - rank) <= 1);
}
