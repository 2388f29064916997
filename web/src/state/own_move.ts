import { signal } from "@preact/signals";
import { games } from "../api/client";
import type { Board } from "../game/board";
import { type Square, squareName } from "../game/square";
import { attempt, untilAnswered } from "./call";

/** A move of the player that the server may not have confirmed yet. */
export interface OwnMove {
  gameId: string;
  ply: number;
  square: Square;
  /** The board after the move. */
  board: Board;
}

/** The last move of the player; undefined if it was refused. */
export const ownMove = signal<OwnMove | undefined>(undefined);

/** Makes a move. Without a connection it is kept and sent later, also if another screen is opened. */
export async function makeMove(move: OwnMove): Promise<void> {
  ownMove.value = move;
  const { gameId, ply, square } = move;
  const request = { gameId, ply, square: squareName(square) };
  const done = await attempt(() => untilAnswered((options) => games.playMove(request, options)));
  if (!done && ownMove.value === move) ownMove.value = undefined;
}
