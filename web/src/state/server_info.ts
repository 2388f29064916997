import { signal } from "@preact/signals";
import { lobby } from "../api/client";
import type { GetServerInfoResponse } from "../gen/reversi/v1/lobby_pb";
import { act, insist } from "./call";
import { setServerTime, useWhenOpen } from "./connection";

/** What the server offers, once it has told. */
export const server = signal<GetServerInfoResponse | undefined>(undefined);

let asking: Promise<void> | undefined;

/** Those who ask at the same time share the answer. */
export function askServer(): Promise<void> {
  asking ??= insist(ask).finally(() => (asking = undefined));
  return asking;
}

/** For parts of the page that show what the server offers. */
export function useServer(): void {
  useWhenOpen(() => void act(askServer));
}

async function ask(): Promise<void> {
  const answer = await lobby.getServerInfo({});
  setServerTime(answer.now);
  server.value = answer;
}
