import type { Refusal } from "../../api/refusal";
import type { Color } from "../../game/board";
import type { Line } from "../../game/line";
import type { AnalysisState } from "../../state/stream/position_analysis";
import { refusalText, text } from "../../text/text";
import { signed } from "./move_value";

interface AnalysisResultProps {
  line: Line;
  state: AnalysisState;
  play: (variation: string[]) => void;
}

/** The value of the position, the depth that the server has reached, and the best variations. */
export function AnalysisResult({ line, state: { analysis, busy, refused }, play }: AnalysisResultProps) {
  const { analysis: texts, side } = text.value;
  if (!line.mover) return <p>{texts.over}</p>;
  const best = analysis?.lines[0];
  const said = refused ? whyNot(refused) : busy ? texts.waiting : best ? "" : texts.thinking;
  if (!best) return <p role="status">{said}</p>;
  const { evaluation, depth, exact } = best;
  const leader: Color = evaluation >= 0 ? "black" : "white";
  return (
    <>
      {said && <p role="status">{said}</p>}
      <h2>
        {Math.abs(evaluation) < 0.05 ? texts.even : texts.value(side[leader], signed(Math.abs(evaluation)).slice(1))}
      </h2>
      <p class="muted">{exact ? texts.exact : texts.depth(depth)}</p>
      <h3>{texts.best}</h3>
      <ol class="variations">
        {analysis.lines.map(({ moves, evaluation: value }, rank) => (
          <li key={rank}>
            <strong class="numbers">{signed(line.mover === "black" ? value : -value)}</strong>{" "}
            {moves.map((move, at) => (
              <button key={at} type="button" class="small quiet" onClick={() => play(moves.slice(0, at + 1))}>
                {move}
              </button>
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}

function whyNot(refused: Refusal): string {
  return refused.reason === "WRONG_PHASE" ? text.value.analysis.ratedGame : refusalText(text.value, refused);
}
