import { signal } from "@preact/signals";
import { lobby, rooms } from "../../api/client";
import type { Refusal } from "../../api/refusal";
import { retry } from "../../api/retry";
import { InvitationEndReason, type PlayerInvitationEnded } from "../../gen/reversi/v1/game_pb";
import type { Player, Room, RoomSettings } from "../../gen/reversi/v1/types_pb";
import { refusedTermText } from "../../room/availability";
import { text } from "../../text/text";
import { attempt } from "../call";
import { navigate } from "../location";
import { notify } from "../notice";
import { requestId } from "../request_id";
import { session } from "../session";
import { chosenTerms } from "./quick_search";

type Guest = Pick<Player, "playerId" | "displayName">;

/** How the last invitation to each room ended, by id of the room: declined, or without an answer in time. */
export const answers = signal<ReadonlyMap<string, PlayerInvitationEnded>>(new Map());

export function keepAnswer(ended: PlayerInvitationEnded): void {
  const next = new Map(answers.peek());
  if (answerText(ended)) next.set(ended.roomId, ended);
  else next.delete(ended.roomId);
  answers.value = next;
}

/** A sentence for an invitation that was declined or has expired; empty for one that was accepted or withdrawn. */
export function answerText({ player, reason, message }: PlayerInvitationEnded): string {
  const { invitationDeclined, invitationExpired } = text.value.event;
  const name = player?.displayName ?? "";
  if (reason === InvitationEndReason.DECLINED) return invitationDeclined(name, message);
  return reason === InvitationEndReason.EXPIRED ? invitationExpired(name) : "";
}

/** Invites a player to a game with the terms that were chosen last, and goes to its room. */
export async function invite(guest: Guest): Promise<void> {
  const settings = { ...chosenTerms(), autoStart: true };
  const id = requestId();
  const isBlack = Math.random() < 0.5;
  const answer = await attempt(
    () => {
      // A visitor has a name only when this is repeated.
      const own = { case: "player" as const, value: { playerId: session.peek()?.playerId ?? "" } };
      const seats = [{ occupant: own }, { occupant: { case: "invite" as const, value: seatOf(guest) } }];
      return retry(() => lobby.createRoom({ settings, seats: isBlack ? seats : seats.toReversed(), requestId: id }));
    },
    (refused) => isRefusedTerm(refused, guest, settings),
  );
  const roomId = answer?.room?.roomId;
  if (!roomId) return;
  await attempt(() => rooms.setReady({ roomId, ready: true }));
  navigate({ screen: "room", roomId });
}

/** Invites a player to a seat of a room of one's own. */
export async function inviteTo({ roomId, settings }: Room, seat: number, guest: Guest): Promise<void> {
  const occupant = { case: "invite" as const, value: seatOf(guest) };
  const isShown = (refused: Refusal) => isRefusedTerm(refused, guest, { rated: settings?.rated ?? false });
  await attempt(() => rooms.setSeat({ roomId, seat, occupant }), isShown);
}

function seatOf({ playerId }: Guest) {
  return { player: { case: "playerId" as const, value: playerId } };
}

/** Tells which term of an invitation is not accepted, if that is the refusal. */
function isRefusedTerm(refused: Refusal, { displayName }: Guest, settings: Pick<RoomSettings, "rated">): boolean {
  const words =
    refused.reason === "NOT_ACCEPTED" && refusedTermText(text.value, refused.field ?? "", displayName, settings);
  if (words) notify(words, { tone: "bad" });
  return Boolean(words);
}
