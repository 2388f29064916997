import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { Clocks } from "../gen/reversi/v1/types_pb";
import type { Color } from "./board";

/** What a clock shows, in milliseconds; undefined without such a clock. */
export interface ClockFace {
  /** Time left for the game. */
  total?: number;
  /** Time left for the move. */
  move?: number;
}

export function milliseconds(duration: Duration): number {
  return Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}

export function instant(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1000 + timestamp.nanos / 1e6;
}

/**
 * The clock at the server's time `now`. The time elapsed since the clocks were sent follows from the deadline, which is
 * later than the time left suggests while an AI pauses before its move.
 */
export function clockFace(clocks: Clocks, color: Color, mover: Color | undefined, now: number): ClockFace {
  const sent = color === "black" ? clocks.blackTotal : clocks.whiteTotal;
  const total = sent && milliseconds(sent);
  if (color !== mover || !clocks.timeLeft || !clocks.deadline) return total === undefined ? {} : { total };
  const left = milliseconds(clocks.timeLeft);
  const elapsed = Math.max(0, left - (instant(clocks.deadline) - now));
  const move = Math.max(0, left - elapsed);
  return total === undefined ? { move } : { move, total: Math.max(0, total - elapsed) };
}

/** "1:05:09", "4:31", or "0:07.4" below `URGENT`. */
export function clockText(left: number): string {
  const urgent = left < URGENT;
  const shown = urgent ? Math.floor(left / 100) / 10 : Math.ceil(left / 1000);
  const seconds = shown % 60;
  const minutes = Math.floor(shown / 60) % 60;
  const hours = Math.floor(shown / 3600);
  const tail = urgent ? seconds.toFixed(1).padStart(4, "0") : String(seconds).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** Below this, in milliseconds, a clock shows tenths and is highlighted. */
export const URGENT = 10_000;
