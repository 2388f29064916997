import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { RoomSummarySchema } from "../gen/reversi/v1/lobby_pb";
import { RoomPhase } from "../gen/reversi/v1/types_pb";
import { isLive, rowState } from "./row_state";

const player = (present: boolean) => ({
  occupant: { case: "player" as const, value: { displayName: "ada" } },
  present,
});
const open = { occupant: { case: "open" as const, value: {} } };
const ai = { occupant: { case: "ai" as const, value: { kind: "mcts", level: 1 } } };

it("tells what a room waits for", () => {
  const row = (phase: RoomPhase, seats: (typeof ai | typeof open | ReturnType<typeof player>)[], finished = false) => {
    const room = create(RoomSummarySchema, { phase, seats, finished });
    return [rowState(room), isLive(room)];
  };
  expect(row(RoomPhase.LOBBY, [player(true), open])).toEqual(["waiting", true]);
  expect(row(RoomPhase.PLAYING, [player(true), player(false)])).toEqual(["playing", true]);
  expect(row(RoomPhase.PLAYING, [ai, ai])).toEqual(["playing", true]);
  expect(row(RoomPhase.PLAYING, [player(false), ai])).toEqual(["abandoned", false]);
  expect(row(RoomPhase.LOBBY, [player(true), ai], true)).toEqual(["finished", false]);
  expect(row(RoomPhase.LOBBY, [player(true), open], true)).toEqual(["waiting", true]);
});
