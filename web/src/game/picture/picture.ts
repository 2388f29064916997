import { type Board, type Color, count } from "../board";
import { CELL, center, discs, LINES } from "../board_svg";
import { FILES, type Square } from "../square";

/** A position to be drawn for others. */
export interface Picture {
  board: Board;
  last?: Square | undefined;
  /** Shown with the discs of each side; absent if nobody plays. */
  names?: Record<Color, string>;
  /** A few words below the board. */
  note?: string;
}

/** CSS colors of a picture. */
export interface BoardColors {
  frame: string;
  onFrame: string;
  board: string;
  line: string;
  black: string;
  blackEdge: string;
  blackRing: string;
  white: string;
  whiteEdge: string;
  mark: string;
  markEdge: string;
}

/** The space around the board, for its coordinates and the note, in SVG units. */
const MARGIN = 6;
const BOARD = 8 * CELL;
const SIDE = BOARD + 2 * MARGIN;
/** The height of a player's name. */
const BAR = 9;

/** The picture as a self-contained SVG, `scale` pixels for each unit: 92 units wide. */
export function pictureSvg(picture: Picture, colors: BoardColors, scale: number): string {
  const { names, note = "" } = picture;
  const bar = names ? BAR : 0;
  const height = SIDE + 2 * bar;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 ${-bar} ${SIDE} ${height}"`,
    ` width="${SIDE * scale}" height="${height * scale}" fill="${colors.onFrame}" font-family="sans-serif">`,
    `<rect y="${-bar}" width="${SIDE}" height="${height}" fill="${colors.frame}"/>`,
    `<g font-size="3.4" text-anchor="middle">${coordinates()}`,
    `<text x="${SIDE / 2}" y="${SIDE - 1.8}">${escaped(note)}</text></g>`,
    `<g transform="translate(${MARGIN} ${MARGIN})">${boardShapes(picture, colors)}</g>`,
    names ? playerBar("white", -BAR + 1, names.white, picture, colors) : "",
    names ? playerBar("black", SIDE - 1, names.black, picture, colors) : "",
    "</svg>",
  ].join("");
}

function boardShapes({ board, last }: Picture, colors: BoardColors): string {
  const at = last === undefined ? undefined : center(last);
  return [
    `<rect width="${BOARD}" height="${BOARD}" fill="${colors.board}"/>`,
    `<path d="${LINES}" stroke="${colors.line}" stroke-width=".3"/>`,
    `<path d="${discs(board, "black")}" fill="${colors.black}" stroke="${colors.blackEdge}" stroke-width=".3"/>`,
    `<path d="${discs(board, "black", 3.3)}" fill="none" stroke="${colors.blackRing}" stroke-width=".25"/>`,
    `<path d="${discs(board, "white")}" fill="${colors.white}" stroke="${colors.whiteEdge}" stroke-width=".3"/>`,
    at
      ? `<circle cx="${at.x}" cy="${at.y}" r="1.3" fill="${colors.mark}" stroke="${colors.markEdge}" stroke-width=".3"/>`
      : "",
  ].join("");
}

/** Color, name and number of discs of one side. The inner SVG cuts off a long name. */
function playerBar(color: Color, y: number, name: string, { board }: Picture, colors: BoardColors): string {
  const fill = color === "black" ? colors.black : colors.white;
  return [
    `<g transform="translate(${MARGIN} ${y})" font-size="5" font-weight="600">`,
    `<circle cx="3.5" cy="4.5" r="2.8" fill="${fill}" stroke="${colors.onFrame}" stroke-width=".4"/>`,
    `<svg x="9" width="${BOARD - 20}" height="${BAR}"><text y="6.3">${escaped(name)}</text></svg>`,
    `<text x="${BOARD}" y="6.3" text-anchor="end">${count(board, color)}</text></g>`,
  ].join("");
}

function coordinates(): string {
  return [...FILES]
    .map((file, at) => {
      const along = MARGIN + at * CELL + CELL / 2;
      return `<text x="${along}" y="4.2">${file}</text><text x="3" y="${along + 1.2}">${at + 1}</text>`;
    })
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
