import { colorOf } from "../game/history";
import type { RoomEvent } from "../gen/reversi/v1/room_pb";
import { GameEndReason, type Room } from "../gen/reversi/v1/types_pb";
import { eventText } from "../room/event_text";
import { isRunning, sideOf } from "../room/seat";
import { text } from "../text/text";
import { announce, notify } from "./notice";
import { session } from "./session";
import { play } from "./sound";

/** Announces a room event to screen readers and plays its sound; shows a notice if nothing else on the page shows it. */
export function announceEvent(event: RoomEvent["event"], before: Room, after: Room): void {
  const texts = text.value;
  const words = eventText(texts, event, before, after);
  if (isShownElsewhere(event, after)) announce(words);
  else notify(words);
  const ownTurn = isOwnTurn(after);
  if (ownTurn && (event.case === "movePlayed" || event.case === "gameStarted")) {
    announce(texts.game.youMove(after.game?.position?.legalMoves.length ?? 0));
  }
  if (event.case === "movePlayed") play(ownTurn ? "turn" : "move");
  if (event.case === "gameStarted") play("start");
  if (event.case === "gameEnded" && event.value.outcome?.reason !== GameEndReason.TAKEN_BACK) play("end");
}

function isShownElsewhere(event: RoomEvent["event"], { ownerId }: Room): boolean {
  switch (event.case) {
    case "invitationEnded":
      // The owner may invite again there.
      return ownerId === session.value?.playerId;
    case "seriesEnded":
      return false;
    case "offerClosed":
      return event.value.accepted;
    case "gameEnded":
      // Nothing on the board tells that the time ran out.
      return event.value.outcome?.reason !== GameEndReason.TIMEOUT;
    default:
      return true;
  }
}

function isOwnTurn(room: Room): boolean {
  const side = sideOf(room, session.value?.playerId ?? "");
  return side !== undefined && isRunning(room) && colorOf(room.game?.position?.sideToMove ?? 0) === side;
}
