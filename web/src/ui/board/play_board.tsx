import { useEffect, useState } from "preact/hooks";
import { flips, parseBoard, place, START } from "../../game/board";
import { colorOf, type Frame } from "../../game/history";
import { parseSquare, type Square } from "../../game/square";
import { isRunning } from "../../room/seat";
import { connection } from "../../state/connection";
import { announce } from "../../state/notice";
import { makeMove, ownMove } from "../../state/own_move";
import { hints, isAnimated } from "../../state/preference";
import { text } from "../../text/text";
import { BoardGrid, turningTime } from "./board_grid";
import { usePassNote } from "./use_pass_note";
import type { RoomProps } from "../room/room_view";

/**
 * The board of the room's game. The player's own move is shown at once, and undone if it is refused; an answer that arrives
 * during its animation is shown afterwards. Without a connection it is shown as pending.
 */
export function PlayBoard({ room, side, frame }: RoomProps & { frame: Frame | undefined }) {
  const [turning, setTurning] = useState(false);
  const { game } = room;
  const note = usePassNote(game?.plies ?? []);
  const position = game?.position;
  const running = isRunning(room);
  const mover = running ? colorOf(position?.sideToMove ?? 0) : undefined;
  const sent = ownMove.value;
  const waiting =
    sent && sent.gameId === game?.gameId && (sent.ply === game.ply || (turning && running)) ? sent : undefined;
  const mine = side !== undefined && mover === side && !waiting;
  const legal = (position?.legalMoves ?? []).map(parseSquare).filter((square) => square !== undefined);
  const board = position ? parseBoard(position.board) : START;
  const pending = waiting !== undefined && connection.value !== "open";
  useEffect(() => announce(pending ? text.value.connection.pendingMove : ""), [pending]);

  const play = (square: Square) => {
    if (!game || !mine) return;
    const flipped = flips(board, side, square);
    setTurning(isAnimated());
    setTimeout(() => setTurning(false), turningTime(flipped, square));
    void makeMove({ gameId: game.gameId, ply: game.ply, square, board: place(board, side, square) });
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
      pending={pending}
      note={pending ? text.value.connection.pendingMove : running ? note : undefined}
    />
  );
}
