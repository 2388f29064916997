import { signal } from "@preact/signals";
import { lobby } from "../api/client";
import type { GetServerInfoResponse } from "../gen/reversi/v1/lobby_pb";
import { retry } from "../api/retry";
import { attempt } from "./call";
import { setServerTime, useWhenConnected } from "./connection";

/** The last answer of `GetServerInfo`. */
export const serverInfo = signal<GetServerInfoResponse | undefined>(undefined);

let pending: Promise<void> | undefined;

/** Loads `serverInfo`; simultaneous calls share one request. */
export function loadServerInfo(): Promise<void> {
  pending ??= retry(load).finally(() => (pending = undefined));
  return pending;
}

/** Loads `serverInfo` for a component that shows it. */
export function useServerInfo(): void {
  useWhenConnected(() => void attempt(loadServerInfo));
}

async function load(): Promise<void> {
  const answer = await lobby.getServerInfo({});
  setServerTime(answer.now);
  serverInfo.value = answer;
}
