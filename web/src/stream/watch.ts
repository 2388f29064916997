import type { StreamEnd, StreamMessage, StreamState } from "../api/reconnecting_stream";
import type { Heartbeat } from "../gen/reversi/v1/types_pb";
import { ALIVE, type Port, RENEWAL, type Report, type Watched, type Wish } from "./watched";

interface Watcher<M> {
  /** `first` tells whether this tab is the one to announce it, of all tabs of the browser. */
  onMessage: (message: M, first: boolean) => void;
  onState?: (state: StreamState) => void;
  onHeartbeat?: (heartbeat: Heartbeat) => void;
  onEnd?: (end: StreamEnd) => void;
}

/** So many wishes without an answer, and the hub counts as dead. */
const MOST_UNANSWERED = 3;

const watchers = new Map<number, { watched: Watched; on: Watcher<StreamMessage> }>();
let next = 0;
let port: Port | undefined;
let unanswered = 0;
let failures = 0;
let usedAt = Date.now();

/** Watches something by the hub that all tabs of the browser share. Returns a function that stops it. */
export function watch<M extends StreamMessage>(watched: Watched, on: Watcher<M>): () => void {
  const id = next++;
  // The source of each kind of `watched` has messages of one type.
  watchers.set(id, { watched, on: on as Watcher<StreamMessage> });
  tell();
  return () => {
    if (watchers.delete(id)) tell();
  };
}

/** Waits for a place among the connections of the browser, for a stream of the tab's own. Returns a function that frees it. */
export function place(signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve) => {
    const onState = () => resolve(stop);
    const stop = watch(
      { kind: "place", id: crypto.getRandomValues(new Uint32Array(2)).join() },
      { onMessage, onState },
    );
    signal.addEventListener("abort", () => {
      stop();
      resolve(stop);
    });
  });
}

function onMessage(): void {}

let pending = false;

/** Tells the hub what is watched, once for all changes of a moment. */
function tell(): void {
  if (!port) start();
  if (pending) return;
  pending = true;
  queueMicrotask(() => {
    pending = false;
    port?.postMessage(wish());
  });
}

/** A hidden tab needs only the player's events; its analysis goes on. */
function wish(): Wish {
  const { hidden } = document;
  const entries = [...watchers].map(([id, { watched }]) => [id, watched] as const);
  const needed = entries.filter(([, { kind }]) => !hidden || kind === "turns" || kind === "place");
  return { watched: new Map(needed), hidden, usedAt };
}

function receive({ data }: MessageEvent<Report | typeof ALIVE>): void {
  unanswered = failures = 0;
  if (data === ALIVE) return;
  const on = watchers.get(data.id)?.on;
  if (data.state) on?.onState?.(data.state);
  if (data.heartbeat) on?.onHeartbeat?.(data.heartbeat);
  if (data.message) on?.onMessage(data.message, data.first ?? false);
  if (data.end) {
    watchers.delete(data.id);
    on?.onEnd?.(data.end);
  }
}

function start(): void {
  connect();
  setInterval(renew, RENEWAL);
  document.addEventListener("visibilitychange", use);
  addEventListener("focus", use);
  addEventListener("pageshow", use);
  addEventListener("pagehide", leave);
}

function use(): void {
  if (!document.hidden) usedAt = Date.now();
  tell();
}

function leave(): void {
  port?.postMessage({ watched: new Map(), hidden: true, usedAt } satisfies Wish);
}

function renew(): void {
  if (++unanswered > MOST_UNANSWERED) {
    leave();
    unanswered = 0;
    // The browser may have ended the worker; another begins then.
    if (failures++ === 0) connect();
    else void connectToOwn();
  }
  tell();
}

function connect(): void {
  try {
    const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "reversi" });
    worker.onerror = () => void connectToOwn();
    listen(worker.port);
  } catch {
    // No shared workers in this browser, or none for a frame without an origin.
    port = { postMessage: () => {}, onmessage: null };
    void connectToOwn();
  }
}

async function connectToOwn(): Promise<void> {
  // Where it cannot be loaded now, the hub stays dead, and this is tried again.
  const own = await import("./own_hub").catch(() => undefined);
  if (!own) return;
  listen(own.connectOwnHub());
  tell();
}

function listen(to: Port): void {
  port = to;
  port.onmessage = receive;
}
