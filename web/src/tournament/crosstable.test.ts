import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { type Meeting, MeetingSchema, MeetingState } from "../gen/reversi/v1/tournament_pb";
import { crosstable } from "./crosstable";

const meeting = (value: Parameters<typeof create<typeof MeetingSchema>>[1]): Meeting =>
  create(MeetingSchema, { first: 1, second: 2, state: MeetingState.PLAYED, ...value });

it("adds up the points of all cycles, without byes and the play-off", () => {
  const table = crosstable([
    meeting({ firstHalfPoints: 3, secondHalfPoints: 1 }),
    meeting({ first: 2, second: 1, firstHalfPoints: 4 }),
    meeting({ second: 3, state: MeetingState.FORFEITED, secondHalfPoints: 4 }),
    meeting({ first: 3, state: MeetingState.RUNNING }),
    meeting({ second: 0, state: MeetingState.BYE, firstHalfPoints: 4 }),
    meeting({ playoff: true, firstHalfPoints: 4 }),
  ]);
  expect([table.get(1)?.get(2), table.get(2)?.get(1)]).toEqual([3, 5]);
  expect([table.get(1)?.get(3), table.get(3)?.get(1)]).toEqual([0, 4]);
  expect([table.get(2)?.get(3), table.get(1)?.get(0)]).toEqual([undefined, undefined]);
});
