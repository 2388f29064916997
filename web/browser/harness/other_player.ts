import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { GameService, type PlayerInvited } from "../../src/gen/reversi/v1/game_pb";
import { LobbyService } from "../../src/gen/reversi/v1/lobby_pb";
import { RoomService } from "../../src/gen/reversi/v1/room_pb";
import { SessionService } from "../../src/gen/reversi/v1/session_pb";
import { PlayerKind } from "../../src/gen/reversi/v1/types_pb";
import type { Server } from "./server";

/** A player without a page, who is online until the server ends. */
export async function otherPlayer(server: Server, displayName: string, kind = PlayerKind.BOT) {
  const { token } = await createClient(SessionService, transport(server)).logIn({ displayName, kind });
  const games = createClient(GameService, transport(server, token));
  const invited: PlayerInvited[] = [];
  void (async () => {
    for await (const { event } of games.watchTurns({}))
      if (event?.event.case === "invited") invited.push(event.event.value);
  })().catch(() => {});
  return { ...callsAs(server, token), invited };
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
