import type { Color } from "../../game/board";
import { colorOf } from "../../game/history";
import type { Ply } from "../../gen/reversi/v1/types_pb";
import { language, text } from "../../text/text";

/**
 * The AIs' view of the game after these plies: the latest evaluation, and depth, nodes and expected line of the latest move.
 * Not every AI has an evaluation; the last one stays until there is another.
 */
export function Evaluation({ plies, names }: { plies: readonly Ply[]; names: Record<Color, string> }) {
  const { game, side, event } = text.value;
  const judge = plies.findLast((ply) => ply.thought?.evaluation !== undefined);
  const thinker = plies.findLast((ply) => ply.thought);
  if (!thinker?.thought) return null;
  const { depth, nodes, principalVariation } = thinker.thought;
  const evaluation = judge?.thought?.evaluation ?? 0;
  const by = Math.abs(evaluation).toFixed(1);
  const words = Number(by) === 0 ? game.even : game.ahead(evaluation > 0 ? side.black : side.white, by);
  const details = [
    depth > 0 ? game.depth(depth) : "",
    nodes > 0n ? game.nodes(nodes.toLocaleString(language.value)) : "",
  ].filter((part) => part);
  const said = (ply: Ply, what: string) => event.said(names[colorOf(ply.side) ?? "black"], what);
  return (
    <div class="evaluation">
      {judge && (
        <>
          <div class="evaluation-bar" role="img" aria-label={`${game.evaluation}: ${words}`}>
            <span style={{ width: `${share(evaluation)}%` }} />
          </div>
          <p class="evaluation-text">
            <strong>{said(judge, words)}</strong>
          </p>
        </>
      )}
      <p class="evaluation-text muted">{said(thinker, details.join(", "))}</p>
      <p class="line">
        <span class="muted">{game.line}</span> {principalVariation.join(" ")}
      </p>
    </div>
  );
}

/** Black's share of the bar, in percent: 2 to 98, steepest near an even game. */
function share(evaluation: number): number {
  return 50 + 48 * Math.tanh(evaluation / 16);
}
