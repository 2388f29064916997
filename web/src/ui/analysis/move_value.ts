import type { Color } from "../../game/board";
import { parseSquare, type Square } from "../../game/square";
import type { AnalysisLine } from "../../gen/reversi/v1/analysis_pb";

/** The value of each analysed move for the side to move, by square. */
export function moveValues(lines: readonly AnalysisLine[], mover: Color): ReadonlyMap<Square, string> {
  const values = lines.map(({ moves, evaluation }) => {
    const value = mover === "black" ? evaluation : -evaluation;
    return [parseSquare(moves[0] ?? ""), signed(value)] as const;
  });
  return new Map(values.flatMap(([square, value]) => (square === undefined ? [] : [[square, value] as const])));
}

/** "+1.5", "−12" or "0.0": a difference of discs in few characters. */
export function signed(value: number): string {
  const rounded = Math.abs(value) < 9.95 ? Math.abs(value).toFixed(1) : Math.round(Math.abs(value)).toString();
  return `${value < -0.05 ? "−" : value > 0.05 ? "+" : ""}${rounded}`;
}
