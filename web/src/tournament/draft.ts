import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { instant, milliseconds } from "../game/clock";
import type { TournamentSettings, TournamentSettingsSchema } from "../gen/reversi/v1/tournament_pb";
import { PlayerKind } from "../gen/reversi/v1/types_pb";
import type { Ai } from "../room/opponent";

export type FormatKind = "swiss" | "allPlayAll" | "arena";

/** The settings of a tournament as the form shows it, with times in the form's units. */
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
  /** Local date and time, such as "2026-12-24T18:00"; empty if the organiser starts it. */
  startsAt: string;
  maxEntrants: number;
  maxRunning: number;
  noShowSeconds: number;
  /** Plays the entrant with a bye. */
  byeAi: Ai | undefined;
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
  startsAt: "",
  maxEntrants: 128,
  maxRunning: 64,
  noShowSeconds: 60,
  byeAi: undefined,
};

export const PLAYOFFS = [0, 2, 4, 8];

/** What the form shows of the settings of a tournament. */
export function draftOf({ format, game, admits, ...settings }: TournamentSettings): Draft {
  const { kinds = [], minRating = 0, maxRating = 0 } = admits ?? {};
  return {
    ...FIRST_DRAFT,
    name: settings.name,
    format: format.case ?? FIRST_DRAFT.format,
    ...(format.case === "swiss" && { rounds: format.value.rounds }),
    ...(format.case === "allPlayAll" && { cycles: format.value.cycles }),
    ...(format.case === "arena" && format.value.duration && { minutes: milliseconds(format.value.duration) / 60_000 }),
    playoff: settings.playoff,
    moveSeconds: game?.moveLimit ? milliseconds(game.moveLimit) / 1000 : 0,
    totalMinutes: game?.totalTime ? milliseconds(game.totalTime) / 60_000 : 0,
    incrementSeconds: game?.increment ? milliseconds(game.increment) / 1000 : 0,
    games: game?.games ?? FIRST_DRAFT.games,
    rated: game?.rated ?? false,
    people: kinds.includes(PlayerKind.HUMAN),
    bots: kinds.includes(PlayerKind.BOT),
    minRating,
    maxRating,
    startsAt: settings.startsAt ? localTime(new Date(instant(settings.startsAt))) : "",
    maxEntrants: settings.maxEntrants,
    maxRunning: settings.maxRunning,
    noShowSeconds: settings.noShow ? milliseconds(settings.noShow) / 1000 : FIRST_DRAFT.noShowSeconds,
    byeAi: settings.fillsBye,
  };
}

/** As a field for a local date and time has it. */
function localTime(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Settings for the server. What the form does not show stays as it is in `kept`. */
export function settingsOf(draft: Draft, kept?: TournamentSettings): MessageInitShape<typeof TournamentSettingsSchema> {
  const { minRating, maxRating, totalMinutes, byeAi } = draft;
  const { $typeName, moveLimit, totalTime, increment, ...game } = kept?.game ?? { $typeName: undefined };
  const kinds = [...(draft.people ? [PlayerKind.HUMAN] : []), ...(draft.bots ? [PlayerKind.BOT] : [])];
  return {
    name: draft.name.trim(),
    format: formatOf(draft, kept),
    // None can follow an arena.
    playoff: draft.format === "arena" ? 0 : draft.playoff,
    game: {
      ...game,
      moveLimit: durationFromMs(draft.moveSeconds * 1000),
      ...(totalMinutes > 0 && { totalTime: durationFromMs(totalMinutes * 60_000) }),
      ...(totalMinutes > 0 && { increment: durationFromMs(draft.incrementSeconds * 1000) }),
      games: draft.games,
      rated: draft.rated,
    },
    admits: { kinds, minRating, maxRating },
    ...(draft.startsAt && { startsAt: timestampFromDate(new Date(draft.startsAt)) }),
    maxEntrants: draft.maxEntrants,
    maxRunning: draft.maxRunning,
    noShow: durationFromMs(draft.noShowSeconds * 1000),
    ...(draft.format === "swiss" && byeAi && { fillsBye: { kind: byeAi.kind, level: byeAi.level } }),
    ...(draft.format === "allPlayAll" && kept?.sprt && { sprt: kept.sprt }),
  };
}

function formatOf(
  { format, rounds, cycles, minutes }: Draft,
  kept: TournamentSettings | undefined,
): MessageInitShape<typeof TournamentSettingsSchema>["format"] {
  const challengerIds = kept?.format.case === "allPlayAll" ? kept.format.value.challengerIds : [];
  switch (format) {
    case "swiss":
      return { case: "swiss", value: { rounds } };
    case "allPlayAll":
      return { case: "allPlayAll", value: { cycles, challengerIds } };
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
  starts_at: "startsAt",
  max_entrants: "maxEntrants",
  max_running: "maxRunning",
  no_show: "noShowSeconds",
  fills_bye: "byeAi",
};

/** The field of the form that the server refuses, such as `rounds` for "settings.swiss.rounds". */
export function fieldOf(path: string | undefined): keyof Draft | undefined {
  return FIELDS[path?.split(".").at(-1) ?? ""];
}
