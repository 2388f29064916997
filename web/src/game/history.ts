import { type Ply, Side } from "../gen/reversi/v1/types_pb";
import { type Board, type Color, count, flips, legalMoves, place, START } from "./board";
import { parseSquare, type Square } from "./square";

/** A position of a game and the ply that led to it. */
export interface Frame {
  board: Board;
  /** Absent at the start. */
  mover?: Color;
  /** Absent at the start and after a pass. */
  square?: Square;
  flipped: readonly Square[];
}

/** Black minus white, in discs and in legal moves. */
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

/** The moves up to a ply, without passes: "f5d6c3". */
export function movesTo(plies: readonly Ply[], at: number): string {
  return plies
    .slice(0, at)
    .map(({ square }) => square)
    .join("");
}
