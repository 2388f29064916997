import { colorOf } from "../game/history";
import type { RoomEvent } from "../gen/reversi/v1/room_pb";
import { LeaveReason } from "../gen/reversi/v1/room_pb";
import { GameResult, Offer, type Room, type Side } from "../gen/reversi/v1/types_pb";
import { isRunning, occupantName, SEATS, sideOf } from "../room/seat";
import { text, type Texts } from "../text/text";
import { announce, notify } from "./notice";
import { session } from "./session";
import { play } from "./sound";

type Fact = RoomEvent["event"];

/** Says what happened in a room, and lets it be heard. */
export function tell(fact: Fact, before: Room, after: Room): void {
  const texts = text.value;
  const said = sentence(texts, fact, before, after);
  if (isUnseen(fact)) notify(said);
  else announce(said);
  const mine = isMyTurn(after);
  if (mine && (fact.case === "movePlayed" || fact.case === "gameStarted")) {
    announce(texts.game.youMove(after.game?.position?.legalMoves.length ?? 0));
  }
  if (fact.case === "movePlayed") play(mine ? "turn" : "move");
  if (fact.case === "gameStarted") play("start");
  if (fact.case === "gameEnded") play("end");
}

/** Whether nothing else on the screen shows that it happened. */
function isUnseen(fact: Fact): boolean {
  return fact.case === "seriesEnded" || (fact.case === "offerClosed" && !fact.value.accepted);
}

function isMyTurn(room: Room): boolean {
  const side = sideOf(room, session.value?.playerId ?? "");
  return side !== undefined && isRunning(room) && colorOf(room.game?.position?.sideToMove ?? 0) === side;
}

/** The event in words; empty where there is nothing to say. */
export function sentence(texts: Texts, fact: Fact, before: Room, after: Room): string {
  const { event, game } = texts;
  const member = (room: Room, id: string) =>
    room.members.find(({ player }) => player?.playerId === id)?.player?.displayName ?? "";
  switch (fact.case) {
    case "memberJoined":
      return event.joined(fact.value.member?.player?.displayName ?? "");
    case "memberLeft": {
      const name = member(before, fact.value.playerId);
      const { reason } = fact.value;
      const removed = reason === LeaveReason.KICKED || reason === LeaveReason.BANNED;
      return removed ? event.removed(name) : event.left(name);
    }
    case "presenceChanged":
      return (fact.value.present ? event.back : event.away)(member(after, fact.value.playerId));
    case "ownerChanged":
      return event.owner(member(after, fact.value.ownerId));
    case "seatChanged":
      return event.seat(seatSide(texts, fact.value.seat), seatName(texts, after, fact.value.seat));
    case "seatsSwapped":
      return event.swapped;
    case "readyChanged":
      return (fact.value.ready ? event.ready : event.unready)(seatName(texts, after, fact.value.seat));
    case "settingsChanged":
      return event.settings;
    case "gameStarted":
      return game.started(seatName(texts, after, 0), seatName(texts, after, 1));
    case "chatPosted":
      return event.said(fact.value.line?.player?.displayName ?? "", fact.value.line?.text ?? "");
    case "roomClosed":
      return texts.room.closed;
    default:
      return playSentence(texts, fact, after);
  }
}

function playSentence(texts: Texts, fact: Fact, after: Room): string {
  const { event, game } = texts;
  switch (fact.case) {
    case "movePlayed": {
      const { ply, flipped } = fact.value;
      return ply ? game.played(sideName(texts, ply.side), ply.square, flipped.length) : "";
    }
    case "turnPassed":
      return game.passes(sideName(texts, fact.value.ply?.side ?? 0));
    case "moveRefused":
      return event.refused(sideName(texts, fact.value.side), fact.value.strikes);
    case "offerMade": {
      const name = seatName(texts, after, fact.value.seat);
      return (fact.value.offer === Offer.DRAW ? game.drawOfferedBy : game.rematchOfferedBy)(name);
    }
    case "offerClosed":
      return fact.value.accepted ? "" : event.declined;
    case "gameEnded":
      return resultSentence(texts, after);
    case "seriesEnded":
      return event.seriesEnded;
    case "clockCredited":
      return event.credited;
    default:
      return "";
  }
}

function resultSentence(texts: Texts, room: Room): string {
  const { result } = texts;
  const outcome = room.game?.outcome;
  if (!outcome) return "";
  const headline = {
    [GameResult.UNSPECIFIED]: "",
    [GameResult.BLACK_WINS]: result.black(seatName(texts, room, 0)),
    [GameResult.WHITE_WINS]: result.white(seatName(texts, room, 1)),
    [GameResult.DRAW]: result.draw,
    [GameResult.ABORTED]: result.aborted,
  }[outcome.result];
  return `${headline}, ${outcome.blackDiscs}–${outcome.whiteDiscs}. ${result.reason[outcome.reason]}.`;
}

function sideName(texts: Texts, side: Side): string {
  const color = colorOf(side);
  return color ? texts.side[color] : "";
}

function seatSide(texts: Texts, seat: number): string {
  const color = SEATS[seat];
  return color ? texts.side[color] : "";
}

function seatName(texts: Texts, room: Room, index: number): string {
  const seat = room.seats[index];
  return seat ? occupantName(texts, seat) : "";
}
