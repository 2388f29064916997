import { type Board, type Color } from "./board";
import { FILES, SQUARES, type Square } from "./square";

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

/** Width and height of the SVG, in its units. */
const SIDE = 8 * CELL + 12;

/** The colors of a picture, as CSS colors. */
export interface BoardColors {
  board: string;
  line: string;
  frame: string;
  onFrame: string;
  black: string;
  blackEdge: string;
  blackRing: string;
  white: string;
  whiteEdge: string;
  mark: string;
}

/** The board with its coordinates as a self-contained SVG. */
export function boardSvg(board: Board, last: Square | undefined, colors: BoardColors): string {
  const mark =
    last === undefined ? "" : `<circle cx="${center(last).x}" cy="${center(last).y}" r="1.2" fill="${colors.mark}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIDE} ${SIDE}" width="${SIDE * 10}" height="${SIDE * 10}">`,
    `<rect width="${SIDE}" height="${SIDE}" fill="${colors.frame}"/>`,
    `<g fill="${colors.onFrame}" font-family="sans-serif" font-size="3.4" text-anchor="middle">${coordinates()}</g>`,
    `<g transform="translate(6 6)"><rect width="80" height="80" fill="${colors.board}"/>`,
    `<path d="${LINES}" stroke="${colors.line}" stroke-width=".3"/>`,
    `<path d="${discs(board, "black")}" fill="${colors.black}" stroke="${colors.blackEdge}" stroke-width=".3"/>`,
    `<path d="${discs(board, "black", 3.3)}" fill="none" stroke="${colors.blackRing}" stroke-width=".25"/>`,
    `<path d="${discs(board, "white")}" fill="${colors.white}" stroke="${colors.whiteEdge}" stroke-width=".3"/>`,
    `${mark}</g></svg>`,
  ].join("");
}

function coordinates(): string {
  return [...FILES]
    .map((file, at) => {
      const along = 6 + at * CELL + CELL / 2;
      return `<text x="${along}" y="4.2">${file}</text><text x="3" y="${along + 1.2}">${at + 1}</text>`;
    })
    .join("");
}

/** A half circle, to the right (1) or back (-1). */
function arc(radius: number, direction: 1 | -1): string {
  return `a${radius} ${radius} 0 1 1 ${2 * radius * direction} 0`;
}
