import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { PROMPT, type StreamCall, type StreamMessage } from "../api/reconnecting_stream";
import { GameService, type PlayEvent } from "../gen/reversi/v1/game_pb";
import { LobbyService, type WatchRoomsResponse } from "../gen/reversi/v1/lobby_pb";
import { RoomService, type WatchRoomResponse } from "../gen/reversi/v1/room_pb";
import { TournamentService, type WatchTournamentResponse } from "../gen/reversi/v1/tournament_pb";
import { CloseReason, type Room } from "../gen/reversi/v1/types_pb";
import { apply } from "../room/apply";
import { changedRows, type RoomRows } from "../room/row/room_rows";
import { isRunning, sideOf } from "../room/seat";
import { isOver } from "../tournament/words";
import type { Watched } from "./watched";

/** A stream that several tabs share, and what a tab that comes later must be told first. */
export interface Source<M extends StreamMessage = StreamMessage> {
  /** Opens the stream, again after each loss. */
  open(call: StreamCall): AsyncIterable<M>;
  /** Takes in a message. True if the stream must be opened again, for the whole state. */
  take(message: M): boolean;
  /** The messages that tell the present state. */
  kept(): M[];
  /** Lets the next opening begin with the whole state. */
  refresh(): void;
  /** Whether a game of the player runs here. */
  isOwnGame(): boolean;
  silenceLimit?: number;
}

// Without a token of its own, unlike the page's: each call carries that of the tab, if any.
const transport = createGrpcWebTransport({ baseUrl: location.origin });
const games = createClient(GameService, transport);
const lobby = createClient(LobbyService, transport);
const rooms = createClient(RoomService, transport);
const tournaments = createClient(TournamentService, transport);

const { heartbeatSeconds, silenceLimit } = PROMPT;
const UNCHANGED = { refresh: () => {}, isOwnGame: () => false };

export function sourceOf(watched: Exclude<Watched, { kind: "place" }>): Source {
  switch (watched.kind) {
    case "turns":
      return turnSource(watched);
    case "room":
      return roomSource(watched);
    case "rooms":
      return listSource(watched);
    case "board":
      return boardSource(watched);
    case "tournament":
      return tournamentSource(watched);
  }
}

type Of<K extends Watched["kind"]> = Extract<Watched, { kind: K }>;

function as(token: string | undefined, call: StreamCall) {
  return { ...call, ...(token && { headers: { authorization: `Bearer ${token}` } }) };
}

function turnSource({ token }: Of<"turns">): Source<PlayEvent["event"]> {
  const turns = new Map<string, PlayEvent["event"]>();
  return {
    ...UNCHANGED,
    silenceLimit,
    async *open(call) {
      // The server sends every open turn again when the stream opens.
      turns.clear();
      for await (const { event } of games.watchTurns({ heartbeatSeconds }, as(token, call)))
        if (event) yield event.event;
    },
    take(event) {
      if (event.case === "turnRequested") turns.set(event.value.gameId, event);
      if (event.case === "turnClosed" || event.case === "gameEnded") turns.delete(event.value.gameId);
      return false;
    },
    kept: () => [...turns.values()],
  };
}

function roomSource({ roomId, password, token, playerId }: Of<"room">): Source<WatchRoomResponse["message"]> {
  let room: Room | undefined;
  let needsSnapshot = false;
  return {
    silenceLimit,
    async *open(call) {
      const afterSeq = needsSnapshot ? undefined : room?.seq;
      needsSnapshot = false;
      const request = { roomId, password, heartbeatSeconds, ...(afterSeq !== undefined && { afterSeq }) };
      for await (const { message } of rooms.watchRoom(request, as(token, call))) yield message;
    },
    take(message) {
      if (message.case === "snapshot") room = message.value;
      if (message.case !== "event" || !room) return false;
      const after = apply(room, message.value);
      const { event } = message.value;
      // Members see more of a room than watchers, so the player needs a new snapshot after joining.
      const joined =
        after !== room && event.case === "memberJoined" && event.value.member?.player?.playerId === playerId;
      needsSnapshot ||= !after || joined;
      room = after ?? room;
      return needsSnapshot;
    },
    kept: () => (room ? [{ case: "snapshot", value: room }] : []),
    refresh: () => void (needsSnapshot = true),
    isOwnGame: () => room !== undefined && isRunning(room) && sideOf(room, playerId ?? "") !== undefined,
  };
}

function listSource({ filter, token }: Of<"rooms">): Source<WatchRoomsResponse["message"]> {
  let rows: RoomRows | undefined;
  return {
    ...UNCHANGED,
    async *open(call) {
      for await (const { message } of lobby.watchRooms({ filter }, as(token, call))) yield message;
    },
    take(message) {
      rows = changedRows(rows ?? new Map(), message);
      return false;
    },
    kept: () =>
      rows ? [{ case: "snapshot", value: { $typeName: "reversi.v1.RoomList", rooms: [...rows.values()] } }] : [],
  };
}

/** Whole snapshots: no more is needed for a board. */
function boardSource({ roomId }: Of<"board">): Source<WatchRoomResponse["message"]> {
  let snapshot: WatchRoomResponse["message"] | undefined;
  return {
    ...UNCHANGED,
    silenceLimit,
    async *open(call) {
      const request = { roomId, snapshotsOnly: true, heartbeatSeconds };
      for await (const { message } of rooms.watchRoom(request, call)) yield message;
    },
    take(message) {
      snapshot = message;
      return false;
    },
    kept: () => (snapshot ? [snapshot] : []),
  };
}

/** Whole states. The server ends the stream with the tournament; it is not to be opened again then. */
function tournamentSource({ tournamentId, token }: Of<"tournament">): Source<WatchTournamentResponse["message"]> {
  let view: Extract<WatchTournamentResponse["message"], { case: "view" }> | undefined;
  return {
    ...UNCHANGED,
    async *open(call) {
      for await (const { message } of tournaments.watchTournament({ tournamentId }, as(token, call))) yield message;
      if (view?.value.tournament && isOver(view.value.tournament)) yield ENDED;
    },
    take(message) {
      if (message.case === "view") view = message;
      return false;
    },
    kept: () => (view ? [view] : []),
  };
}

const ENDED: WatchTournamentResponse["message"] = {
  case: "closing",
  value: { $typeName: "reversi.v1.Closing", reason: CloseReason.GAME_OVER },
};
