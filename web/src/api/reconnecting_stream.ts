import { milliseconds } from "../game/clock";
import { CloseReason, type Closing, type Heartbeat } from "../gen/reversi/v1/types_pb";
import { backoff } from "./backoff";
import { isTransient, type Refusal, refusal } from "./refusal";

/** The `oneof` of a stream's message. */
export type StreamMessage = { case: string | undefined; value?: unknown };

/** Why a stream is not opened again. */
export type StreamEnd = { closed: CloseReason } | { refused: Refusal };

/** `unanswered`: again, the server has not even begun to answer. `crowded`: so many streams are open that this one cannot be. */
export type StreamState = "opening" | "open" | "lost" | "draining" | "unanswered" | "crowded";

/** Options of the call that opens a stream. Without a time limit of the call's own. */
export interface StreamCall {
  signal: AbortSignal;
  onHeader: () => void;
  timeoutMs: 0;
}

export interface StreamOptions<M extends StreamMessage> {
  /** Opens the stream; called again after each loss. */
  open: (call: StreamCall) => AsyncIterable<M>;
  /** Called for each message except heartbeats and `closing`. */
  onMessage: (message: M) => void;
  /** Told "open" once for each time that it opens, before the first message. */
  onState?: (state: StreamState) => void;
  onHeartbeat?: (heartbeat: Heartbeat) => void;
  onEnd?: (end: StreamEnd) => void;
  /** Milliseconds without a message after which the stream counts as lost; twice the time between heartbeats. */
  silenceLimit?: number;
}

export interface StreamHandle {
  /** Closes the stream for good. */
  stop: () => void;
  /** Closes the stream and opens it again at once. */
  restart: () => void;
}

/** The default of `silenceLimit`: the server sends heartbeats every 10 s, unless it is asked for more. */
const SILENCE_LIMIT = 20_000;

/** What the streams of games ask for, and their limit of silence: a player must know soon that moves do not arrive. */
export const PROMPT = { heartbeatSeconds: 3, silenceLimit: 6_000 };

const FIRST_PATIENCE = 2_000;
const LAST_PATIENCE = 16_000;

/**
 * How long attempt number `attempt` (the first is 0) waits for an answer to begin, in milliseconds. Short at first, since a
 * browser may send it on a connection that is dead without notice: then the next one goes on another.
 */
export function patience(attempt: number): number {
  return Math.min(LAST_PATIENCE, FIRST_PATIENCE * 2 ** attempt);
}

/** Reads a server stream and reopens it after each loss, until it is stopped or the server ends it for good. */
export function reconnectingStream<M extends StreamMessage>(options: StreamOptions<M>): StreamHandle {
  let stopped = false;
  let attempt = 0;
  let current = new AbortController();
  let wake: () => void = () => {};

  const pause = (time: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, time);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const restart = () => {
    attempt = 0;
    current.abort();
    wake();
  };
  // Without a network nothing arrives, and a connection tells it only much later.
  const lose = () => current.abort(LOST);
  const stop = () => {
    stopped = true;
    globalThis.removeEventListener("online", restart);
    globalThis.removeEventListener("offline", lose);
    restart();
  };
  const received = () => (attempt = 0);

  const run = async () => {
    options.onState?.("opening");
    while (!stopped) {
      current = new AbortController();
      const { end, aborted, state = "lost", retryAfter } = await read(options, current, patience(attempt), received);
      if (stopped) return;
      if (end) {
        stop();
        return options.onEnd?.(end);
      }
      // Once may be a dead connection.
      if (!aborted) options.onState?.(state === "unanswered" && attempt === 0 ? "lost" : state);
      await pause(aborted ? 0 : Math.max(retryAfter, backoff(attempt++, Math.random())));
    }
  };
  globalThis.addEventListener("online", restart);
  globalThis.addEventListener("offline", lose);
  void run();
  return { stop, restart };
}

/** The reasons to abort a connection that is lost, instead of closed by the page: there is no network, or no message. */
const LOST = "lost";
const SILENT = "silent";

/** How one connection of a stream ended. */
interface Disconnect {
  /** Present if the stream must not be opened again. */
  end?: StreamEnd;
  /** The page closed it. */
  aborted?: boolean;
  /** Present unless it was lost or closed. */
  state?: StreamState;
  /** The earliest time to reconnect, as the server asks, in milliseconds. */
  retryAfter: number;
}

/** Reads one connection until it ends; its answer must begin within `limit` milliseconds. `received` is called after each message. */
async function read<M extends StreamMessage>(
  options: StreamOptions<M>,
  abort: AbortController,
  limit: number,
  received: () => void,
): Promise<Disconnect> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let answered = false;
  const expectWithin = (time: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(SILENT), time);
  };
  const onAnswer = () => {
    expectWithin(options.silenceLimit ?? SILENCE_LIMIT);
    if (!answered) options.onState?.("open");
    answered = true;
  };
  expectWithin(limit);
  try {
    for await (const message of options.open({ signal: abort.signal, onHeader: onAnswer, timeoutMs: 0 })) {
      if (abort.signal.aborted) break;
      if (message.case === "closing") return closed(message.value as Closing);
      onAnswer();
      received();
      if (message.case === "heartbeat") options.onHeartbeat?.(message.value as Heartbeat);
      else options.onMessage(message);
    }
    return interrupted(abort.signal, answered);
  } catch (error) {
    if (abort.signal.aborted) return interrupted(abort.signal, answered);
    const refused = refusal(error);
    if (!isTransient(refused)) return { retryAfter: 0, end: { refused } };
    if (refused.reason === "DRAINING") return { retryAfter: 0, state: "draining" };
    return { retryAfter: 0, ...(refused.reason === "QUOTA_STREAMS" && { state: "crowded" as const }) };
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

function interrupted({ aborted, reason }: AbortSignal, answered: boolean): Disconnect {
  if (aborted && reason !== LOST && reason !== SILENT) return { retryAfter: 0, aborted };
  return { retryAfter: 0, ...(!answered && reason === SILENT && { state: "unanswered" as const }) };
}

function closed({ reason, retryAfter: delay }: Closing): Disconnect {
  const retryAfter = delay ? milliseconds(delay) : 0;
  switch (reason) {
    case CloseReason.DRAINING:
      return { retryAfter, state: "draining" };
    case CloseReason.SLOW_CONSUMER:
    case CloseReason.UNAVAILABLE:
    // The refusal of the next one says why.
    case CloseReason.BANNED:
    case CloseReason.UNSPECIFIED:
      return { retryAfter };
    default:
      return { retryAfter, end: { closed: reason } };
  }
}
