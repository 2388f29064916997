import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { GameService } from "../gen/reversi/v1/game_pb";
import { LobbyService } from "../gen/reversi/v1/lobby_pb";
import { RoomService } from "../gen/reversi/v1/room_pb";
import { SessionService } from "../gen/reversi/v1/session_pb";

let token: string | undefined;

/** Sets the token that later calls carry, unless they have one of their own; none if undefined. */
export function authorize(bearerToken: string | undefined): void {
  token = bearerToken;
}

const bearer: Interceptor = (next) => (request) => {
  if (token && !request.header.has("authorization")) request.header.set("authorization", `Bearer ${token}`);
  return next(request);
};

/** How long a call may take, unless it sets a limit of its own, in milliseconds. Calls on a dead connection would wait forever. */
const DEADLINE = 10_000;

export const transport = createGrpcWebTransport({
  baseUrl: location.origin,
  interceptors: [bearer],
  defaultTimeoutMs: DEADLINE,
});

export const sessions = createClient(SessionService, transport);
export const lobby = createClient(LobbyService, transport);
export const rooms = createClient(RoomService, transport);
export const games = createClient(GameService, transport);
