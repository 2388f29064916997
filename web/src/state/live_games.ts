import { type ReadonlySignal, signal } from "@preact/signals";
import { rooms } from "../api/client";
import { RoomPhase } from "../gen/reversi/v1/types_pb";
import { concluded, LINGER, rehang, type Tile, type Wall } from "../room/live_games";
import { watchLobby } from "./room_list";

/** As many rooms are asked at once how their game ended; on a full wall some ends are told by the discs alone. */
const MOST_QUESTIONS = 8;

/** The running games that everybody may watch, as they change; absent until they have come. */
export function watchWall(): { wall: ReadonlySignal<Wall | undefined>; stop: () => void } {
  const wall = signal<Wall | undefined>(undefined);
  const running = watchLobby({ phase: RoomPhase.PLAYING });
  let frame = 0;
  let questions = 0;

  // Many rows change between two frames, and nobody sees more than one of them.
  const schedule = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      hang();
    });
  };
  const hang = () => {
    const rows = running.rows.peek();
    if (!rows) return;
    const before = wall.peek() ?? new Map<string, Tile>();
    wall.value = rehang(before, rows, performance.now());
    for (const [roomId, tile] of wall.value) {
      if (tile.until === undefined || tile === before.get(roomId)) continue;
      setTimeout(schedule, LINGER);
      if (!rows.has(roomId)) void ask(roomId);
    }
  };
  /** How a game ended that the list has no longer. */
  const ask = async (roomId: string) => {
    if (questions >= MOST_QUESTIONS) return;
    questions++;
    const answer = await rooms.getRoom({ roomId }).catch(() => undefined);
    questions--;
    const tile = wall.peek()?.get(roomId);
    if (answer?.room && tile?.until !== undefined) {
      wall.value = new Map(wall.peek()).set(roomId, concluded(tile, answer.room));
    }
  };
  const unsubscribe = running.rows.subscribe(schedule);
  const stop = () => {
    unsubscribe();
    cancelAnimationFrame(frame);
    running.stop();
  };
  return { wall, stop };
}
