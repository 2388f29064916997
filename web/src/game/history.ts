import { type Ply, Side } from "../gen/reversi/v1/types_pb";
import { type Board, type Color, count, flips, legalMoves, place, START } from "./board";
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
