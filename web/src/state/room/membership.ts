import { rooms } from "../../api/client";
import type { JoinRoomRequest } from "../../gen/reversi/v1/room_pb";
import type { Room } from "../../gen/reversi/v1/types_pb";
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

/** Joins a room, takes the seat there that is kept for the player or free, and gets ready. Undefined if that is refused. */
export async function acceptInvitation(room: JoinRoomRequest["room"], password = ""): Promise<Room | undefined> {
  const joined = await attempt(async () => (await rooms.joinRoom({ room, password })).room);
  if (joined) await attempt(() => takeSeat(joined));
  return joined;
}

async function takeSeat({ roomId, seats }: Room): Promise<void> {
  const me = session.peek()?.playerId ?? "";
  const seat = seatFor(seats, me);
  if (seats.some((one) => isSeatOf(one, me)) || seat < 0) return;
  await rooms.takeSeat({ roomId, seat });
  await rooms.setReady({ roomId, ready: true });
}
