import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { StreamCall, StreamMessage } from "../api/reconnecting_stream";
import { Hub, PLACES, type Places } from "./hub";
import type { Source, sourceOf } from "./source";
import { ALIVE, type Port, type Report, type Watched } from "./watched";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const TURNS: Watched = { kind: "turns", token: "ada" };
const room = (roomId: string): Watched => ({ kind: "room", roomId, password: "" });
const board = (roomId: string): Watched => ({ kind: "board", roomId });

/** A hub whose server tells of each stream its snapshot, and then what `send` says. */
function start(places: Places = PLACES) {
  const open = new Map<string, (message: StreamMessage) => void>();
  const seen = { opened: [] as string[], most: 0, dead: new Set<string>() };
  const sourceFor = (watched: Watched): Source => {
    const name = "roomId" in watched ? watched.roomId : watched.kind;
    let kept: StreamMessage = { case: "snapshot", value: 0 };
    return {
      async *open({ signal, onHeader }: StreamCall) {
        if (signal.aborted) return;
        seen.opened.push(name);
        const queue = [kept];
        let wake = () => {};
        open.set(name, (message) => {
          queue.push(message);
          wake();
        });
        seen.most = Math.max(seen.most, open.size);
        signal.addEventListener("abort", () => {
          open.delete(name);
          wake();
        });
        if (seen.dead.has(name)) await new Promise((_, reject) => signal.addEventListener("abort", reject));
        onHeader();
        while (!signal.aborted) {
          for (const message of queue.splice(0)) yield message;
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
      take: (message) => {
        kept = { case: "snapshot", value: message.value };
        return false;
      },
      kept: () => [kept],
      refresh: () => {},
      isOwnGame: () => name === "own",
    };
  };
  const others = { postMessage: () => {}, onmessage: null as (() => void) | null };
  const hub = new Hub(sourceFor as typeof sourceOf, places, others as unknown as BroadcastChannel);
  const send = (name: string, value: unknown) => open.get(name)?.({ case: "event", value });
  return { hub, open, seen, send, others };
}

/** A tab that watches what `wish` says. */
function tab(hub: Hub) {
  const got: Report[] = [];
  const port: Port = { postMessage: (report) => report !== ALIVE && got.push(report as Report), onmessage: null };
  hub.connect(port);
  const wish = async (watched: Record<number, Watched>, { hidden = false } = {}) => {
    const ids = Object.entries(watched).map(([id, one]) => [Number(id), one] as const);
    const data = { watched: new Map(ids), hidden, usedAt: Date.now() };
    port.onmessage?.({ data } as MessageEvent);
    await vi.advanceTimersByTimeAsync(1);
  };
  const values = () => got.flatMap(({ message }) => (message ? [message.value] : []));
  return { got, values, wish };
}

it("reads what several tabs watch once, and tells a later tab the present state", async () => {
  const { hub, seen, open, send } = start();
  const [first, second] = [tab(hub), tab(hub)];
  await first.wish({ 1: TURNS, 2: room("a") });
  send("a", 7);
  await second.wish({ 1: TURNS, 2: room("a") });
  expect(seen.opened).toEqual(["turns", "a"]);
  expect(second.values()).toContain(7);
  await first.wish({});
  expect(open.size).toBe(2);
  await second.wish({});
  expect(open.size).toBe(0);
});

it("lets one tab announce an event: the last that the player turned to, of those that are seen", async () => {
  const { hub, send } = start();
  const [hidden, seen, used] = [tab(hub), tab(hub), tab(hub)];
  await seen.wish({ 1: TURNS });
  await used.wish({ 1: TURNS });
  await hidden.wish({ 1: TURNS }, { hidden: true });
  const announcers = () =>
    [hidden, seen, used].map(({ got }) => got.splice(0).some(({ message, first }) => message?.value === 1 && first));
  send("turns", 1);
  await vi.advanceTimersByTimeAsync(1);
  expect(announcers()).toEqual([false, false, true]);
  await used.wish({});
  await seen.wish({});
  await hidden.wish({ 1: TURNS }, { hidden: true });
  send("turns", 1);
  await vi.advanceTimersByTimeAsync(1);
  expect(announcers()).toEqual([true, false, false]);
});

it("keeps at most three streams and one glance open, however much is watched", async () => {
  const { hub, seen, open, send } = start();
  const tabs = Array.from({ length: 8 }, () => tab(hub));
  for (const [index, { wish }] of tabs.entries()) {
    await wish({ 1: TURNS, 2: room(`${index}`), 3: board(`board ${index}`), 4: { kind: "place", id: `${index}` } });
  }
  await tabs[0]?.wish({ 1: TURNS, 4: { kind: "place", id: "0" }, 5: room("own") });
  // All are looked at every two seconds.
  seen.opened = [];
  await vi.advanceTimersByTimeAsync(2_100);
  expect(new Set(seen.opened).size).toBe(14);
  expect(seen.most).toBeLessThanOrEqual(4);
  // The player's events and game stay open. The third place is for an analysis, and the others wait.
  expect(open.size).toBeLessThanOrEqual(3);
  expect([...open.keys()].slice(0, 2)).toEqual(["turns", "own"]);
  send("own", 5);
  await vi.advanceTimersByTimeAsync(1);
  expect(tabs[0]?.values()).toContain(5);
  const granted = tabs.filter(({ got }) => got.some(({ id, state }) => id === 4 && state === "open"));
  expect(granted).toHaveLength(1);
});

it("closes what a tab watched that is silent for minutes, and not before", async () => {
  const { hub, open } = start();
  await tab(hub).wish({ 1: TURNS });
  await vi.advanceTimersByTimeAsync(150_000);
  expect(open.size).toBe(1);
  await vi.advanceTimersByTimeAsync(150_000);
  expect(open.size).toBe(0);
});

it("does not open again what has ended, until the tab watches it anew", async () => {
  const { hub, seen, send, open } = start();
  const { got, wish } = tab(hub);
  await wish({ 1: TURNS });
  open.get("turns")?.({ case: "closing", value: { reason: 4 } });
  await vi.advanceTimersByTimeAsync(1);
  expect(got.at(-1)?.end).toEqual({ closed: 4 });
  await wish({ 1: TURNS });
  send("turns", 1);
  expect(seen.opened).toEqual(["turns"]);
  await wish({ 2: TURNS });
  expect(seen.opened).toEqual(["turns", "turns"]);
});

it("tells a lost server from a browser with too many connections", async () => {
  const { hub, seen, others } = start();
  seen.dead.add("turns");
  const { got, wish } = tab(hub);
  const states = () => got.splice(0).flatMap(({ state }) => state ?? []);
  await wish({ 1: TURNS });
  await vi.advanceTimersByTimeAsync(8_000);
  expect(states()).toEqual(["opening", "lost", "lost"]);
  // Another hub of the browser has a connection.
  const heard = setInterval(() => others.onmessage?.(), 1_000);
  await vi.advanceTimersByTimeAsync(20_000);
  clearInterval(heard);
  expect(states()).toContain("crowded");
});
