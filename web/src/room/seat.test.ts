import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { SeatSchema } from "../gen/reversi/v1/types_pb";
import { isOwner, watching } from "./seat";

const player = (present: boolean) => create(SeatSchema, { occupant: { case: "player", value: {} }, present });
const ai = create(SeatSchema, { occupant: { case: "ai", value: { kind: "random" } }, present: true });

it("counts as watching who is not a present player", () => {
  expect(watching(3, [player(true), player(true)])).toBe(1);
  expect(watching(3, [player(true), player(false)])).toBe(2);
  expect(watching(3, [player(true), ai])).toBe(2);
  expect(watching(0, [player(true), ai])).toBe(0);
});

it("says that a room without an owner is not a visitor's", () => {
  expect(isOwner({ ownerId: "1" }, "1")).toBe(true);
  expect(isOwner({ ownerId: "" }, "")).toBe(false);
});
