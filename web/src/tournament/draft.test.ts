import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { PlayerKind } from "../gen/reversi/v1/types_pb";
import { fieldOf, FIRST_DRAFT, settingsOf } from "./draft";

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

it("finds the field that the server refuses", () => {
  const paths = ["settings.swiss.rounds", "settings.arena.duration", "settings.move_limit", "settings.seed", undefined];
  expect(paths.map(fieldOf)).toEqual(["rounds", "minutes", "moveSeconds", undefined, undefined]);
});
