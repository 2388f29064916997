import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CloseReason } from "../gen/reversi/v1/types_pb";
import {
  type StreamEnd,
  PROMPT,
  reconnectingStream,
  type StreamCall,
  type StreamMessage,
  type StreamState,
} from "./reconnecting_stream";

const listeners = new Map<string, Set<() => void>>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", (name: string, listener: () => void) =>
    listeners.set(name, (listeners.get(name) ?? new Set()).add(listener)),
  );
  vi.stubGlobal("removeEventListener", (name: string, listener: () => void) => listeners.get(name)?.delete(listener));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

type Step = StreamMessage | ConnectError | "header" | "silence";

/** Reads the given streams one after the other; the last one is repeated. */
function readStreams(...streams: Step[][]) {
  return readWith({}, ...streams);
}

function readWith(options: { silenceLimit?: number }, ...streams: Step[][]) {
  const seen = {
    opened: 0,
    messages: [] as (string | undefined)[],
    states: [] as StreamState[],
    ends: [] as StreamEnd[],
  };
  async function* open({ signal, onHeader }: StreamCall): AsyncIterable<StreamMessage> {
    const stream = streams[Math.min(seen.opened++, streams.length - 1)] ?? [];
    for (const message of stream) {
      if (message instanceof ConnectError) throw message;
      if (message === "header") onHeader();
      else if (message === "silence")
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal)));
      else yield message;
    }
  }
  const handle = reconnectingStream({
    open,
    onMessage: (message) => seen.messages.push(message.case),
    onState: (state) => seen.states.push(state),
    onEnd: (end) => seen.ends.push(end),
    ...options,
  });
  return { seen, handle };
}

function fire(name: string): void {
  for (const listener of listeners.get(name) ?? []) listener();
}

const closing = (reason: CloseReason) => ({ case: "closing", value: { reason } });

it("reopens after a loss, with growing delays while the server is unavailable", async () => {
  const { seen, handle } = readStreams([{ case: "event" }], [new ConnectError("unavailable", Code.Unavailable)]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.states.slice(0, 3)).toEqual(["opening", "open", "lost"]);
  expect(seen.opened).toBeGreaterThan(3);
  expect(seen.opened).toBeLessThan(16);
  handle.stop();
});

it("treats 20 s without a message as a loss", async () => {
  const { seen, handle } = readStreams([{ case: "event" }, "silence"]);
  await vi.advanceTimersByTimeAsync(19_900);
  expect(seen.opened).toBe(1);
  await vi.advanceTimersByTimeAsync(600);
  expect(seen.opened).toBe(2);
  handle.stop();
});

it("notices a silence sooner where a stream asks for it", async () => {
  const { seen, handle } = readWith({ silenceLimit: PROMPT.silenceLimit }, [{ case: "event" }, "silence"]);
  await vi.advanceTimersByTimeAsync(5_900);
  expect(seen.states).toEqual(["opening", "open"]);
  await vi.advanceTimersByTimeAsync(100);
  expect(seen.states).toEqual(["opening", "open", "lost"]);
  expect(PROMPT.silenceLimit).toBe(2 * 1_000 * PROMPT.heartbeatSeconds);
  handle.stop();
});

it("leaves a dead connection soon, and waits longer for each further one", async () => {
  const { seen, handle } = readWith({ silenceLimit: PROMPT.silenceLimit }, ["silence"]);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(seen.opened).toBe(2);
  // The second is given twice the time.
  await vi.advanceTimersByTimeAsync(3_500);
  expect(seen.opened).toBe(2);
  expect(seen.states).toEqual(["opening", "lost"]);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(seen.opened).toBe(3);
  expect(seen.states).toEqual(["opening", "lost", "unanswered"]);
  handle.stop();
});

it("is open when the answer begins, before the first message", async () => {
  const { seen, handle } = readStreams(["header", "silence"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen.states).toEqual(["opening", "open"]);
  handle.stop();
});

it("reports a draining server differently from a lost one", async () => {
  const { seen, handle } = readStreams([closing(CloseReason.DRAINING)], ["silence"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(seen.states).toEqual(["opening", "draining"]);
  expect(seen.opened).toBe(2);
  handle.stop();
});

it("does not reopen after a final close or refusal", async () => {
  const superseded = readStreams([closing(CloseReason.SUPERSEDED)]);
  const unknown = readStreams([new ConnectError("no such room", Code.NotFound)]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([superseded.seen.opened, unknown.seen.opened]).toEqual([1, 1]);
  expect(superseded.seen.ends).toEqual([{ closed: CloseReason.SUPERSEDED }]);
  expect(unknown.seen.ends).toHaveLength(1);
  for (const set of listeners.values()) expect(set.size).toBe(0);
});

it("learns from the next refusal why it is banned", async () => {
  const { seen } = readStreams([closing(CloseReason.BANNED)], [new ConnectError("spam", Code.PermissionDenied)]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.opened).toBe(2);
  expect(seen.ends).toMatchObject([{ refused: { message: "spam" } }]);
});

it("reopens at once when the network is back, and not after stop", async () => {
  const { seen, handle } = readStreams([new ConnectError("unavailable", Code.Unavailable)]);
  await vi.advanceTimersByTimeAsync(30_000);
  const before = seen.opened;
  fire("online");
  await vi.advanceTimersByTimeAsync(1);
  expect(seen.opened).toBe(before + 1);
  handle.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.opened).toBe(before + 1);
});

it("takes the loss of the network for a loss at once", async () => {
  const { seen, handle } = readStreams([{ case: "event" }, "silence"]);
  await vi.advanceTimersByTimeAsync(100);
  fire("offline");
  await vi.advanceTimersByTimeAsync(1);
  expect(seen.states).toEqual(["opening", "open", "lost"]);
  handle.stop();
});
