import type { RoomSummary } from "../gen/reversi/v1/lobby_pb";
import { RoomPhase } from "../gen/reversi/v1/types_pb";

/** What a row of the room list tells of its room. */
export type RowState = "playing" | "waiting" | "finished" | "abandoned";

/** A room is abandoned when all players in its seats have lost their connections. */
export function rowState({ phase, seats, finished }: RoomSummary): RowState {
  const players = seats.filter(({ occupant }) => occupant.case === "player");
  if (players.length > 0 && players.every(({ present }) => !present)) return "abandoned";
  if (phase === RoomPhase.PLAYING) return "playing";
  return finished && !seats.some(({ occupant }) => occupant.case === "open") ? "finished" : "waiting";
}

/** The rows that a list shows: not those where nothing more can be joined or watched. */
export function isLive(room: RoomSummary): boolean {
  const state = rowState(room);
  return state === "playing" || state === "waiting";
}
