import { Code } from "@connectrpc/connect";
import { signal } from "@preact/signals";
import { sessions } from "../../api/client";
import { type Refusal, refusal } from "../../api/refusal";
import type { GetMeResponse } from "../../gen/reversi/v1/session_pb";
import { persistentSignal } from "../persistent_signal";
import { isToken } from "./pasted";

/** How many bots the page keeps. */
export const MOST_BOTS = 16;

/** The tokens of the bots that the author has added. */
export const botTokens = persistentSignal<readonly string[]>("bots", [], isTokens);

/** What the server has said of a bot: the latest answer, and the refusal of the latest call. */
export interface BotState {
  me?: GetMeResponse | undefined;
  refused?: Refusal | undefined;
  /** When it was asked last, in milliseconds. */
  asked: number;
}

/** By token; none before the first question. */
export const botStates = signal<ReadonlyMap<string, BotState>>(new Map());

/** The shortest time between two questions for a bot, in milliseconds. */
const EVERY = 10_000;

/** How often to look whether one is due: after the page was hidden, or a bot was added in another tab. */
const LOOK_EVERY = 1_000;

/** Adds a bot, unless it is there. */
export function addBot(token: string): void {
  if (!botTokens.peek().includes(token)) botTokens.value = [...botTokens.peek(), token].slice(-MOST_BOTS);
  askDue();
}

export function removeBot(token: string): void {
  botTokens.value = botTokens.peek().filter((one) => one !== token);
  setState(token, undefined);
}

/** Asks for the bots as long as the page is seen. Returns what ends that. */
export function watchBots(): () => void {
  askDue();
  const timer = setInterval(askDue, LOOK_EVERY);
  return () => clearInterval(timer);
}

export function isTokenRefused({ refused }: BotState): boolean {
  return refused?.code === Code.Unauthenticated;
}

function askDue(): void {
  if (document.hidden) return;
  for (const token of botTokens.peek()) {
    const state = botStates.peek().get(token);
    if (!state || (Date.now() - state.asked >= EVERY && !isTokenRefused(state))) void ask(token);
  }
}

/** With a call and no stream: a stream of turns would end the one of the running bot. */
async function ask(token: string): Promise<void> {
  const before = botStates.peek().get(token);
  const asked = Date.now();
  setState(token, { ...before, asked });
  const state: BotState = await sessions.getMe({}, { headers: { authorization: `Bearer ${token}` } }).then(
    (me) => ({ me, asked }),
    (error: unknown) => ({ me: before?.me, refused: refusal(error), asked }),
  );
  // Removed in the meantime.
  if (!botTokens.peek().includes(token)) return;
  setState(keepLimited(token, state.me?.playToken), state);
}

/** Keeps the play token, if there is one, in place of the token that it is made of. Returns the one that is kept. */
function keepLimited(token: string, playToken: string | undefined): string {
  if (!playToken) return token;
  const others = botTokens.peek().filter((one) => one !== playToken);
  botTokens.value = others.map((one) => (one === token ? playToken : one));
  setState(token, undefined);
  return playToken;
}

function setState(token: string, state: BotState | undefined): void {
  const next = new Map(botStates.peek());
  if (state) next.set(token, state);
  else next.delete(token);
  botStates.value = next;
}

function isTokens(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length <= MOST_BOTS && value.every((one) => typeof one === "string" && isToken(one))
  );
}
