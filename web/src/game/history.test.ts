import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { PlySchema, Side } from "../gen/reversi/v1/types_pb";
import { START } from "./board";
import { balance, history, movesTo } from "./history";
import { squareName } from "./square";

const plies = ["f5", "d6", "c3"].map((square, ply) =>
  create(PlySchema, { ply, square, side: ply % 2 === 0 ? Side.BLACK : Side.WHITE }),
);

describe("history", () => {
  it("has a frame for the start and each ply", () => {
    const frames = history(plies);
    expect(frames).toHaveLength(4);
    expect(frames[0]?.board).toBe(START);
    expect(frames[1]?.flipped.map(squareName)).toEqual(["e5"]);
    expect(frames[3]?.mover).toBe("black");
  });

  it("keeps the board on a pass", () => {
    const pass = create(PlySchema, { ply: 0, side: Side.BLACK, pass: true });
    const frames = history([pass]);
    expect(frames[1]).toEqual({ board: START, mover: "black", flipped: [] });
  });

  it("balances black minus white", () => {
    expect(history(plies).map(balance)).toEqual([
      { discs: 0, mobility: 0 },
      { discs: 3, mobility: 0 },
      { discs: 0, mobility: 1 },
      { discs: 3, mobility: 0 },
    ]);
  });
});

it("writes the moves up to a ply, without passes", () => {
  const pass = create(PlySchema, { ply: 3, side: Side.WHITE, pass: true });
  expect(movesTo([...plies, pass], 2)).toBe("f5d6");
  expect(movesTo([...plies, pass], 4)).toBe("f5d6c3");
});
