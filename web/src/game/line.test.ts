import { expect, it } from "vitest";
import { isOver } from "./board";
import { lineOfAddress, lineText, NO_MOVES, parseLine, played, positions, undone } from "./line";
import { parseSquare } from "./square";

it("plays legal moves and stops before the first other text", () => {
  expect(lineText(parseLine("f5D6c3"))).toBe("f5d6c3");
  expect(lineText(parseLine("f5f5d6"))).toBe("f5");
  expect(lineText(parseLine("nonsense"))).toBe("");
  expect(parseLine("f5").mover).toBe("white");
});

it("passes where a side cannot move, and ends where neither can", () => {
  let line = NO_MOVES;
  let passes = 0;
  while (line.mover) {
    const next = played(line, line.legal[0] ?? 0);
    if (next.mover === line.mover) passes++;
    line = next;
  }
  expect(isOver(line.board)).toBe(true);
  expect(passes).toBeGreaterThan(0);
  const wiped = parseLine("e6f4e3f6g5d6e7f5c5");
  expect(wiped.mover).toBeUndefined();
  expect(wiped.legal).toEqual([]);
  expect(played(wiped, 0)).toBe(wiped);
});

it("has the positions on its way", () => {
  const line = parseLine("f5d6");
  expect(positions(line).map(lineText)).toEqual(["", "f5", "f5d6"]);
  expect(positions(line).at(-1)).toEqual(line);
});

it("takes moves back", () => {
  const line = parseLine("f5d6");
  expect(lineText(undone(line))).toBe("f5");
  expect(undone(NO_MOVES).squares).toEqual([]);
  expect(played(undone(line), parseSquare("d6") ?? 0).board).toEqual(line.board);
});

it("tells which part of an address it cannot read", () => {
  const read = (start: string, moves: string) => {
    const { line, unread } = lineOfAddress(start, moves);
    return [lineText(line), unread];
  };
  expect(read("", "f5D6")).toEqual(["f5d6", ""]);
  expect(read("", "f5a1c3")).toEqual(["f5", "a1c3"]);
  expect(read("", "f5d")).toEqual(["f5", "d"]);
  expect(read("nonsense", "f5")).toEqual(["", "nonsense"]);
});
