import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { TournamentSettingsSchema } from "../gen/reversi/v1/tournament_pb";
import { PlayerKind } from "../gen/reversi/v1/types_pb";
import { draftOf, fieldOf, FIRST_DRAFT, settingsOf } from "./draft";

it("sends what the form shows", () => {
  const swiss = settingsOf({ ...FIRST_DRAFT, name: " Evening ", playoff: 4, bots: false });
  expect(swiss).toMatchObject({ name: "Evening", format: { case: "swiss", value: { rounds: 5 } }, playoff: 4 });
  expect(swiss.admits?.kinds).toEqual([PlayerKind.HUMAN]);
  expect(swiss.game).toMatchObject({ totalTime: durationFromMs(300_000), increment: durationFromMs(3000), games: 2 });
  const arena = settingsOf({ ...FIRST_DRAFT, format: "arena", minutes: 90, playoff: 4, totalMinutes: 0 });
  expect(arena).toMatchObject({
    format: { case: "arena", value: { duration: durationFromMs(5_400_000) } },
    playoff: 0,
  });
  expect(arena.game?.totalTime).toBeUndefined();
});

it("shows settings as they are, and keeps what it does not show", () => {
  const opening = { opening: { case: "random" as const, value: { plies: 6 } } };
  const drafts = [
    { ...FIRST_DRAFT, name: "Cup", playoff: 4, startsAt: "2026-12-24T18:00", maxRunning: 7, noShowSeconds: 90 },
    { ...FIRST_DRAFT, name: "Cup", byeAi: { kind: "expert", level: 3 }, bots: false, minRating: 1400, rated: true },
    { ...FIRST_DRAFT, name: "Night", format: "arena" as const, minutes: 90, totalMinutes: 0, moveSeconds: 5 },
  ];
  for (const draft of drafts) {
    const settings = create(TournamentSettingsSchema, settingsOf(draft));
    // The level of an AI is all that counts.
    expect(draftOf(settings)).toMatchObject({ ...draft, incrementSeconds: draft.totalMinutes > 0 ? 3 : 0 });
  }
  const gauntlet = create(TournamentSettingsSchema, {
    name: "Test",
    format: { case: "allPlayAll", value: { cycles: 2, challengerIds: ["a"] } },
    game: { games: 100, opening },
    sprt: { elo0: 0, elo1: 10 },
  });
  const changed = create(TournamentSettingsSchema, settingsOf({ ...draftOf(gauntlet), cycles: 3 }, gauntlet));
  expect(changed).toMatchObject({
    format: { case: "allPlayAll", value: { cycles: 3, challengerIds: ["a"] } },
    game: { games: 100, opening },
    sprt: { elo0: 0, elo1: 10 },
  });
});

it("finds the field that the server refuses", () => {
  const paths = ["settings.swiss.rounds", "settings.arena.duration", "settings.move_limit", "settings.seed", undefined];
  expect(paths.map(fieldOf)).toEqual(["rounds", "minutes", "moveSeconds", undefined, undefined]);
});
