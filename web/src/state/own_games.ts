import { computed, signal } from "@preact/signals";
import { rooms, sessions } from "../api/client";
import type { Room } from "../gen/reversi/v1/types_pb";
import { isRunning, sideOf } from "../room/seat";
import { isRoomShown } from "./location";
import { session } from "./session";

/** The rooms in which a game of the player runs, by id. */
export const ownGames = signal<ReadonlyMap<string, Room>>(new Map());

/** A room of these that is not on the screen, if any. */
export const ownGameElsewhere = computed(() => [...ownGames.value.values()].find(({ roomId }) => !isRoomShown(roomId)));

/** Adds or replaces the room if a game of the player runs there, and removes it otherwise. */
export function updateOwnGame(room: Room): void {
  const next = new Map(ownGames.peek());
  const known = next.get(room.roomId);
  // An earlier call may be answered later.
  if (known && known.seq > room.seq) return;
  if (isRunning(room) && sideOf(room, session.peek()?.playerId ?? "")) next.set(room.roomId, room);
  else next.delete(room.roomId);
  ownGames.value = next;
}

/** Loads a room of the player; undefined if that fails. */
export async function loadOwnGame(roomId: string): Promise<Room | undefined> {
  const answer = await rooms.getRoom({ roomId }).catch(() => undefined);
  if (answer?.room) updateOwnGame(answer.room);
  return answer?.room;
}

/** Loads all rooms in which the player sits. */
export async function loadOwnGames(): Promise<void> {
  const me = await sessions.getMe({}).catch(() => undefined);
  if (!me) return;
  const seated = new Set(me.seats.map(({ roomId }) => roomId));
  ownGames.value = new Map([...ownGames.peek()].filter(([roomId]) => seated.has(roomId)));
  await Promise.all([...seated].map(loadOwnGame));
}
