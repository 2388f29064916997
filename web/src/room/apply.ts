import type { Game, Position, Ply, Clocks, Room } from "../gen/reversi/v1/types_pb";
import type { RoomEvent, RoomState } from "../gen/reversi/v1/room_pb";

/**
 * The room after one more event. An event that it already includes leaves it unchanged. Undefined if earlier events are
 * missing: then a new snapshot is needed. Applies no rules of the game; it only assigns what the event carries.
 */
export function apply(room: Room, { seq, event, state }: RoomEvent): Room | undefined {
  if (seq <= room.seq) return room;
  if (seq !== room.seq + 1n) return undefined;
  const next = { ...changed(room, event), seq };
  return state ? assigned(next, state) : next;
}

/** Assigns the fields of the event's case. Cases without an entry change only what the event's `state` has. */
function changed(room: Room, event: RoomEvent["event"]): Room {
  switch (event.case) {
    case "memberJoined":
      return event.value.member ? { ...room, members: [...room.members, event.value.member] } : room;
    case "memberLeft":
      return { ...room, members: room.members.filter((member) => member.player?.playerId !== event.value.playerId) };
    case "presenceChanged": {
      const { playerId, present } = event.value;
      const members = room.members.map((member) =>
        member.player?.playerId === playerId ? { ...member, present } : member,
      );
      return { ...room, members };
    }
    case "settingsChanged": {
      const { settings, hasPassword } = event.value;
      return { ...room, ...(settings && { settings }), hasPassword };
    }
    case "chatPosted": {
      const { line, lines } = event.value;
      return line ? { ...room, chat: [...room.chat, line].slice(-lines) } : room;
    }
    case "chatRemoved":
      return { ...room, chat: event.value.chat };
    case "gameStarted":
      return event.value.game ? { ...room, game: event.value.game } : room;
    case "movePlayed":
    case "turnPassed":
      return withGame(room, event.value.gameId, (game) => advanced(game, event.value));
    case "gameEnded": {
      const { gameId, outcome, position } = event.value;
      const end = { ...(outcome && { outcome }), ...(position && { position }) };
      return withGame(room, gameId, (game) => ({ ...without(game, "clocks"), ...end }));
    }
    case "clockCredited": {
      const { clocks } = event.value;
      return room.game && clocks ? { ...room, game: { ...room.game, clocks } } : room;
    }
    default:
      return room;
  }
}

function assigned(room: Room, state: RoomState): Room {
  const { phase, ownerId, coOwnerIds, seats, series, rematchOfferedBy, score, drawOfferedBy, takeBackOfferedBy } =
    state;
  return {
    ...without(room, "series", "rematchOfferedBy", "score"),
    phase,
    ownerId,
    coOwnerIds,
    seats,
    ...(series && { series }),
    ...(rematchOfferedBy !== undefined && { rematchOfferedBy }),
    ...(score && { score }),
    ...(room.game && { game: { ...room.game, drawOfferedBy, takeBackOfferedBy } }),
  };
}

interface Advance {
  ply?: Ply;
  position?: Position;
  clocks?: Clocks;
}

function advanced(game: Game, { ply, position, clocks }: Advance): Game {
  if (!ply || !position) return game;
  const next = { ...without(game, "clocks"), ply: ply.ply + 1, plies: [...game.plies, ply], position };
  return clocks ? { ...next, clocks } : next;
}

/** The same without these fields. */
function without<T extends object>(value: T, ...fields: (keyof T)[]): T {
  const copy = { ...value };
  for (const field of fields) delete copy[field];
  return copy;
}

function withGame(room: Room, gameId: string, change: (game: Game) => Game): Room {
  return room.game?.gameId === gameId ? { ...room, game: change(room.game) } : room;
}
