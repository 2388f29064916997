import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CloseReason } from "../gen/reversi/v1/types_pb";
import { type End, follow, type Line, type Part } from "./reconnecting_stream";

const listeners = new Set<() => void>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", (_: string, listener: () => void) => listeners.add(listener));
  vi.stubGlobal("removeEventListener", (_: string, listener: () => void) => listeners.delete(listener));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Follows streams that are given one after the other; the last one is given again and again. */
function following(...streams: (Part | ConnectError | "silence")[][]) {
  const seen = { opened: 0, parts: [] as (string | undefined)[], lines: [] as Line[], ends: [] as End[] };
  async function* open(signal: AbortSignal): AsyncIterable<Part> {
    const stream = streams[Math.min(seen.opened++, streams.length - 1)] ?? [];
    for (const part of stream) {
      if (part instanceof ConnectError) throw part;
      if (part === "silence") await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal)));
      else yield part;
    }
  }
  const follower = follow({
    open,
    receive: (part) => seen.parts.push(part.case),
    line: (line) => seen.lines.push(line),
    end: (end) => seen.ends.push(end),
  });
  return { seen, follower };
}

const closing = (reason: CloseReason) => ({ case: "closing", value: { reason } });

it("returns after a loss, and less and less often while there is no server", async () => {
  const { seen, follower } = following([{ case: "event" }], [new ConnectError("gone", Code.Unavailable)]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.lines.slice(0, 3)).toEqual(["opening", "open", "lost"]);
  expect(seen.opened).toBeGreaterThan(3);
  expect(seen.opened).toBeLessThan(16);
  follower.stop();
});

it("takes silence for a loss", async () => {
  const { seen, follower } = following([{ case: "event" }, "silence"]);
  await vi.advanceTimersByTimeAsync(24_000);
  expect(seen.opened).toBe(1);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(seen.opened).toBe(2);
  follower.stop();
});

it("tells a server that stops from one that is lost", async () => {
  const { seen, follower } = following([closing(CloseReason.DRAINING)], ["silence"]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(seen.lines).toEqual(["opening", "draining"]);
  expect(seen.opened).toBe(2);
  follower.stop();
});

it("does not return where it is not wanted", async () => {
  const superseded = following([closing(CloseReason.SUPERSEDED)]);
  const unknown = following([new ConnectError("no such room", Code.NotFound)]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([superseded.seen.opened, unknown.seen.opened]).toEqual([1, 1]);
  expect(superseded.seen.ends).toEqual([{ closed: CloseReason.SUPERSEDED }]);
  expect(unknown.seen.ends).toHaveLength(1);
  expect(listeners.size).toBe(0);
});

it("stops for good, and returns at once when the network does", async () => {
  const { seen, follower } = following([new ConnectError("gone", Code.Unavailable)]);
  await vi.advanceTimersByTimeAsync(30_000);
  const before = seen.opened;
  for (const online of listeners) online();
  await vi.advanceTimersByTimeAsync(1);
  expect(seen.opened).toBe(before + 1);
  follower.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen.opened).toBe(before + 1);
});
