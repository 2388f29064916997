import { expect, it } from "vitest";
import { boardText, lineFrom, lineText, NO_MOVES, parseLine, parseStart, startText } from "./line";
import { parsePasted } from "./paste";

const AFTER = parseLine("f5d6");

it("reads boards in the usual letters", () => {
  const text = boardText(AFTER.board);
  for (const pasted of [text, text.replaceAll("X", "*").replaceAll("-", "."), text.match(/.{8}/g)?.join("\n") ?? ""]) {
    const line = parsePasted(pasted);
    expect(line && boardText(line.board)).toBe(text);
    expect(line?.mover).toBe("black");
  }
  expect(parsePasted(`${text} O`)?.mover).toBe("white");
});

it("reads moves and GGF", () => {
  expect(lineText(parsePasted("F5 d6 c3") ?? NO_MOVES)).toBe("f5d6c3");
  expect(lineText(parsePasted("1. f5 2. d6") ?? NO_MOVES)).toBe("f5d6");
  const ggf =
    "(;GM[Othello]PC[GGS]PB[ada]PW[bob]TY[8]RE[+4]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5//1.2]W[d6];)";
  expect(lineText(parsePasted(ggf) ?? NO_MOVES)).toBe("f5d6");
});

it("refuses everything else", () => {
  for (const pasted of ["", "hello", "f5f5", "-".repeat(64), "X".repeat(63), "f5".repeat(20_000)])
    expect(parsePasted(pasted), pasted.slice(0, 20)).toBeUndefined();
});

it("writes a start and reads it again", () => {
  expect(startText(NO_MOVES.start)).toBe("");
  const start = { board: AFTER.board, mover: "white" as const };
  expect(parseStart(startText(start))).toEqual(start);
  expect(lineFrom(start).mover).toBe("white");
  for (const wrong of ["X", "-".repeat(65), `${boardText(AFTER.board)}-`]) expect(parseStart(wrong)).toBeUndefined();
});
