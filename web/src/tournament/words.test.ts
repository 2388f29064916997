import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import {
  EntrantFault,
  EntrantState,
  MeetingSchema,
  MeetingState,
  StandingSchema,
  TournamentPhase,
  TournamentSchema,
  TournamentSettingsSchema,
} from "../gen/reversi/v1/tournament_pb";
import { OpponentsSchema, PlayerKind } from "../gen/reversi/v1/types_pb";
import { en } from "../text/en";
import { ja } from "../text/ja";
import { zh } from "../text/zh";
import {
  admitsText,
  eloText,
  entrantStateText,
  formatText,
  gamesOf,
  isJoinable,
  isOver,
  phaseText,
  pointsText,
  sprtText,
} from "./words";

const time = (at: number) => `T${at / 1000}`;

it("writes points in halves", () => {
  expect([0, 1, 2, 3, 15].map(pointsText)).toEqual(["0", "½", "1", "1½", "7½"]);
});

it("writes Elo with its error", () => {
  const elo = (elo: number) => eloText(create(StandingSchema, { elo: { elo, error: 85 } }));
  expect([elo(120), elo(-7), elo(0)]).toEqual(["+120 ± 85", "−7 ± 85", "0 ± 85"]);
  expect(eloText(create(StandingSchema, { elo: { elo: 191, error: 2 ** 31 - 1 } }))).toBe("+191 ± ∞");
  expect(eloText(create(StandingSchema))).toBe("");
});

it("writes the state of a test with its bounds", () => {
  const sprt = { llr: 1.2, lowerBound: -2.944, upperBound: 2.944 };
  expect(sprtText(create(StandingSchema, { sprt }))).toBe("LLR +1.20 (−2.94, +2.94)");
  expect(sprtText(create(StandingSchema))).toBe("");
});

it("tells the format in words", () => {
  const words = (value: Parameters<typeof create<typeof TournamentSettingsSchema>>[1], texts = en) =>
    formatText(texts, create(TournamentSettingsSchema, value));
  const swiss = { format: { case: "swiss" as const, value: { rounds: 7 } } };
  expect(words(swiss)).toBe("Swiss, 7 rounds");
  expect(words({ ...swiss, playoff: 4 })).toBe("Swiss, 7 rounds, play-off of the best 4");
  expect(words({ format: { case: "swiss", value: { rounds: 0 } }, playoff: 8 })).toBe("play-off of the best 8");
  expect(words({ format: { case: "allPlayAll", value: { cycles: 1 } } })).toBe("All-play-all");
  expect(words({ format: { case: "allPlayAll", value: { cycles: 2 } } })).toBe("All-play-all, 2 cycles");
  const gauntlet = { cycles: 1, challengerIds: ["a", "b"] };
  expect(words({ format: { case: "allPlayAll", value: gauntlet } })).toBe("2 challengers meet all others");
  expect(words({ format: { case: "arena", value: { duration: durationFromMs(5_400_000) } } })).toBe("Arena, 90 min");
  expect(words({ format: { case: "arena", value: { duration: durationFromMs(0) } } })).toBe("Arena without an end");
  expect([words(swiss, ja), words(swiss, zh)]).toEqual(["スイス式、7 回戦", "瑞士制，7 轮"]);
});

it("tells who may join", () => {
  const words = (kinds: PlayerKind[], minRating = 0, maxRating = 0) =>
    admitsText(en, create(OpponentsSchema, { kinds, minRating, maxRating }));
  expect(words([PlayerKind.HUMAN, PlayerKind.BOT])).toBe("For people and bots");
  expect(words([PlayerKind.BOT])).toBe("For bots");
  expect(words([PlayerKind.HUMAN], 1400)).toBe("For people, rating at least 1400");
  expect(words([PlayerKind.HUMAN], 0, 1700)).toBe("For people, rating at most 1700");
  expect(words([PlayerKind.HUMAN], 1400, 1700)).toBe("For people, rating 1400 to 1700");
});

it("tells the phase with the round", () => {
  const words = (value: Parameters<typeof create<typeof TournamentSchema>>[1]) =>
    phaseText(en, create(TournamentSchema, value), time);
  expect(words({ phase: TournamentPhase.OPEN })).toBe("Open for entrants");
  const startsAt = timestampFromMs(5000);
  expect(words({ phase: TournamentPhase.OPEN, settings: { startsAt } })).toBe("Starts T5");
  expect(words({ phase: TournamentPhase.RUNNING, round: 2, rounds: 7 })).toBe("Round 2 of 7");
  const arena = { case: "arena" as const, value: { duration: durationFromMs(60_000) } };
  expect(words({ phase: TournamentPhase.RUNNING, startedAt: startsAt, settings: { format: arena } })).toBe(
    "Running until T65",
  );
  const pool = { case: "arena" as const, value: { duration: durationFromMs(0) } };
  expect(words({ phase: TournamentPhase.RUNNING, startedAt: startsAt, settings: { format: pool } })).toBe("Running");
  expect(words({ phase: TournamentPhase.PLAYOFF, round: 1, rounds: 7 })).toBe("Play-off, round 1");
  expect(words({ phase: TournamentPhase.CANCELLED })).toBe("Cancelled");
});

it("knows when nobody can join any more", () => {
  const of = (phase: TournamentPhase, format: "swiss" | "allPlayAll") =>
    create(TournamentSchema, { phase, settings: { format: { case: format, value: {} } } });
  expect(isJoinable(of(TournamentPhase.OPEN, "allPlayAll"))).toBe(true);
  expect(isJoinable(of(TournamentPhase.RUNNING, "allPlayAll"))).toBe(false);
  expect(isJoinable(of(TournamentPhase.PAUSED, "swiss"))).toBe(true);
  expect(isJoinable(of(TournamentPhase.PLAYOFF, "swiss"))).toBe(false);
  expect([TournamentPhase.PLAYOFF, TournamentPhase.STOPPED].map((phase) => isOver({ phase }))).toEqual([false, true]);
});

it("tells the state of an entrant", () => {
  const words = (value: Parameters<typeof create<typeof StandingSchema>>[1]) =>
    entrantStateText(en, create(StandingSchema, value), time);
  expect(words({ state: EntrantState.IN })).toBe("");
  expect(words({ state: EntrantState.AWAY })).toBe("Away");
  const aside = { putAsideUntil: timestampFromMs(9000), putAsideFor: EntrantFault.TIMEOUT };
  expect(words({ state: EntrantState.PUT_ASIDE, ...aside })).toBe("Put aside until T9: out of time");
});

it("names the games of a meeting that was played", () => {
  const meeting = create(MeetingSchema, { roomId: "r", state: MeetingState.PLAYED, firstDiscs: 100, secondDiscs: 28 });
  expect(gamesOf(meeting)).toEqual(["r-1", "r-2"]);
  expect(gamesOf({ ...meeting, state: MeetingState.FORFEITED })).toEqual([]);
});
