import { describe, expect, it } from "vitest";
import {
  type Board,
  type Color,
  count,
  flips,
  isOver,
  legalMoves,
  opposite,
  parseBoard,
  place,
  START,
  unpackBoard,
} from "./board";
import { parseSquare, SQUARES, squareName } from "./square";

const at = (name: string) => parseSquare(name) ?? -1;

describe("squares", () => {
  it("convert to names and back", () => {
    for (const square of SQUARES) expect(parseSquare(squareName(square))).toBe(square);
    expect([squareName(0), squareName(7), squareName(63)]).toEqual(["a1", "h1", "h8"]);
  });

  it("reject malformed names", () => {
    for (const name of ["", "d", "i1", "a9", "a0", "d33"]) expect(parseSquare(name)).toBeUndefined();
  });
});

describe("moves", () => {
  it("flip the enclosed discs in all directions", () => {
    expect(legalMoves(START, "black").map(squareName)).toEqual(["d3", "c4", "f5", "e6"]);
    expect(flips(START, "black", at("d3")).map(squareName)).toEqual(["d4"]);
    const star = ["X--X--X-", "-O-O-O--", "--OOO---", "XOO-OOOX", "--OOO---", "-O-O-O--", "X--O--X-", "---X----"];
    expect(flips(parseBoard(star.join("")), "black", at("d4"))).toHaveLength(18);
  });

  it("are illegal on an occupied square or without a flip", () => {
    expect(flips(START, "black", at("d4"))).toEqual([]);
    expect(flips(START, "black", at("e3"))).toEqual([]);
  });

  // Known perft counts.
  it("match the known perft counts", () => {
    const leaves = (board: Board, color: Color, depth: number): number =>
      depth === 0
        ? 1
        : legalMoves(board, color)
            .map((move) => leaves(place(board, color, move), opposite(color), depth - 1))
            .reduce((sum, more) => sum + more, 0);
    expect([1, 2, 3, 4, 5].map((depth) => leaves(START, "black", depth))).toEqual([4, 12, 56, 244, 1396]);
  });

  it("place one disc and flip", () => {
    const after = place(START, "black", at("f5"));
    expect([count(after, "black"), count(after, "white")]).toEqual([4, 1]);
  });
});

describe("boards", () => {
  it("unpack from two bitboards", () => {
    expect(unpackBoard((1n << 28n) | (1n << 35n), (1n << 27n) | (1n << 36n))).toEqual(START);
    expect(unpackBoard(1n << 63n, 1n)).toEqual(parseBoard(`O${"-".repeat(62)}X`));
  });

  it("are over if neither side can move", () => {
    expect(isOver(START)).toBe(false);
    expect(isOver(parseBoard(`XX${"-".repeat(62)}`))).toBe(true);
  });
});
