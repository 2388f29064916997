import { milliseconds } from "../game/clock";
import { CloseReason, type Closing, type Heartbeat } from "../gen/reversi/v1/types_pb";
import { backoff } from "./backoff";
import { type Refusal, passes, refusal } from "./refusal";

/** The part of a stream's message that tells what it is. */
export type Part = { case: string | undefined; value?: unknown };

/** Why a stream is not opened again. */
export type End = { closed: CloseReason } | { refused: Refusal };

/** Whether messages come, or why not. */
export type Line = "opening" | "open" | "lost" | "draining";

export interface Following<P extends Part> {
  /** Opens the stream, anew after each loss. */
  open: (signal: AbortSignal) => AsyncIterable<P>;
  /** Everything but heartbeats and the last message. */
  receive: (part: P) => void;
  line?: (line: Line) => void;
  heartbeat?: (heartbeat: Heartbeat) => void;
  end?: (end: End) => void;
}

/** Ends a stream, or opens it anew at once. */
export interface Follower {
  stop: () => void;
  restart: () => void;
}

/** The server sends heartbeats every 10 s. */
const SILENCE = 25_000;

/** Reads a stream of the server, and opens it again whenever it is lost, until it is stopped or ended for good. */
export function follow<P extends Part>(following: Following<P>): Follower {
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
  const stop = () => {
    stopped = true;
    globalThis.removeEventListener("online", restart);
    restart();
  };
  const heard = () => {
    attempt = 0;
    following.line?.("open");
  };

  const run = async () => {
    following.line?.("opening");
    while (!stopped) {
      current = new AbortController();
      const loss = await read(following, current, heard);
      if (stopped) return;
      if (loss.end) {
        stop();
        return following.end?.(loss.end);
      }
      if (!loss.wanted) following.line?.(loss.draining ? "draining" : "lost");
      await pause(loss.wanted ? 0 : Math.max(loss.after, backoff(attempt++, Math.random())));
    }
  };
  globalThis.addEventListener("online", restart);
  void run();
  return { stop, restart };
}

/** How a stream came to its end. */
interface Loss {
  /** Not to be opened again. */
  end?: End;
  /** It was broken off here. */
  wanted?: boolean;
  draining?: boolean;
  /** When the server thinks it worthwhile to return, in milliseconds. */
  after: number;
}

/** One stream, until its end. */
async function read<P extends Part>(following: Following<P>, abort: AbortController, heard: () => void): Promise<Loss> {
  let silent = false;
  let watch: ReturnType<typeof setTimeout> | undefined;
  const listen = () => {
    clearTimeout(watch);
    watch = setTimeout(() => {
      silent = true;
      abort.abort();
    }, SILENCE);
  };
  listen();
  try {
    for await (const part of following.open(abort.signal)) {
      if (abort.signal.aborted) break;
      listen();
      if (part.case === "closing") return closed(part.value as Closing);
      heard();
      if (part.case === "heartbeat") following.heartbeat?.(part.value as Heartbeat);
      else following.receive(part);
    }
    return { after: 0, wanted: abort.signal.aborted && !silent };
  } catch (error) {
    if (abort.signal.aborted) return { after: 0, wanted: !silent };
    const refused = refusal(error);
    return passes(refused) ? { after: 0, draining: refused.reason === "DRAINING" } : { after: 0, end: { refused } };
  } finally {
    clearTimeout(watch);
    abort.abort();
  }
}

function closed({ reason, retryAfter }: Closing): Loss {
  const after = retryAfter ? milliseconds(retryAfter) : 0;
  switch (reason) {
    case CloseReason.DRAINING:
      return { after, draining: true };
    case CloseReason.SLOW_CONSUMER:
    case CloseReason.UNSPECIFIED:
      return { after };
    default:
      return { after, end: { closed: reason } };
  }
}
