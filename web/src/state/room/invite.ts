import { lobby, rooms } from "../../api/client";
import type { Refusal } from "../../api/refusal";
import { retry } from "../../api/retry";
import type { Player, RoomSettings } from "../../gen/reversi/v1/types_pb";
import { refusedTermText } from "../../room/availability";
import { text } from "../../text/text";
import { attempt } from "../call";
import { navigate } from "../location";
import { notify } from "../notice";
import { requestId } from "../request_id";
import { session } from "../session";
import { chosenTerms } from "./quick_search";

type Guest = Pick<Player, "playerId" | "displayName">;

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
