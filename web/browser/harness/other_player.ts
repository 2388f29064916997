import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { GameService, type PlayerInvited } from "../../src/gen/reversi/v1/game_pb";
import { LobbyService } from "../../src/gen/reversi/v1/lobby_pb";
import { RoomService } from "../../src/gen/reversi/v1/room_pb";
import { SessionService } from "../../src/gen/reversi/v1/session_pb";
import { PlayerKind } from "../../src/gen/reversi/v1/types_pb";
import type { Server } from "./server";

/** A player without a page, who is online until the server ends. */
export async function otherPlayer(server: Server, displayName: string, kind = PlayerKind.BOT) {
  const transport = (token?: string) =>
    createGrpcWebTransport({
      baseUrl: server.url,
      interceptors: [
        (next) => (request) => {
          if (token) request.header.set("authorization", `Bearer ${token}`);
          return next(request);
        },
      ],
    });
  const { token } = await createClient(SessionService, transport()).logIn({ displayName, kind });
  const own = transport(token);
  const invited: PlayerInvited[] = [];
  void (async () => {
    for await (const { event } of createClient(GameService, own).watchTurns({}))
      if (event?.event.case === "invited") invited.push(event.event.value);
  })().catch(() => {});
  return { lobby: createClient(LobbyService, own), rooms: createClient(RoomService, own), invited };
}
