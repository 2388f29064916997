import { rooms } from "../../api/client";
import type { Refusal } from "../../api/refusal";
import type { JoinRoomRequest } from "../../gen/reversi/v1/room_pb";
import { type Room, RoomPhase } from "../../gen/reversi/v1/types_pb";
import { isSeatOf, seatFor } from "../../room/seat";
import { attempt } from "../call";
import { session } from "../session";

/** The passwords that were entered on this page, by room: a visitor who gets a name later is not asked again. */
const passwords = new Map<string, string>();

export function enterPassword(roomId: string, password: string): void {
  passwords.set(roomId, password);
}

export function enteredPassword(roomId: string): string {
  return passwords.get(roomId) ?? "";
}

/** Joins a room, with its password if that was entered. */
export async function joinRoom(roomId: string): Promise<Room | undefined> {
  const room = { case: "roomId" as const, value: roomId };
  return (await rooms.joinRoom({ room, password: enteredPassword(roomId) })).room;
}

/**
 * Joins a room, takes the seat there that is kept for the player or free, and gets ready. Undefined if joining is refused.
 */
export async function joinToPlay(
  room: JoinRoomRequest["room"],
  password = "",
  isShown?: (refused: Refusal) => boolean,
): Promise<Room | undefined> {
  const joined = await attempt(async () => (await rooms.joinRoom({ room, password })).room, isShown);
  const me = session.peek()?.playerId ?? "";
  if (!joined) return undefined;
  const { roomId } = joined;
  const own = joined.seats.find((seat) => isSeatOf(seat, me));
  const free = seatFor(joined.seats, me);
  if (own) {
    // The server has given the seat that was kept.
    if (joined.phase === RoomPhase.LOBBY && !own.ready) await attempt(() => rooms.setReady({ roomId, ready: true }));
  } else if (free >= 0) await attempt(() => takeSeat(roomId, free));
  return joined;
}

/** Takes a seat and gets ready: who sits down wants to play. */
export async function takeSeat(roomId: string, seat: number): Promise<void> {
  await rooms.takeSeat({ roomId, seat });
  await rooms.setReady({ roomId, ready: true });
}
