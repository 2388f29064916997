import { colorOf } from "../game/history";
import { LeaveReason, type RoomEvent } from "../gen/reversi/v1/room_pb";
import { Offer, type Room, type Side } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";
import { headline, reasonText } from "./outcome";
import { seriesText } from "./series_text";
import { namesOf, occupantName, SEATS } from "./seat";

type Event = RoomEvent["event"];

/** A room event in words, for `announceEvent`; empty for an event that is not announced. */
export function eventText(texts: Texts, event: Event, before: Room, after: Room): string {
  const { event: words, game } = texts;
  const member = (room: Room, id: string) =>
    room.members.find(({ player }) => player?.playerId === id)?.player?.displayName ?? "";
  switch (event.case) {
    case "memberJoined":
      return words.joined(event.value.member?.player?.displayName ?? "");
    case "memberLeft": {
      const name = member(before, event.value.playerId);
      const { reason } = event.value;
      const removed = reason === LeaveReason.KICKED || reason === LeaveReason.BANNED;
      return removed ? words.removed(name) : words.left(name);
    }
    case "presenceChanged":
      return (event.value.present ? words.back : words.away)(member(after, event.value.playerId));
    case "ownerChanged":
      return words.owner(member(after, event.value.ownerId));
    case "seatChanged":
      return words.seat(seatSide(texts, event.value.seat), seatName(texts, after, event.value.seat));
    case "invitationEnded": {
      const { player, expired, reason } = event.value;
      const name = player?.displayName ?? "";
      return expired ? words.invitationExpired(name) : words.invitationDeclined(name, reason);
    }
    case "seatsSwapped":
      return words.swapped;
    case "readyChanged":
      return (event.value.ready ? words.ready : words.unready)(seatName(texts, after, event.value.seat));
    case "settingsChanged":
      return words.settings;
    case "gameStarted":
      return game.started(seatName(texts, after, 0), seatName(texts, after, 1));
    case "chatRemoved":
      return words.unsaid;
    case "roomClosed":
      return texts.room.closed;
    default:
      return gameEventText(texts, event, after);
  }
}

function gameEventText(texts: Texts, event: Event, after: Room): string {
  const { event: words, game } = texts;
  switch (event.case) {
    case "movePlayed": {
      const { ply, flipped } = event.value;
      return ply ? game.played(sideName(texts, ply.side), ply.square, flipped.length) : "";
    }
    case "turnPassed":
      return game.passes(sideName(texts, event.value.ply?.side ?? 0));
    case "moveRefused":
      return words.refused(sideName(texts, event.value.side), event.value.strikes);
    case "offerMade": {
      const name = seatName(texts, after, event.value.seat);
      return offerText(texts, event.value.offer, name);
    }
    case "offerClosed":
      return event.value.accepted ? "" : words.declined;
    case "gameEnded":
      return `${resultText(texts, after)} ${seriesText(texts, after)}`.trim();
    case "seriesEnded":
      return `${words.seriesEnded} ${seriesText(texts, after)}`.trim();
    case "clockCredited":
      return words.credited;
    default:
      return "";
  }
}

function resultText(texts: Texts, room: Room): string {
  const outcome = room.game?.outcome;
  if (!outcome) return "";
  const names = namesOf(texts, room);
  const discs = `${outcome.blackDiscs}–${outcome.whiteDiscs}`;
  return `${headline(texts, outcome, names)}, ${discs}. ${reasonText(texts, outcome, names)}.`;
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

/** What `name` offers. */
export function offerText({ game }: Texts, offer: Offer, name: string): string {
  switch (offer) {
    case Offer.DRAW:
      return game.drawOfferedBy(name);
    case Offer.TAKE_BACK:
      return game.takeBackOfferedBy(name);
    default:
      return game.rematchOfferedBy(name);
  }
}
