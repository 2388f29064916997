import { count, flips } from "./board";
import { type Line, played } from "./line";
import type { Square } from "./square";

/** What happened in a guided game since the learner's last move. */
export type Remark = "turned" | "tookCorner" | "lostCorner" | "whitePassed" | "youPassed" | "won" | "lost" | "drawn";

export const CORNERS: readonly Square[] = [0, 7, 56, 63];

/** The line after the learner's move and the opponent's answers, with what is most worth a remark. */
export function guided(line: Line, square: Square): { line: Line; turned: number; remark: Remark } {
  const turned = flips(line.board, "black", square).length;
  let next = played(line, square);
  let remark: Remark = CORNERS.includes(square) ? "tookCorner" : "turned";
  if (next.mover === "black") remark = "whitePassed";
  for (let answers = 0; next.mover === "white"; answers++) {
    if (answers > 0) remark = "youPassed";
    const answer = weakMove(next);
    if (CORNERS.includes(answer)) remark = "lostCorner";
    next = played(next, answer);
  }
  if (!next.mover) remark = outcome(next);
  return { line: next, turned, remark };
}

function outcome({ board }: Line): Remark {
  const lead = count(board, "black") - count(board, "white");
  return lead > 0 ? "won" : lead < 0 ? "lost" : "drawn";
}

/** A weak move that a beginner can beat: the one that turns most discs, the first of them. */
function weakMove({ board, legal }: Line): Square {
  const turns = (square: Square) => flips(board, "white", square).length;
  return legal.reduce((best, square) => (turns(square) > turns(best) ? square : best), legal[0] ?? 0);
}
