import { milliseconds } from "../game/clock";
import { CloseReason, type Closing, type Heartbeat } from "../gen/reversi/v1/types_pb";
import { backoff } from "./backoff";
import { isTransient, type Refusal, refusal } from "./refusal";

/** The `oneof` of a stream's message. */
export type StreamMessage = { case: string | undefined; value?: unknown };

/** Why a stream is not opened again. */
export type StreamEnd = { closed: CloseReason } | { refused: Refusal };

export type StreamState = "opening" | "open" | "lost" | "draining";

export interface StreamOptions<M extends StreamMessage> {
  /** Opens the stream; called again after each loss. */
  open: (signal: AbortSignal) => AsyncIterable<M>;
  /** Called for each message except heartbeats and `closing`. */
  onMessage: (message: M) => void;
  onState?: (state: StreamState) => void;
  onHeartbeat?: (heartbeat: Heartbeat) => void;
  onEnd?: (end: StreamEnd) => void;
  /** Milliseconds without a message after which the stream counts as lost; more than twice the time between heartbeats. */
  silenceLimit?: number;
}

export interface StreamHandle {
  /** Closes the stream for good. */
  stop: () => void;
  /** Closes the stream and opens it again at once. */
  restart: () => void;
}

/** The default of `silenceLimit`: the server sends heartbeats every 10 s, unless it is asked for more. */
const SILENCE_LIMIT = 25_000;

/** What the streams of games ask for, and their limit of silence: a player must know soon that moves do not arrive. */
export const PROMPT = { heartbeatSeconds: 3, silenceLimit: 8_000 };

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
  const opened = () => {
    attempt = 0;
    options.onState?.("open");
  };

  const run = async () => {
    options.onState?.("opening");
    while (!stopped) {
      current = new AbortController();
      const { end, aborted, draining, retryAfter } = await read(options, current, opened);
      if (stopped) return;
      if (end) {
        stop();
        return options.onEnd?.(end);
      }
      if (!aborted) options.onState?.(draining ? "draining" : "lost");
      await pause(aborted ? 0 : Math.max(retryAfter, backoff(attempt++, Math.random())));
    }
  };
  globalThis.addEventListener("online", restart);
  globalThis.addEventListener("offline", lose);
  void run();
  return { stop, restart };
}

/** The reason to abort a connection that is lost, instead of closed by the page. */
const LOST = "lost";

/** How one connection of a stream ended. */
interface Disconnect {
  /** Present if the stream must not be opened again. */
  end?: StreamEnd;
  /** The page closed it. */
  aborted?: boolean;
  draining?: boolean;
  /** The earliest time to reconnect, as the server asks, in milliseconds. */
  retryAfter: number;
}

/** Reads one connection until it ends; `opened` is called after each message. */
async function read<M extends StreamMessage>(
  options: StreamOptions<M>,
  abort: AbortController,
  opened: () => void,
): Promise<Disconnect> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const resetTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(LOST), options.silenceLimit ?? SILENCE_LIMIT);
  };
  resetTimer();
  try {
    for await (const message of options.open(abort.signal)) {
      if (abort.signal.aborted) break;
      resetTimer();
      if (message.case === "closing") return closed(message.value as Closing);
      opened();
      if (message.case === "heartbeat") options.onHeartbeat?.(message.value as Heartbeat);
      else options.onMessage(message);
    }
    return { retryAfter: 0, aborted: isClosed(abort.signal) };
  } catch (error) {
    if (abort.signal.aborted) return { retryAfter: 0, aborted: isClosed(abort.signal) };
    const refused = refusal(error);
    if (!isTransient(refused)) return { retryAfter: 0, end: { refused } };
    return { retryAfter: 0, draining: refused.reason === "DRAINING" };
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** Whether the page closed the connection. */
function isClosed({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason !== LOST;
}

function closed({ reason, retryAfter: delay }: Closing): Disconnect {
  const retryAfter = delay ? milliseconds(delay) : 0;
  switch (reason) {
    case CloseReason.DRAINING:
      return { retryAfter, draining: true };
    case CloseReason.SLOW_CONSUMER:
    case CloseReason.UNSPECIFIED:
      return { retryAfter };
    default:
      return { retryAfter, end: { closed: reason } };
  }
}
