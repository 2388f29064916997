import { type ReadonlySignal, signal } from "@preact/signals";
import { rooms } from "../api/client";
import { RoomPhase } from "../gen/reversi/v1/types_pb";
import { END_SHOWN, type LiveGame, type LiveGames, updateLiveGames, withOutcome } from "../room/row/live_games";
import { watchRoomList } from "./stream/room_list";

/** Simultaneous `GetRoom` calls for outcomes. With more games ending at once, the rest show the disc count only. */
const MAX_REQUESTS = 8;

/**
 * Watches the running games that everyone may watch, or those of a tournament; `games` is undefined until the first
 * snapshot.
 */
export function watchLiveGames(tournamentId?: string): {
  games: ReadonlySignal<LiveGames | undefined>;
  stop: () => void;
} {
  const games = signal<LiveGames | undefined>(undefined);
  const running = watchRoomList({ phase: RoomPhase.PLAYING, ...(tournamentId && { tournamentId }) });
  let frame = 0;
  let requests = 0;

  // Rows may change many times between two frames.
  const schedule = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      update();
    });
  };
  const update = () => {
    const rows = running.rows.peek();
    if (!rows) return;
    const before = games.peek() ?? new Map<string, LiveGame>();
    games.value = updateLiveGames(before, rows, performance.now());
    for (const [roomId, game] of games.value) {
      if (game.until === undefined || game === before.get(roomId)) continue;
      setTimeout(schedule, END_SHOWN);
      if (!rows.has(roomId)) void loadOutcome(roomId);
    }
  };
  /** Loads the outcome of a game whose room has left the list. */
  const loadOutcome = async (roomId: string) => {
    if (requests >= MAX_REQUESTS) return;
    requests++;
    const answer = await rooms.getRoom({ roomId }).catch(() => undefined);
    requests--;
    const game = games.peek()?.get(roomId);
    if (answer?.room && game?.until !== undefined) {
      games.value = new Map(games.peek()).set(roomId, withOutcome(game, answer.room));
    }
  };
  const unsubscribe = running.rows.subscribe(schedule);
  const stop = () => {
    unsubscribe();
    cancelAnimationFrame(frame);
    running.stop();
  };
  return { games, stop };
}
