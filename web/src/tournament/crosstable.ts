import type { Meeting } from "../gen/reversi/v1/tournament_pb";
import { hasPoints } from "./words";

/** The points of each entrant against each other one, in halves, by numbers of entrants; absent before the first meeting. */
export type Crosstable = ReadonlyMap<number, ReadonlyMap<number, number>>;

/** The points of all meetings but byes and those of the play-off. */
export function crosstable(meetings: readonly Meeting[]): Crosstable {
  const table = new Map<number, Map<number, number>>();
  const add = (own: number, other: number, points: number) => {
    const row = table.get(own) ?? new Map<number, number>();
    table.set(own, row.set(other, (row.get(other) ?? 0) + points));
  };
  for (const one of meetings) {
    if (one.playoff || !hasPoints(one)) continue;
    add(one.first, one.second, one.firstHalfPoints);
    add(one.second, one.first, one.secondHalfPoints);
  }
  return table;
}
