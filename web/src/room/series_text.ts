import { type Room, RoomPhase } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";
import { havePlayed, namesOf } from "./seat";

/** Who won the series, once it is over; empty otherwise. */
export function seriesText(texts: Texts, room: Room): string {
  const [black, white] = room.seats;
  const games = room.settings?.games ?? 1;
  const over = games > 1 && room.phase === RoomPhase.LOBBY && havePlayed(room);
  if (!over || !black || !white) return "";
  const { result } = texts;
  const names = namesOf(texts, room);
  const draws = black.draws / 2;
  const [one, other] = [black.wins + draws, white.wins + draws];
  const [most, least] = [Math.max(one, other), Math.min(one, other)].map(pointsText) as [string, string];
  // The server counts all games of these two, also those of an earlier series.
  const first = one + other <= games;
  if (one === other) return first ? result.seriesDrawn(most) : result.allDrawn(most);
  const name = one > other ? names.black : names.white;
  return first ? result.seriesWon(name, most, least) : result.allWon(name, most, least);
}

/** "2", "2½" or "½". */
function pointsText(points: number): string {
  const whole = Math.floor(points);
  return `${whole || points === 0 ? whole : ""}${points > whole ? "½" : ""}`;
}
