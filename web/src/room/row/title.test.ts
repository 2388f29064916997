import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { RoomSummarySchema } from "../../gen/reversi/v1/lobby_pb";
import { RoomSchema } from "../../gen/reversi/v1/types_pb";
import { en } from "../../text/en";
import { roomTitle, rowTitle } from "./title";

const player = { playerId: "1", displayName: "ada" };
const ada = { occupant: { case: "player" as const, value: player } };
const open = { occupant: { case: "open" as const, value: {} } };
const kept = { occupant: { case: "reserved" as const, value: { playerId: "2", displayName: "bob" } } };
const ai = { occupant: { case: "ai" as const, value: { kind: "mcts", level: 3 } } };

it("names a room without a name of its own after its players, the owner first", () => {
  const title = (name: string, ...seats: (typeof ada | typeof open | typeof kept | typeof ai)[]) =>
    rowTitle(en, create(RoomSummarySchema, { name, ownerName: "ada", seats }));
  expect(title("ada", open, ada)).toBe("ada against anyone");
  expect(title("ada", ada, kept)).toBe("ada against bob");
  expect(title("ada", ada, ai)).toBe("ada against mcts 3");
  expect(title("ada", ai, open)).toBe("mcts 3 against anyone");
  expect(title("Sunday Cup", ada, open)).toBe("Sunday Cup");

  const room = { settings: { name: "ada" }, ownerId: "1", seats: [ada, open], members: [{ player }] };
  expect(roomTitle(en, create(RoomSchema, room))).toBe("ada against anyone");
});
