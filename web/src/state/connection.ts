import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { instant } from "../game/clock";
import type { Heartbeat } from "../gen/reversi/v1/types_pb";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { StreamState } from "../api/reconnecting_stream";

const streams = signal<ReadonlyMap<string, StreamState>>(new Map());

/** The worst state of any stream. */
export const connection = computed<StreamState>(() => {
  const states = [...streams.value.values()];
  return states.find((state) => state === "draining") ?? states.find((state) => state === "lost") ?? "open";
});

/** Returns a function that records the state of the named stream. A stream that is stopped must be set to "open". */
export function streamStateOf(name: string): (state: StreamState) => void {
  return (state) => {
    if (state === "opening" || streams.peek().get(name) === state) return;
    streams.value = new Map([...streams.peek(), [name, state]]);
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
