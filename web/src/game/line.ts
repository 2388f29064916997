import { type Board, type Color, legalMoves, opposite, parseBoard, place, START } from "./board";
import { parseSquare, type Square, SQUARES, squareName } from "./square";

/** A position with its side to move. */
export interface Start {
  board: Board;
  mover: Color;
}

/** The position after some moves from a start; forced passes are made. */
export interface Line {
  start: Start;
  squares: readonly Square[];
  board: Board;
  /** Undefined if the game is over. */
  mover: Color | undefined;
  legal: readonly Square[];
}

export const NO_MOVES: Line = lineFrom({ board: START, mover: "black" });

export function lineFrom(start: Start): Line {
  return lineOf(start, start.board, start.mover, []);
}

/** The line of moves like "f5d6c3"; it ends before the first that is no legal move. */
export function parseLine(text: string, from: Line = NO_MOVES): Line {
  let line = from;
  for (const name of text.toLowerCase().match(/../g) ?? []) {
    const square = parseSquare(name);
    if (square === undefined || !line.legal.includes(square)) break;
    line = played(line, square);
  }
  return line;
}

/** The line of an address's start and moves, and what the address has in place of a position or a legal move, if any. */
export function lineOfAddress(start: string, moves: string): { line: Line; unread: string } {
  const from = parseStart(start);
  if (!from) return { line: NO_MOVES, unread: start };
  const line = parseLine(moves, lineFrom(from));
  return { line, unread: moves.slice(lineText(line).length) };
}

/** The line after one more legal move. */
export function played(line: Line, square: Square): Line {
  if (!line.mover) return line;
  return lineOf(line.start, place(line.board, line.mover, square), opposite(line.mover), [...line.squares, square]);
}

/** The line without its last move. */
export function undone({ start, squares }: Line): Line {
  return squares.slice(0, -1).reduce(played, lineFrom(start));
}

/** The line after none of its moves, after the first, and so on. */
export function positions({ start, squares }: Line): Line[] {
  return [lineFrom(start), ...squares.map((_, at) => squares.slice(0, at + 1).reduce(played, lineFrom(start)))];
}

export function lineText({ squares }: Line): string {
  return squares.map(squareName).join("");
}

/** A start as 65 characters: those of the board, then `X` or `O` for the side to move. Empty for the standard start. */
export function startText({ board, mover }: Start): string {
  const text = boardText(board) + (mover === "black" ? "X" : "O");
  return text === STANDARD ? "" : text;
}

/** The board as 64 characters, `X` black, `O` white, `-` empty. */
export function boardText(board: Board): string {
  return SQUARES.map((square) => (board[square] === "black" ? "X" : board[square] === "white" ? "O" : "-")).join("");
}

/** The inverse of {@link startText}; undefined for other texts, and for boards without a disc on a square of the centre. */
export function parseStart(text: string): Start | undefined {
  if (text === "") return NO_MOVES.start;
  if (!/^[-XO]{64}[XO]$/.test(text)) return undefined;
  const board = parseBoard(text);
  if (CENTRE.some((square) => !board[square])) return undefined;
  return { board, mover: text.endsWith("X") ? "black" : "white" };
}

/** d4, e4, d5 and e5, which have discs in every game. */
export const CENTRE = [27, 28, 35, 36];

const STANDARD = `${boardText(START)}X`;

function lineOf(start: Start, board: Board, next: Color, squares: readonly Square[]): Line {
  for (const mover of [next, opposite(next)]) {
    const legal = legalMoves(board, mover);
    if (legal.length > 0) return { start, squares, board, mover, legal };
  }
  return { start, squares, board, mover: undefined, legal: [] };
}
