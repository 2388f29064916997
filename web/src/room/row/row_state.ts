import type { RoomSummary } from "../../gen/reversi/v1/lobby_pb";
import { RoomPhase } from "../../gen/reversi/v1/types_pb";

/** The state of a room in the list. */
export type RowState = "playing" | "waiting" | "finished" | "abandoned";

/** A room is abandoned when all players in its seats have lost their connections. */
export function rowState({ phase, seats, finished }: RoomSummary): RowState {
  const players = seats.filter(({ occupant }) => occupant.case === "player");
  if (players.length > 0 && players.every(({ present }) => !present)) return "abandoned";
  if (phase === RoomPhase.PLAYING) return "playing";
  return finished && !seats.some(({ occupant }) => occupant.case === "open") ? "finished" : "waiting";
}

/** Whether something can be joined or watched in the room. */
export function isLive(room: RoomSummary): boolean {
  const state = rowState(room);
  return state === "playing" || state === "waiting";
}

/** A room that a list shows. */
export interface ListedRoom {
  row: RoomSummary;
  /** Set when the room is no longer live: the time until which it stays, in milliseconds. */
  until?: number;
}

export type ListedRooms = ReadonlyMap<string, ListedRoom>;

/** How long a room stays in a list when it is no longer live, in milliseconds. */
export const ENDED_SHOWN = 30_000;

/** The listed rooms after the rows have changed or time has passed: the live ones, and those that were a short time ago. */
export function updateListed(before: ListedRooms, rows: Iterable<RoomSummary>, now: number): ListedRooms {
  const listed = new Map<string, ListedRoom>();
  for (const row of rows) {
    const known = before.get(row.roomId);
    if (isLive(row)) listed.set(row.roomId, { row });
    else if (known && now < (known.until ?? Infinity)) {
      listed.set(row.roomId, { row, until: known.until ?? now + ENDED_SHOWN });
    }
  }
  return listed;
}
