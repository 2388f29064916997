import type { Duration } from "@bufbuild/protobuf/wkt";
import { milliseconds } from "../game/clock";
import type { Texts } from "../text/en";

/** The clock of a room, as its settings have it. */
export type TimeSettings = Partial<Record<"totalTime" | "moveLimit" | "increment", Duration | undefined>>;

/** The time control of a room, in words. */
export function timeControlText(texts: Texts, settings: TimeSettings): string {
  const { room } = texts;
  const parts: string[] = [];
  if (settings.totalTime) parts.push(room.total(timeText(texts, settings.totalTime), increment(texts, settings)));
  if (settings.moveLimit && milliseconds(settings.moveLimit) > 0)
    parts.push(room.perMove(timeText(texts, settings.moveLimit)));
  return parts.join(", ") || room.unlimited;
}

function increment(texts: Texts, { increment }: TimeSettings): string {
  return increment && milliseconds(increment) > 0 ? timeText(texts, increment) : "";
}

/** "30 s", "5 min", "1:30 min" or "24 h". */
export function timeText({ room: { seconds, minutes, hours } }: Texts, duration: Duration): string {
  const all = milliseconds(duration) / 1000;
  if (all < 60) return seconds(`${Math.round(all * 10) / 10}`);
  if (all % 3600 === 0) return hours(`${all / 3600}`);
  const rest = Math.round(all % 60);
  const whole = `${Math.floor(all / 60)}`;
  return minutes(rest ? `${whole}:${String(rest).padStart(2, "0")}` : whole);
}
