import { type Board, type Color, legalMoves, opposite, place, START } from "./board";
import { parseSquare, type Square, squareName } from "./square";

/** The position after some moves from the standard start; forced passes are made. */
export interface Line {
  squares: readonly Square[];
  board: Board;
  /** Undefined if the game is over. */
  mover: Color | undefined;
  legal: readonly Square[];
}

export const NO_MOVES: Line = lineOf(START, "black", []);

/** The line of moves like "f5d6c3"; it ends before the first that is no legal move. */
export function parseLine(text: string): Line {
  let line = NO_MOVES;
  for (const name of text.toLowerCase().match(/../g) ?? []) {
    const square = parseSquare(name);
    if (square === undefined || !line.legal.includes(square)) break;
    line = played(line, square);
  }
  return line;
}

/** The line after one more legal move. */
export function played(line: Line, square: Square): Line {
  if (!line.mover) return line;
  return lineOf(place(line.board, line.mover, square), opposite(line.mover), [...line.squares, square]);
}

/** The line without its last move. */
export function undone({ squares }: Line): Line {
  return squares.slice(0, -1).reduce(played, NO_MOVES);
}

export function lineText({ squares }: Line): string {
  return squares.map(squareName).join("");
}

function lineOf(board: Board, next: Color, squares: readonly Square[]): Line {
  for (const mover of [next, opposite(next)]) {
    const legal = legalMoves(board, mover);
    if (legal.length > 0) return { squares, board, mover, legal };
  }
  return { squares, board, mover: undefined, legal: [] };
}
