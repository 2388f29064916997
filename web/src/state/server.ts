import { signal } from "@preact/signals";
import { lobby } from "../api/client";
import type { GetServerInfoResponse } from "../gen/reversi/v1/lobby_pb";
import { setServerTime } from "./connection";

/** What the server offers, once it has told. */
export const server = signal<GetServerInfoResponse | undefined>(undefined);

export async function askServer(): Promise<void> {
  const answer = await lobby.getServerInfo({});
  setServerTime(answer.now);
  server.value = answer;
}
