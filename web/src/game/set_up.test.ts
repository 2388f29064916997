import { expect, test } from "vitest";
import { parseBoard, START } from "./board";
import { boardText } from "./line";
import { EMPTY_BOARD, painted, problemOf } from "./set_up";
import { parseSquare } from "./square";

const at = (name: string) => parseSquare(name) ?? 0;

test("a square changes from empty to black, white and empty again", () => {
  const seen = [0, 1, 2].reduce((boards) => [...boards, painted(boards.at(-1) ?? START, at("a1"), "next")], [START]);
  expect(seen.map((board) => board[0])).toEqual([undefined, "black", "white", undefined]);
});

test("a brush sets its color, whatever the square had", () => {
  const board = painted(START, at("d4"), "black");
  expect(board[at("d4")]).toBe("black");
  expect(painted(board, at("d4"), "empty")[at("d4")]).toBeUndefined();
});

test("positions that no game has are told", () => {
  expect(problemOf(START)).toBeUndefined();
  expect(problemOf(EMPTY_BOARD)).toBe("centre");
  expect(problemOf(painted(START, at("d4"), "empty"))).toBe("centre");
  expect(problemOf(painted(START, at("a1"), "black"))).toBe("apart");
  expect(problemOf(painted(painted(START, at("c3"), "black"), at("b2"), "white"))).toBeUndefined();
  expect(problemOf(parseBoard(boardText(START).replaceAll("O", "X")))).toBe("over");
});
