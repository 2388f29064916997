import { Code } from "@connectrpc/connect";
import { effect, signal } from "@preact/signals";
import { authorize, sessions } from "../api/client";
import type { StreamEnd } from "../api/reconnecting_stream";
import { persistentSignal } from "./persistent_signal";

/** The logged-in player. */
export interface Session {
  token: string;
  playerId: string;
  name: string;
}

export const session = persistentSignal<Session | undefined>("session", undefined, isSession);

/** The last name used, as the default of the next log-in. */
export const lastName = persistentSignal("name", session.value?.name ?? "", (value) => typeof value === "string");

/** True after the server has dropped the session. */
export const expired = signal(false);

effect(() => authorize(session.value?.token));

export async function logIn(name: string): Promise<void> {
  const { player, token } = await sessions.logIn({ displayName: name });
  if (!player) return;
  lastName.value = player.displayName;
  expired.value = false;
  session.value = { token, playerId: player.playerId, name: player.displayName };
}

/** Comes back as the player of a token. */
export async function resume(token: string): Promise<void> {
  authorize(token);
  const me = await sessions.getMe({}).catch((error: unknown) => {
    authorize(undefined);
    throw error;
  });
  if (!me.player) return;
  lastName.value = me.player.displayName;
  expired.value = false;
  session.value = { token, playerId: me.player.playerId, name: me.player.displayName };
}

/** Logs in, unless logged in, under a name or as a guest without one. */
export async function logInAs(name: string): Promise<void> {
  if (!session.peek()) await (name ? logIn(name) : logInAsGuest());
}

/** Logs in under a random name. */
export function logInAsGuest(): Promise<void> {
  return logIn(`Guest ${Math.floor(Math.random() * 1e6)}`);
}

/**
 * Whether a log-out loses something: a running game, or the page's copy of the secret of a kept name. True if the server
 * does not answer.
 */
export async function losesByLogOut(): Promise<boolean> {
  const me = await sessions.getMe({}).catch(() => undefined);
  return me === undefined || me.claimed || me.gameIds.length > 0;
}

/** How long what another tab stores takes to be seen here, at most, in milliseconds. */
const STORED_WITHIN = 1_000;

let renewal: Promise<void> | undefined;

/**
 * Logs out. The page forgets the session before the call: the server ends the session's streams as it answers, and a page
 * that still had the session would renew it.
 */
export async function logOut(): Promise<void> {
  await renewal;
  const token = session.peek()?.token;
  session.value = undefined;
  if (token) await sessions.logOut({}, { headers: { authorization: `Bearer ${token}` } });
}

/** Logs in again under the same name after the server has dropped the session; if that fails, shows the log-in screen. */
export function renew(): Promise<void> {
  renewal ??= renewed().finally(() => (renewal = undefined));
  return renewal;
}

async function renewed(): Promise<void> {
  const { name, token } = session.value ?? {};
  if (!name) return;
  authorize(undefined);
  try {
    await logIn(name);
  } catch {
    // All tabs try it; the first to succeed has the name, and tells the others by the storage.
    await new Promise((resolve) => setTimeout(resolve, STORED_WITHIN));
    if (session.value?.token !== token) return;
    expired.value = true;
    session.value = undefined;
  }
}

/** Renews the session if a stream ended with `UNAUTHENTICATED`. */
export function renewIfUnauthenticated(end: StreamEnd): void {
  if ("refused" in end && end.refused.code === Code.Unauthenticated) void renew();
}

/** Answers whether the visitor has logged in. */
export type NameRequest = (loggedIn: boolean) => void;

/** Set while the page asks the visitor for a name. */
export const nameRequest = signal<NameRequest | undefined>();

/** Asks the visitor for a name. Returns whether the visitor has logged in. */
export function askName(): Promise<boolean> {
  nameRequest.peek()?.(false);
  return new Promise((resolve) => {
    nameRequest.value = (loggedIn) => {
      nameRequest.value = undefined;
      resolve(loggedIn);
    };
  });
}

function isSession(value: unknown): value is Session {
  const { token, playerId, name } = (value ?? {}) as Partial<Record<keyof Session, unknown>>;
  return typeof token === "string" && typeof playerId === "string" && typeof name === "string";
}
