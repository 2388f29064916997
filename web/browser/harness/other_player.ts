import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { GameService, type PlayEvent, type PlayerInvited } from "../../src/gen/reversi/v1/game_pb";
import { LobbyService } from "../../src/gen/reversi/v1/lobby_pb";
import { RoomService } from "../../src/gen/reversi/v1/room_pb";
import { SessionService } from "../../src/gen/reversi/v1/session_pb";
import { TournamentService } from "../../src/gen/reversi/v1/tournament_pb";
import { PlayerKind } from "../../src/gen/reversi/v1/types_pb";
import type { Server } from "./server";

/** A player without a page, who is online until `leave` or the end of the server. */
export async function otherPlayer(server: Server, displayName: string, kind = PlayerKind.BOT) {
  const { player, token, playToken } = await createClient(SessionService, transport(server)).logIn({
    displayName,
    kind,
  });
  const games = createClient(GameService, transport(server, token));
  const events: PlayEvent["event"][] = [];
  let stream = new AbortController();
  /** Returns when the stream is open. */
  const comeBack = () =>
    new Promise<void>((opened) => {
      stream = new AbortController();
      const call = games.watchTurns({}, { signal: stream.signal, onHeader: () => opened() });
      void (async () => {
        for await (const { event } of call) if (event) events.push(event.event);
      })().catch(() => {});
    });
  await comeBack();
  return {
    ...callsAs(server, token),
    playerId: player?.playerId ?? "",
    token,
    playToken,
    events,
    comeBack,
    leave: () => stream.abort(),
  };
}

/** A bot that is to move, as black against an AI, after an illegal move. */
export async function botInGame(server: Server) {
  const bot = await otherPlayer(server, "nova");
  const { room } = await bot.lobby.createRoom({
    seats: [
      { occupant: { case: "player", value: { playerId: bot.playerId } } },
      { occupant: { case: "ai", value: { kind: "random", level: 1 } } },
    ],
  });
  const roomId = room?.roomId ?? "";
  await bot.rooms.setReady({ roomId, ready: true });
  const { gameId } = await bot.rooms.startGame({ roomId });
  await bot.games.playMove({ gameId, ply: 0, square: "a1" }).catch(() => undefined);
  return { bot, roomId, gameId };
}

/** The invitations among the events of a player. */
export function invitationsIn(events: readonly PlayEvent["event"][]): PlayerInvited[] {
  return events.flatMap(({ case: kind, value }) => (kind === "invited" ? value : []));
}

/** Calls of a player. */
export function callsAs(server: Server, token: string) {
  const own = transport(server, token);
  return {
    lobby: createClient(LobbyService, own),
    rooms: createClient(RoomService, own),
    games: createClient(GameService, own),
    tournaments: createClient(TournamentService, own),
  };
}

function transport({ url }: Server, token?: string) {
  const bearer: Interceptor = (next) => (request) => {
    if (token) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcWebTransport({ baseUrl: url, interceptors: [bearer], fetch: abortableFetch });
}

/** Node's `fetch` holds the signal of an open response weakly: after a garbage collection, an abort does nothing. */
const abortableFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { body, status, headers } = response;
  const signal = init?.signal;
  if (!body || !signal) return response;
  return new Response(body.pipeThrough(new TransformStream(), { signal }), { status, headers });
};
