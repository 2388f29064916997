import { SQUARES, type Square } from "./square";

export type Color = "black" | "white";

/** 64 cells from a1, b1 to h8. */
export type Board = readonly (Color | undefined)[];

export const START = parseBoard(`${"-".repeat(27)}OX------XO${"-".repeat(27)}`);

/** Parses the server's 64 characters: `X` black, `O` white, `-` empty. */
export function parseBoard(text: string): Board {
  return SQUARES.map((square) => (text[square] === "X" ? "black" : text[square] === "O" ? "white" : undefined));
}

/** Unpacks two bitboards: bit 0 is a1, bit 7 h1. */
export function unpackBoard(black: bigint, white: bigint): Board {
  const has = (discs: bigint, square: Square) => ((discs >> BigInt(square)) & 1n) === 1n;
  return SQUARES.map((square) => (has(black, square) ? "black" : has(white, square) ? "white" : undefined));
}

export function opposite(color: Color): Color {
  return color === "black" ? "white" : "black";
}

/** The discs that a move turns; empty if it is illegal. */
export function flips(board: Board, color: Color, square: Square): Square[] {
  if (board[square]) return [];
  return DIRECTIONS.flatMap(([file, rank]) => line(board, color, square, file, rank));
}

export function legalMoves(board: Board, color: Color): Square[] {
  return SQUARES.filter((square) => flips(board, color, square).length > 0);
}

/** The board after the move, which must be legal. */
export function place(board: Board, color: Color, square: Square): Board {
  const changed = new Set([square, ...flips(board, color, square)]);
  return board.map((cell, at) => (changed.has(at) ? color : cell));
}

/** Whether neither side can move. */
export function isOver(board: Board): boolean {
  return !SQUARES.some((square) => COLORS.some((color) => flips(board, color, square).length > 0));
}

export function count(board: Board, color: Color): number {
  return board.filter((cell) => cell === color).length;
}

const COLORS: readonly Color[] = ["black", "white"];
const STEPS = [-1, 0, 1];
const DIRECTIONS = STEPS.flatMap((file) => STEPS.map((rank) => [file, rank] as const)).filter(
  ([file, rank]) => file !== 0 || rank !== 0,
);

/** The opponent's discs between the square and the next own disc, in one direction. */
function line(board: Board, color: Color, square: Square, file: number, rank: number): Square[] {
  const passed: Square[] = [];
  let [x, y] = [(square % 8) + file, Math.floor(square / 8) + rank];
  while (x >= 0 && x < 8 && y >= 0 && y < 8) {
    const cell = board[y * 8 + x];
    if (!cell) return [];
    if (cell === color) return passed;
    passed.push(y * 8 + x);
    x += file;
    y += rank;
  }
  return [];
}
