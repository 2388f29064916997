import { type Line, lineFrom, NO_MOVES, parseLine, parseStart } from "./line";

/**
 * Reads a position or game that a person has pasted: 64 characters of a board with or without the side to move, the moves
 * of a game, or GGF. Undefined if it is none of them, or has an illegal move.
 */
export function parsePasted(text: string): Line | undefined {
  const plain = text.trim();
  if (plain.length > LONGEST) return undefined;
  if (/^\(;.*GM\[Othello\]/is.test(plain)) return parseGgf(plain);
  return parseBoardText(plain) ?? parseMoves(plain.replace(/\b\d+\.|\s/g, ""), NO_MOVES);
}

/** The longest text that is read. */
const LONGEST = 20_000;

function parseBoardText(text: string): Line | undefined {
  const cells = text
    .replace(/\s/g, "")
    .replace(/[*xb●]/gi, "X")
    .replace(/[ow○]/gi, "O")
    .replace(/[.]/g, "-");
  if (!/^[-XO]{64,65}$/.test(cells)) return undefined;
  const start = parseStart(cells.length === 65 ? cells : `${cells}X`);
  return start && lineFrom(start);
}

function parseMoves(moves: string, from: Line): Line | undefined {
  const squares = moves.replace(/pa(ss)?|--/gi, "");
  if (!/^([a-h][1-8])+$/i.test(squares)) return undefined;
  const line = parseLine(squares, from);
  return line.squares.length === squares.length / 2 ? line : undefined;
}

function parseGgf(text: string): Line | undefined {
  const board = /BO\[8\s+([-*O\s]+)\]/.exec(text)?.[1];
  const from = board ? parseBoardText(board) : NO_MOVES;
  const moves = [...text.matchAll(/(?<![A-Z])[BW]\[([a-h][1-8]|pa)[^\]]*\]/gi)].map((move) => move[1] ?? "").join("");
  if (!from) return undefined;
  return moves ? parseMoves(moves, from) : from;
}
