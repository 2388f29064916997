import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { RoomSummarySchema } from "../../gen/reversi/v1/lobby_pb";
import { RoomPhase } from "../../gen/reversi/v1/types_pb";
import { ENDED_SHOWN, isLive, type ListedRooms, rowState, updateListed } from "./row_state";

const player = (present: boolean) => ({
  occupant: { case: "player" as const, value: { displayName: "ada" } },
  present,
});
const open = { occupant: { case: "open" as const, value: {} } };
const ai = { occupant: { case: "ai" as const, value: { kind: "mcts", level: 1 } } };

it("derives the state of a room from its row", () => {
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

it("keeps a finished room in the list for a short time", () => {
  const seats = [player(true), ai];
  const playing = create(RoomSummarySchema, { roomId: "a", phase: RoomPhase.PLAYING, seats });
  const finished = create(RoomSummarySchema, { roomId: "a", phase: RoomPhase.LOBBY, seats, finished: true });
  const ids = (listed: ListedRooms) => [...listed.keys()];
  const live = updateListed(new Map(), [playing], 0);
  expect(live.get("a")).toEqual({ row: playing });
  const ended = updateListed(live, [finished], 10);
  expect(ended.get("a")).toEqual({ row: finished, until: 10 + ENDED_SHOWN });
  expect(updateListed(ended, [finished], 20)).toEqual(ended);
  const gone = updateListed(ended, [finished], 10 + ENDED_SHOWN);
  expect(ids(gone)).toEqual([]);
  // It does not come back, and what was over before the list was opened is not shown.
  expect(ids(updateListed(gone, [finished], 20 + ENDED_SHOWN))).toEqual([]);
  expect(updateListed(ended, [playing], 20)).toEqual(live);
  expect(ids(updateListed(ended, [], 20))).toEqual([]);
});
