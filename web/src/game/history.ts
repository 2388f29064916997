import { type Ply, Side } from "../gen/reversi/v1/types_pb";
import { type Board, type Color, count, flips, legalMoves, opposite, place, START } from "./board";
import { parseSquare, type Square } from "./square";

/** A position of a game, and how it came about. */
export interface Frame {
  board: Board;
  /** Who made the ply that led here; absent at the start. */
  mover?: Color;
  /** Absent at the start and after a pass. */
  square?: Square;
  flipped: readonly Square[];
}

/** What the graph draws: black minus white, after each ply. */
export interface Balance {
  discs: number;
  mobility: number;
}

export function colorOf(side: Side): Color | undefined {
  return side === Side.BLACK ? "black" : side === Side.WHITE ? "white" : undefined;
}

/** The start and the position after every ply. */
export function history(plies: readonly Ply[]): Frame[] {
  const frames: Frame[] = [{ board: START, flipped: [] }];
  let board = START;
  for (const ply of plies) {
    const mover = colorOf(ply.side) ?? "black";
    const square = parseSquare(ply.square);
    const flipped = square === undefined ? [] : flips(board, mover, square);
    if (square !== undefined) board = place(board, mover, square);
    frames.push({ board, mover, flipped, ...(square === undefined ? {} : { square }) });
  }
  return frames;
}

export function balance({ board }: Frame): Balance {
  return {
    discs: count(board, "black") - count(board, "white"),
    mobility: legalMoves(board, "black").length - legalMoves(board, "white").length,
  };
}

/** "f5d6c3...", passes not written. */
export function transcript(plies: readonly Ply[]): string {
  return plies.map((ply) => ply.square).join("");
}

/** The plies of a transcript, with the passes that it implies; absent when a move in it is not legal. */
export function parseTranscript(text: string): { color: Color; square: Square }[] | undefined {
  const names = text.replace(/\s+/g, "").match(/../g) ?? [];
  const moves: { color: Color; square: Square }[] = [];
  let board = START;
  let color: Color = "black";
  for (const name of names) {
    const square = parseSquare(name);
    if (square === undefined) return undefined;
    if (legalMoves(board, color).length === 0) color = opposite(color);
    if (flips(board, color, square).length === 0) return undefined;
    board = place(board, color, square);
    moves.push({ color, square });
    color = opposite(color);
  }
  return text.replace(/\s+/g, "").length % 2 === 0 ? moves : undefined;
}
