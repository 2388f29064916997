import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { rooms } from "../../api/client";
import { isTransient } from "../../api/refusal";
import { instant, milliseconds } from "../../game/clock";
import type { PlayerInvited } from "../../gen/reversi/v1/game_pb";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { sideOf } from "../../room/seat";
import type { TimeSettings } from "../../room/time_control";
import { attempt } from "../call";
import { serverNow } from "../connection";
import { navigate } from "../location";
import { persistentSignal } from "../persistent_signal";
import { session } from "../session";
import { joinToPlay } from "./membership";

/** An invitation that waits for the player's answer, as it is stored: times are in milliseconds. */
export interface Invited {
  roomId: string;
  joinCode: string;
  /** The id of the invited player. */
  to: string;
  /** The name of the player who invites. */
  by: string;
  /** 0 without one. */
  byRating: number;
  rated: boolean;
  moveLimit?: number | undefined;
  totalTime?: number | undefined;
  increment?: number | undefined;
  /** When it ends, by the server's clock. */
  until?: number | undefined;
}

/** The open invitations. Stored, as the server sends each once. */
export const invitations = persistentSignal<readonly Invited[]>("invitations", [], areInvitations);

/** Keeps an invitation until it is answered or has ended; the newest of each room. */
export function keepInvitation({ roomId, joinCode, by, byRating, settings, expiresAt }: PlayerInvited): void {
  const invited: Invited = {
    roomId,
    joinCode,
    to: session.peek()?.playerId ?? "",
    by: by?.displayName ?? "",
    byRating,
    rated: settings?.rated ?? false,
    moveLimit: settings?.moveLimit && milliseconds(settings.moveLimit),
    totalTime: settings?.totalTime && milliseconds(settings.totalTime),
    increment: settings?.increment && milliseconds(settings.increment),
    until: expiresAt && instant(expiresAt),
  };
  const now = serverNow();
  const others = invitations.peek().filter((one) => one.roomId !== roomId && (one.until ?? Infinity) > now);
  invitations.value = [...others, invited];
}

/** Returns the invitation, if there was one. */
export function dropInvitation(roomId: string): Invited | undefined {
  const dropped = invitations.peek().find((one) => one.roomId === roomId);
  if (dropped) invitations.value = invitations.peek().filter((one) => one !== dropped);
  return dropped;
}

/**
 * Joins the room, takes the seat that is kept there, and goes to the room. Where the seat is refused, as to a player whose
 * game runs, the invitation stays.
 */
export async function acceptInvitation({ roomId, joinCode }: Invited): Promise<void> {
  const key = joinCode ? { case: "joinCode" as const, value: joinCode } : { case: "roomId" as const, value: roomId };
  const joined = await joinToPlay(key, "", (refused) => {
    if (!isTransient(refused)) dropInvitation(roomId);
    return false;
  });
  if (!joined) return;
  if (!(await hasSeat(joined))) return void (await attempt(() => rooms.leaveRoom({ roomId })));
  dropInvitation(roomId);
  navigate({ screen: "room", roomId });
}

/** Whether the player has a seat in the room, at its joining or since. */
async function hasSeat(joined: Room): Promise<boolean> {
  const me = session.peek()?.playerId ?? "";
  if (sideOf(joined, me)) return true;
  const { room } = await rooms.getRoom({ roomId: joined.roomId }).catch(() => ({ room: undefined }));
  return room !== undefined && sideOf(room, me) !== undefined;
}

export async function declineInvitation({ roomId }: Invited): Promise<void> {
  const done = await attempt(
    () => rooms.declineInvitation({ roomId }),
    // It has ended already.
    (refused) => !isTransient(refused) && Boolean(dropInvitation(roomId)),
  );
  if (done) dropInvitation(roomId);
}

/** The clock of the game, as the settings of its room have it. */
export function clockOf({ moveLimit, totalTime, increment }: Invited): TimeSettings {
  const duration = (time: number | undefined) => (time === undefined ? undefined : durationFromMs(time));
  return { moveLimit: duration(moveLimit), totalTime: duration(totalTime), increment: duration(increment) };
}

function areInvitations(value: unknown): value is readonly Invited[] {
  return Array.isArray(value) && value.every((one) => typeof one?.roomId === "string" && typeof one.to === "string");
}
