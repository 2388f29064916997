import { type Board, type Color } from "./board";
import { SQUARES, type Square } from "./square";

/** The side of a square, in SVG units. */
export const CELL = 10;

/** The lines between the squares. */
export const LINES = [1, 2, 3, 4, 5, 6, 7]
  .map((at) => `M${at * CELL} 0V${8 * CELL}M0 ${at * CELL}H${8 * CELL}`)
  .join("");

/** All discs of one color as one path, which renders much faster than a circle each. */
export function discs(board: Board, color: Color, radius = 4): string {
  return SQUARES.filter((square) => board[square] === color)
    .map((square) => `M${center(square).x - radius} ${center(square).y}${arc(radius, 1)}${arc(radius, -1)}`)
    .join("");
}

export function center(square: Square): { x: number; y: number } {
  return { x: (square % 8) * CELL + CELL / 2, y: Math.floor(square / 8) * CELL + CELL / 2 };
}

/** A half circle, to the right (1) or back (-1). */
function arc(radius: number, direction: 1 | -1): string {
  return `a${radius} ${radius} 0 1 1 ${2 * radius * direction} 0`;
}
