import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { instant } from "../game/clock";
import type { Heartbeat } from "../gen/reversi/v1/types_pb";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Line } from "../api/reconnecting_stream";

const lines = signal<ReadonlyMap<string, Line>>(new Map());

/** The worst that is true of any stream. */
export const connection = computed<Line>(() => {
  const all = [...lines.value.values()];
  return all.find((line) => line === "draining") ?? all.find((line) => line === "lost") ?? "open";
});

/** Where the stream of this name tells how it is; "open" again when it is given up. */
export function lineOf(name: string): (line: Line) => void {
  return (line) => {
    if (line === "opening" || lines.peek().get(name) === line) return;
    lines.value = new Map([...lines.peek(), [name, line]]);
  };
}

/** Does it when a part of the page appears, and again whenever a lost connection is back. */
export function useWhenOpen(run: () => void): void {
  const open = connection.value === "open";
  useEffect(() => {
    if (open) run();
  }, [open]);
}

let ahead = 0;

/** The server told the time. */
export function setServerTime(at: Timestamp | undefined): void {
  if (at) ahead = instant(at) - Date.now();
}

export function hearTime(heartbeat: Heartbeat): void {
  setServerTime(heartbeat.at);
}

/** The server's time, in milliseconds, as well as it is known. */
export function serverNow(): number {
  return Date.now() + ahead;
}
