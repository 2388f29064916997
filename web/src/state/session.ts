import { Code } from "@connectrpc/connect";
import { effect, signal } from "@preact/signals";
import { authorize, sessions } from "../api/client";
import type { End } from "../api/reconnecting_stream";
import { kept } from "./persistent_signal";

/** Who plays here. */
export interface Session {
  token: string;
  playerId: string;
  name: string;
}

export const session = kept<Session | undefined>("session", undefined, isSession);

/** The name that was last used here, to begin the next log-in with. */
export const lastName = kept("name", session.value?.name ?? "", (value) => typeof value === "string");

/** True after the server stopped knowing the session; the player did not ask for it. */
export const expired = signal(false);

effect(() => authorize(session.value?.token));

export async function logIn(name: string): Promise<void> {
  const { player, token } = await sessions.logIn({ displayName: name });
  if (!player) return;
  lastName.value = player.displayName;
  expired.value = false;
  session.value = { token, playerId: player.playerId, name: player.displayName };
}

/** Log-in under a name that is most likely free. */
export function logInAsGuest(): Promise<void> {
  return logIn(`Guest ${Math.floor(Math.random() * 1e6)}`);
}

/** Whether to log out now would lose a game; also where that cannot be known. */
export async function isPlaying(): Promise<boolean> {
  const me = await sessions.getMe({}).catch(() => undefined);
  return me === undefined || me.gameIds.length > 0;
}

/** The server forgets the player even if the answer is lost, and so does the page. */
export async function logOut(): Promise<void> {
  try {
    await sessions.logOut({});
  } finally {
    session.value = undefined;
  }
}

let renewal: Promise<void> | undefined;

/** The server does not know the session any more: log in again under the same name, or let the player choose another. */
export function renew(): Promise<void> {
  renewal ??= renewed().finally(() => (renewal = undefined));
  return renewal;
}

async function renewed(): Promise<void> {
  const name = session.value?.name;
  if (!name) return;
  authorize(undefined);
  try {
    await logIn(name);
  } catch {
    expired.value = true;
    session.value = undefined;
  }
}

/** Renews the session if a stream ended because the server does not know it. */
export function renewIfUnauthenticated(end: End): void {
  if ("refused" in end && end.refused.code === Code.Unauthenticated) void renew();
}

function isSession(value: unknown): value is Session {
  const { token, playerId, name } = (value ?? {}) as Partial<Record<keyof Session, unknown>>;
  return typeof token === "string" && typeof playerId === "string" && typeof name === "string";
}
