import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { instant } from "../game/clock";
import type { Heartbeat } from "../gen/reversi/v1/types_pb";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { StreamState } from "../api/reconnecting_stream";
import { offline } from "./page/offline";

const streams = signal<ReadonlyMap<string, StreamState>>(new Map());

/** The worst state of any stream. Without a network all are lost, whether they know it or not. */
export const connection = computed(() => {
  const states = [...streams.value.values()];
  if (offline.value && states.length > 0) return "lost";
  return (["draining", "crowded", "lost"] as const).find((state) => states.includes(state)) ?? "open";
});

/** Returns a function that records the state of the named stream: "stopped" when it is needed no more. */
export function streamStateOf(name: string): (state: StreamState | "stopped") => void {
  return (state) => {
    if (state === "opening" || streams.peek().get(name) === state) return;
    const next = new Map(streams.peek());
    if (state === "stopped") next.delete(name);
    else next.set(name, state);
    streams.value = next;
  };
}

/** Calls `run` when the component mounts, and again whenever a lost connection is back. */
export function useWhenConnected(run: () => void): void {
  const open = connection.value === "open";
  useEffect(() => {
    if (open) run();
  }, [open]);
}

/** Waits for `time`, in milliseconds, or until a lost connection is back. */
export function pauseOrConnected(time: number): Promise<void> {
  return new Promise((resolve) => {
    let lost = false;
    const done = () => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(done, time);
    const stop = connection.subscribe((state) => {
      if (lost && state === "open") setTimeout(done);
      lost ||= state !== "open";
    });
  });
}

/** The server's clock minus this one, in milliseconds. */
let clockOffset = 0;

export function setServerTime(at: Timestamp | undefined): void {
  if (at) clockOffset = instant(at) - Date.now();
}

export function onHeartbeat(heartbeat: Heartbeat): void {
  setServerTime(heartbeat.at);
}

/** An estimate of the server's time, in milliseconds. */
export function serverNow(): number {
  return Date.now() + clockOffset;
}
