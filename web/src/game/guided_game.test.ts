import { expect, it } from "vitest";
import { isOver } from "./board";
import { CORNERS, guided, type Remark } from "./guided_game";
import { NO_MOVES } from "./line";

it("answers every move until the game is over, and remarks on what matters", () => {
  const remarks = new Set<Remark>();
  for (const take of [0, 1, 2]) {
    let line = NO_MOVES;
    while (line.mover) {
      const corner = line.legal.find((square) => CORNERS.includes(square));
      const square = corner ?? line.legal[take % line.legal.length] ?? 0;
      const { remark, turned, line: next } = guided(line, square);
      expect(turned).toBeGreaterThan(0);
      expect(next.mover).not.toBe("white");
      if (corner !== undefined && remark === "turned") expect.fail("a corner is worth a remark");
      remarks.add(remark);
      line = next;
    }
    expect(isOver(line.board)).toBe(true);
  }
  expect(remarks).toContain("turned");
  expect(remarks).toContain("tookCorner");
  expect([...remarks].some((remark) => ["won", "lost", "drawn"].includes(remark))).toBe(true);
});
