import type { Thought } from "../gen/reversi/v1/types_pb";
import { language, text } from "../text/text";

/** What an AI made of the game when it moved: who is ahead, how far it looked, and what it expects. */
export function Evaluation({ thought }: { thought: Thought }) {
  const { game, side } = text.value;
  const { evaluation, depth, nodes, principalVariation } = thought;
  const by = Math.abs(evaluation ?? 0).toFixed(1);
  const ahead = (evaluation ?? 0) > 0 ? side.black : side.white;
  const words = Number(by) === 0 ? game.even : game.ahead(ahead, by);
  const details = [
    depth > 0 ? game.depth(depth) : "",
    nodes > 0n ? game.nodes(nodes.toLocaleString(language.value)) : "",
  ].filter((part) => part);
  return (
    <div class="evaluation">
      {evaluation !== undefined && (
        <div class="evaluation-bar" role="img" aria-label={`${game.evaluation}: ${words}`}>
          <span style={{ width: `${share(evaluation)}%` }} />
        </div>
      )}
      <p>
        {evaluation !== undefined && <strong>{words}</strong>} <span class="muted">{details.join(", ")}</span>
      </p>
      {principalVariation.length > 0 && (
        <p class="line">
          <span class="muted">{game.line}</span> {principalVariation.join(" ")}
        </p>
      )}
    </div>
  );
}

/** Black's part of the bar, in percent: clear for small leads, and never quite full. */
function share(evaluation: number): number {
  return 50 + 48 * Math.tanh(evaluation / 16);
}
