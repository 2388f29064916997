import type { Duration } from "@bufbuild/protobuf/wkt";
import { milliseconds } from "../game/clock";
import type { RoomSettings } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";

/** The time control of a room, in words. */
export function pace(texts: Texts, settings: RoomSettings): string {
  const { room } = texts;
  const parts: string[] = [];
  if (settings.totalTime) parts.push(room.total(span(settings.totalTime), increment(settings)));
  if (settings.moveLimit && milliseconds(settings.moveLimit) > 0) parts.push(room.perMove(span(settings.moveLimit)));
  return parts.join(", ") || room.unlimited;
}

function increment({ increment }: RoomSettings): string {
  return increment && milliseconds(increment) > 0 ? span(increment) : "";
}

/** "30 s", "5 min", "1:30 min" or "24 h". */
function span(duration: Duration): string {
  const seconds = milliseconds(duration) / 1000;
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.round(seconds % 60);
  return rest ? `${minutes}:${String(rest).padStart(2, "0")} min` : `${minutes} min`;
}
