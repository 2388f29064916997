import { create, equals, fromBinary, toJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RoomEventSchema, WatchRoomResponseSchema } from "../gen/reversi/v1/room_pb";
import { type Room, RoomPhase, RoomSchema } from "../gen/reversi/v1/types_pb";
import { apply } from "./apply";
import histories from "./histories.txt?raw";

const room = create(RoomSchema, { seq: 4n, phase: RoomPhase.LOBBY, members: [{ player: { playerId: "p1" } }] });

function joined(seq: bigint) {
  const member = { player: { playerId: "p2" } };
  return create(RoomEventSchema, { seq, event: { case: "memberJoined", value: { member } } });
}

describe("the sequence", () => {
  it("advances by one event", () => {
    const applied = apply(room, joined(5n));
    expect(applied?.seq).toBe(5n);
    expect(applied?.members).toHaveLength(2);
    expect(room.members).toHaveLength(1);
  });

  it("ignores a known event and stops at a gap", () => {
    expect(apply(room, joined(4n))).toBe(room);
    expect(apply(room, joined(6n))).toBeUndefined();
  });
});

/** The messages recorded by `tests/core/apply.rs`, which fails if the server sends different ones. */
function messages() {
  return histories
    .trim()
    .split("\n")
    .map((line) => Uint8Array.from(line.match(/../g) ?? [], (byte) => parseInt(byte, 16)))
    .map((bytes) => fromBinary(WatchRoomResponseSchema, bytes).message);
}

it("gives what a fresh snapshot has, after every event of the recorded histories", () => {
  let applied: Room | undefined;
  let last: string | undefined;
  let [compared, kinds] = [0, new Set<string | undefined>()];
  for (const message of messages()) {
    if (message.case === "event" && applied) {
      last = message.value.event.case;
      kinds.add(last);
      applied = apply(applied, message.value);
    } else if (message.case === "snapshot") {
      if (last && (!applied || !equals(RoomSchema, applied, message.value))) {
        expect(applied && toJson(RoomSchema, applied), last).toEqual(toJson(RoomSchema, message.value));
        expect.fail(`differs after ${last}`);
      }
      compared += last ? 1 : 0;
      [applied, last] = [message.value, undefined];
    }
  }
  expect(compared).toBeGreaterThan(300);
  expect(kinds.size).toBeGreaterThan(17);
});
