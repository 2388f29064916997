import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { GameService, type PlayEvent, type PlayerInvited } from "../../src/gen/reversi/v1/game_pb";
import { LobbyService } from "../../src/gen/reversi/v1/lobby_pb";
import { RoomService } from "../../src/gen/reversi/v1/room_pb";
import { SessionService } from "../../src/gen/reversi/v1/session_pb";
import { PlayerKind } from "../../src/gen/reversi/v1/types_pb";
import type { Server } from "./server";

/** A player without a page, who is online until `leave` or the end of the server. */
export async function otherPlayer(server: Server, displayName: string, kind = PlayerKind.BOT) {
  const { token } = await createClient(SessionService, transport(server)).logIn({ displayName, kind });
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
  return { ...callsAs(server, token), events, comeBack, leave: () => stream.abort() };
}

/** The invitations among the events of a player. */
export function invitationsIn(events: readonly PlayEvent["event"][]): PlayerInvited[] {
  return events.flatMap(({ case: kind, value }) => (kind === "invited" ? value : []));
}

/** Calls of a player. */
export function callsAs(server: Server, token: string) {
  const own = transport(server, token);
  return { lobby: createClient(LobbyService, own), rooms: createClient(RoomService, own) };
}

function transport({ url }: Server, token?: string) {
  const bearer: Interceptor = (next) => (request) => {
    if (token) request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcWebTransport({ baseUrl: url, interceptors: [bearer] });
}
