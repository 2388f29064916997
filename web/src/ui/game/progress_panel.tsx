import type { Color } from "../../game/board";
import type { Balance } from "../../game/history";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { text } from "../../text/text";
import { Evaluation } from "./evaluation";
import { Graph } from "./balance_graph";

interface CourseProps {
  /** After each ply, and at the start. */
  points: readonly Balance[];
  plies: readonly Ply[];
  names: Record<Color, string>;
  /** How many plies were made on the board that is shown; all unless given. */
  at?: number;
  /** Goes to the board after so many plies. Absent where one only reads. */
  choose?: (at: number) => void;
}

/** How the game goes, for those who do not play it: the latest evaluation, and the graph. */
export function Course({ points, plies, names, at, choose }: CourseProps) {
  return (
    <section class="panel course">
      <h2>{text.value.game.graph}</h2>
      <Evaluation plies={plies.slice(0, at)} names={names} />
      <Graph points={points} {...(at !== undefined && { at })} {...(choose && { choose })} />
    </section>
  );
}
