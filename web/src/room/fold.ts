import { type Game, type Room, RoomPhase, type Seat } from "../gen/reversi/v1/types_pb";
import { Offer, type Ply, type Position, type Clocks, Side } from "../gen/reversi/v1/types_pb";
import type { RoomEvent } from "../gen/reversi/v1/room_pb";

/** As many as the server remembers. */
const CHAT_LINES = 50;

/**
 * The room after one more event; the same room for an event that is in it already. Absent for an event further ahead: then
 * something was missed, and only a snapshot helps.
 */
export function fold(room: Room, event: RoomEvent): Room | undefined {
  if (event.seq <= room.seq) return room;
  if (event.seq !== room.seq + 1n) return undefined;
  return { ...applied(room, event.event), seq: event.seq };
}

function applied(room: Room, event: RoomEvent["event"]): Room {
  switch (event.case) {
    case "memberJoined":
      return event.value.member ? { ...room, members: [...room.members, event.value.member] } : room;
    case "memberLeft":
      return { ...room, members: room.members.filter((member) => member.player?.playerId !== event.value.playerId) };
    case "presenceChanged":
      return withPresence(room, event.value.playerId, event.value.present);
    case "ownerChanged":
      return { ...room, ownerId: event.value.ownerId };
    case "settingsChanged":
      return settled(room, event.value);
    case "chatPosted":
      return event.value.line ? { ...room, chat: [...room.chat, event.value.line].slice(-CHAT_LINES) } : room;
    case "roomClosed":
      return { ...without(room, "series", "rematchOfferedBy"), phase: RoomPhase.CLOSED, ownerId: "" };
    case "seatChanged":
    case "seatsSwapped":
    case "readyChanged":
      return seated(room, event);
    default:
      return played(room, event);
  }
}

/** The same without the fields, which may then be absent. */
function without<T extends object>(value: T, ...fields: (keyof T)[]): T {
  const copy = { ...value };
  for (const field of fields) delete copy[field];
  return copy;
}

function settled(room: Room, { settings, hasPassword }: { settings?: Room["settings"]; hasPassword: boolean }): Room {
  return settings ? { ...room, settings, hasPassword } : { ...room, hasPassword };
}

function withPresence(room: Room, playerId: string, present: boolean): Room {
  return {
    ...room,
    members: room.members.map((member) => (member.player?.playerId === playerId ? { ...member, present } : member)),
    seats: room.seats.map((seat) =>
      seat.occupant.case === "player" && seat.occupant.value.playerId === playerId ? { ...seat, present } : seat,
    ),
  };
}

function seated(room: Room, event: RoomEvent["event"]): Room {
  switch (event.case) {
    case "seatChanged":
      return reseated(room, event.value.seat, event.value.occupant);
    case "seatsSwapped": {
      const offer = room.rematchOfferedBy;
      const { score } = room;
      return {
        ...room,
        seats: [...room.seats].reverse(),
        ...(offer !== undefined && { rematchOfferedBy: 1 - offer }),
        ...(score && { score: { ...score, seat: 1 - score.seat } }),
      };
    }
    case "readyChanged":
      return { ...room, seats: changed(room.seats, event.value.seat, { ready: event.value.ready }) };
    default:
      return room;
  }
}

/** A new occupant is a new pairing: its score begins at nothing, and a series between the old ones is over. */
function reseated(room: Room, index: number, occupant: Seat | undefined): Room {
  if (!occupant) return room;
  const seats = room.seats.map((seat, at) => (at === index ? occupant : { ...seat, wins: 0, draws: 0 }));
  const reseated = { ...without(room, "rematchOfferedBy", "score"), seats };
  const running = room.game !== undefined && room.game.outcome === undefined;
  return running ? reseated : { ...without(reseated, "series"), phase: RoomPhase.LOBBY };
}

function changed(seats: Seat[], index: number, change: Partial<Seat>): Seat[] {
  return seats.map((seat, at) => (at === index ? { ...seat, ...change } : seat));
}

function played(room: Room, event: RoomEvent["event"]): Room {
  switch (event.case) {
    case "gameStarted":
      return started(room, event.value);
    case "movePlayed":
    case "turnPassed":
      return withGame(room, (game) => advanced(game, event.value));
    case "clockCredited":
      return event.value.clocks ? withClocks(room, event.value.clocks) : room;
    case "offerMade":
      return event.value.offer === Offer.DRAW
        ? withGame(room, (game) => ({ ...game, drawOfferedBy: event.value.seat === 0 ? Side.BLACK : Side.WHITE }))
        : { ...room, rematchOfferedBy: event.value.seat };
    case "offerClosed":
      return event.value.offer === Offer.DRAW
        ? withGame(room, (game) => ({ ...game, drawOfferedBy: Side.UNSPECIFIED }))
        : without(room, "rematchOfferedBy");
    case "gameEnded":
      return ended(room, event.value);
    case "seriesEnded":
      return { ...without(room, "series"), phase: RoomPhase.LOBBY };
    default:
      return room;
  }
}

function started(room: Room, { game, series, score }: { game?: Game } & Pick<Room, "series" | "score">): Room {
  const next = { ...without(room, "rematchOfferedBy", "game", "series", "score"), phase: RoomPhase.PLAYING };
  return { ...next, ...(game && { game }), ...(series && { series }), ...(score && { score }) };
}

interface Advance {
  gameId: string;
  ply?: Ply;
  position?: Position;
  clocks?: Clocks;
}

function advanced(game: Game, { gameId, ply, position, clocks }: Advance): Game {
  if (game.gameId !== gameId || !ply || !position) return game;
  const next = { ...without(game, "clocks"), ply: ply.ply + 1, plies: [...game.plies, ply], position };
  return clocks ? { ...next, clocks } : next;
}

function withGame(room: Room, change: (game: Game) => Game): Room {
  return room.game ? { ...room, game: change(room.game) } : room;
}

function withClocks(room: Room, clocks: Clocks): Room {
  return withGame(room, (game) => ({ ...game, clocks }));
}

type End = { outcome?: Game["outcome"]; seats: Seat[] } & Pick<Room, "series" | "score">;

function ended(room: Room, { outcome, series, score, seats }: End): Room {
  const scored = { ...without(room, "score"), ...(score && { score }) };
  const over = withGame(scored, (game) => ({
    ...without(game, "clocks"),
    drawOfferedBy: Side.UNSPECIFIED,
    ...(outcome && { outcome }),
  }));
  if (series?.nextGameAt) return { ...over, seats, series };
  return { ...without(over, "series"), seats, phase: RoomPhase.LOBBY };
}
