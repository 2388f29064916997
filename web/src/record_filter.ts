import type { ParticipantKind } from "./gen/reversi/v1/record_pb";
import type { GameResult } from "./gen/reversi/v1/types_pb";

/** Which finished games are listed; an empty text and 0 do not restrict. */
export interface RecordFilter {
  playerId: string;
  playerName: string;
  kind: ParticipantKind;
  result: GameResult;
  /** The name of an opening. */
  opening: string;
  rated: boolean;
  minRating: number;
  /** The first day, as YYYY-MM-DD. */
  from: string;
  /** The last day, as YYYY-MM-DD. */
  until: string;
}

export const ALL_GAMES: RecordFilter = parseFilter("");

/** The filter of a query like `opening=Tiger&rated=true`. */
export function parseFilter(query: string): RecordFilter {
  const fields = new URLSearchParams(query);
  const field = (name: keyof RecordFilter) => fields.get(name) ?? "";
  return {
    playerId: field("playerId"),
    playerName: field("playerName"),
    kind: whole(field("kind")),
    result: whole(field("result")),
    opening: field("opening"),
    rated: field("rated") !== "",
    minRating: whole(field("minRating")),
    from: day(field("from")),
    until: day(field("until")),
  };
}

/** A query of the fields that are set; empty if none is. */
export function query(fields: object): string {
  const set = Object.entries(fields).filter(([, value]) => Boolean(value));
  return set.length > 0 ? `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}` : "";
}

/** The whole number of a text; 0 if it is none. */
export function whole(text: string | undefined): number {
  return Math.max(0, Math.trunc(Number(text)) || 0);
}

function day(text: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
}
