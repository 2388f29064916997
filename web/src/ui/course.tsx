import { balance, type Frame } from "../game/history";
import type { Ply } from "../gen/reversi/v1/types_pb";
import { text } from "../text/text";
import { Evaluation } from "./evaluation";
import { Graph } from "./graph";

/** How the game goes, for those who do not play it: the latest evaluation, and the graph. */
export function Course({ frames, plies }: { frames: readonly Frame[]; plies: readonly Ply[] }) {
  const { game } = text.value;
  const thought = plies.findLast((ply) => ply.thought)?.thought;
  return (
    <section class="panel course">
      <h2>{game.graph}</h2>
      {thought && <Evaluation thought={thought} />}
      <Graph points={frames.map(balance)} />
    </section>
  );
}
