import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { TournamentSettingsSchema } from "../gen/reversi/v1/tournament_pb";
import { PlayerKind } from "../gen/reversi/v1/types_pb";

export type FormatKind = "swiss" | "allPlayAll" | "arena";

/** A new tournament as the form shows it, with times in the form's units. */
export interface Draft {
  name: string;
  format: FormatKind;
  rounds: number;
  cycles: number;
  minutes: number;
  /** How many play in the play-off; 0 for none. */
  playoff: number;
  moveSeconds: number;
  totalMinutes: number;
  incrementSeconds: number;
  games: number;
  rated: boolean;
  people: boolean;
  bots: boolean;
  /** 0 for no bound. */
  minRating: number;
  maxRating: number;
  password: string;
}

export const FIRST_DRAFT: Draft = {
  name: "",
  format: "swiss",
  rounds: 5,
  cycles: 1,
  minutes: 60,
  playoff: 0,
  moveSeconds: 0,
  totalMinutes: 5,
  incrementSeconds: 3,
  games: 2,
  rated: false,
  people: true,
  bots: true,
  minRating: 0,
  maxRating: 0,
  password: "",
};

export const PLAYOFFS = [0, 2, 4, 8];

export function settingsOf(draft: Draft): MessageInitShape<typeof TournamentSettingsSchema> {
  const { minRating, maxRating, totalMinutes } = draft;
  const kinds = [...(draft.people ? [PlayerKind.HUMAN] : []), ...(draft.bots ? [PlayerKind.BOT] : [])];
  return {
    name: draft.name.trim(),
    format: formatOf(draft),
    // None can follow an arena.
    playoff: draft.format === "arena" ? 0 : draft.playoff,
    game: {
      moveLimit: durationFromMs(draft.moveSeconds * 1000),
      ...(totalMinutes > 0 && { totalTime: durationFromMs(totalMinutes * 60_000) }),
      ...(totalMinutes > 0 && { increment: durationFromMs(draft.incrementSeconds * 1000) }),
      games: draft.games,
      rated: draft.rated,
    },
    admits: { kinds, minRating, maxRating },
  };
}

function formatOf({
  format,
  rounds,
  cycles,
  minutes,
}: Draft): MessageInitShape<typeof TournamentSettingsSchema>["format"] {
  switch (format) {
    case "swiss":
      return { case: "swiss", value: { rounds } };
    case "allPlayAll":
      return { case: "allPlayAll", value: { cycles } };
    case "arena":
      return { case: "arena", value: { duration: durationFromMs(minutes * 60_000) } };
  }
}

/** The fields of the form by the last part of the path that the server names. */
const FIELDS: Readonly<Record<string, keyof Draft>> = {
  name: "name",
  rounds: "rounds",
  cycles: "cycles",
  duration: "minutes",
  playoff: "playoff",
  move_limit: "moveSeconds",
  total_time: "totalMinutes",
  increment: "incrementSeconds",
  games: "games",
  kinds: "people",
  min_rating: "minRating",
  max_rating: "maxRating",
  password: "password",
};

/** The field of the form that the server refuses, such as `rounds` for "settings.swiss.rounds". */
export function fieldOf(path: string | undefined): keyof Draft | undefined {
  return FIELDS[path?.split(".").at(-1) ?? ""];
}
