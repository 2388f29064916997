import { type GameAnalysisState, MISTAKE } from "../../state/stream/game_analysis";
import { refusalText, text } from "../../text/text";

interface MistakesPanelProps {
  state: GameAnalysisState;
  start: () => void;
  /** The ply before the shown position. */
  ply: number;
}

/** Starts the analysis of a finished game, and says what each move lost and what was better. */
export function MistakesPanel({ state, start, ply }: MistakesPanelProps) {
  const { analysis, side } = text.value;
  const { moves, of, summary, running, busy, refused } = state;
  const move = moves.get(ply);
  const idle = !running && !summary;
  return (
    <section class="panel">
      <h2>{analysis.mistakes}</h2>
      {idle && (
        <button type="button" onClick={start}>
          {analysis.findMistakes}
        </button>
      )}
      {running && (
        <p role="status">
          {busy ? analysis.waiting : analysis.thinking} <progress value={moves.size} max={of ?? 1} />
        </p>
      )}
      {refused && <p>{refused.reason === "WRONG_PHASE" ? analysis.ratedGame : refusalText(text.value, refused)}</p>}
      {summary && (
        <p class="muted">
          {analysis.lostInAll(side.black, discs(summary.blackLoss))}{" "}
          {analysis.lostInAll(side.white, discs(summary.whiteLoss))}
        </p>
      )}
      {move && (
        <p aria-live="polite">
          {move.loss < MISTAKE || !move.best?.moves[0]
            ? analysis.goodMove(move.square)
            : analysis.better(move.square, discs(move.loss), move.best.moves[0])}
        </p>
      )}
    </section>
  );
}

function discs(value: number): string {
  return value.toFixed(1);
}
