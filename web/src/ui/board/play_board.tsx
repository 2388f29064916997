import { useState } from "preact/hooks";
import { games } from "../../api/client";
import { type Board, flips, parseBoard, place, START } from "../../game/board";
import { colorOf, type Frame } from "../../game/history";
import { parseSquare, type Square, squareName } from "../../game/square";
import { isRunning } from "../../room/seat";
import { attempt, retry } from "../../state/call";
import { hints, isAnimated } from "../../state/preference";
import { text } from "../../text/text";
import { BoardGrid, turningTime } from "./board_grid";
import { usePassNote } from "./use_pass_note";
import type { RoomProps } from "../room/room_view";

/** A move of the player that the server may not have confirmed yet. */
interface Sent {
  gameId: string;
  ply: number;
  square: Square;
  /** The board after the move. */
  board: Board;
}

/**
 * The board of the room's game. The player's own move is shown at once, and undone if it is refused; an answer that arrives
 * during its animation is shown afterwards.
 */
export function PlayBoard({ room, side, frame }: RoomProps & { frame: Frame | undefined }) {
  const [sent, setSent] = useState<Sent | undefined>();
  const [turning, setTurning] = useState(false);
  const { game } = room;
  const note = usePassNote(game?.plies ?? []);
  const position = game?.position;
  const running = isRunning(room);
  const mover = running ? colorOf(position?.sideToMove ?? 0) : undefined;
  const waiting =
    sent && sent.gameId === game?.gameId && (sent.ply === game.ply || (turning && running)) ? sent : undefined;
  const mine = side !== undefined && mover === side && !waiting;
  const legal = (position?.legalMoves ?? []).map(parseSquare).filter((square) => square !== undefined);
  const board = position ? parseBoard(position.board) : START;

  const play = async (square: Square) => {
    if (!game || !mine) return;
    const move = { gameId: game.gameId, ply: game.ply };
    const flipped = flips(board, side, square);
    setSent({ ...move, square, board: place(board, side, square) });
    setTurning(isAnimated());
    setTimeout(() => setTurning(false), turningTime(flipped, square));
    const done = await attempt(() => retry(() => games.playMove({ ...move, square: squareName(square) })));
    if (!done) setSent(undefined);
  };

  return (
    <BoardGrid
      board={waiting?.board ?? board}
      label={`${text.value.game.board}. ${side && running ? text.value.game.keys : ""}`}
      last={waiting?.square ?? frame?.square}
      mover={mover}
      legal={mine || (!side && running) ? legal : []}
      marked={hints.value && mine}
      play={side && running ? play : undefined}
      note={note}
    />
  );
}
