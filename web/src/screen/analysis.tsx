import { useEffect, useState } from "preact/hooks";
import { type Color, opposite } from "../game/board";
import {
  type Line,
  lineFrom,
  lineText,
  NO_MOVES,
  parseLine,
  parseStart,
  played,
  startText,
  undone,
} from "../game/line";
import { parsePasted } from "../game/paste";
import { parseSquare, type Square } from "../game/square";
import type { AnalysisLine } from "../gen/reversi/v1/analysis_pb";
import { replace } from "../state/location";
import { type AnalysisState, usePositionAnalysis } from "../state/stream/position_analysis";
import { refusalText, text } from "../text/text";
import { BoardGrid } from "../ui/board/board_grid";
import { SharePanel } from "../ui/share/share_panel";

/** The analysis board: moves are played freely, and the server says what each is worth. The address carries the position. */
export function AnalysisScreen({ start, moves }: { start: string; moves: string }) {
  const { analysis: texts, game } = text.value;
  const line = parseLine(moves, lineFrom(parseStart(start) ?? NO_MOVES.start));
  /** Moves that were taken back, the next one last. */
  const [ahead, setAhead] = useState<readonly Square[]>([]);
  const [marked, setMarked] = useState(true);
  const state = usePositionAnalysis(line);
  const go = (to: Line, taken: readonly Square[] = []) => {
    setAhead(taken);
    replace({ screen: "analysis", start: startText(to.start), moves: lineText(to) });
  };
  const play = (square: Square) => go(played(line, square), square === ahead.at(-1) ? ahead.slice(0, -1) : []);
  const back = () => go(undone(line), [...ahead, ...line.squares.slice(-1)]);
  const next = ahead.at(-1);
  return (
    <div class="explore">
      <section class="stack" aria-label={game.board}>
        <BoardGrid
          board={line.board}
          label={game.board}
          last={line.squares.at(-1)}
          mover={line.mover}
          legal={line.legal}
          play={play}
          values={marked && line.mover ? moveValues(state.analysis?.lines ?? [], line.mover) : undefined}
        />
        <div class="buttons">
          <button type="button" disabled={line.squares.length === 0} onClick={back}>
            {texts.back}
          </button>
          <button type="button" disabled={next === undefined} onClick={() => next !== undefined && play(next)}>
            {texts.forward}
          </button>
          <button type="button" disabled={line.squares.length === 0} onClick={() => go(lineFrom(line.start))}>
            {texts.start}
          </button>
        </div>
        <label class="check">
          <input type="checkbox" checked={marked} onChange={(event) => setMarked(event.currentTarget.checked)} />
          <span>{texts.values}</span>
        </label>
      </section>
      <div class="stack">
        <section class="panel">
          <h1>{texts.title}</h1>
          <p class="muted moves-text">{lineText(line)}</p>
          <Result line={line} state={state} play={(variation) => go(parseLine(variation.join(""), line))} />
        </section>
        <PasteForm load={go} />
        <SharePanel
          route={{ screen: "analysis", start, moves }}
          title={texts.title}
          name="position"
          picture={{ board: line.board, last: line.squares.at(-1) }}
        />
      </div>
    </div>
  );
}

/** The value of each analysed move for the side to move, by square. */
function moveValues(lines: readonly AnalysisLine[], mover: Color): ReadonlyMap<Square, string> {
  const values = lines.map(({ moves, evaluation }) => {
    const value = mover === "black" ? evaluation : -evaluation;
    return [parseSquare(moves[0] ?? ""), signed(value)] as const;
  });
  return new Map(values.flatMap(([square, value]) => (square === undefined ? [] : [[square, value] as const])));
}

function signed(value: number): string {
  const rounded = Math.abs(value) < 9.95 ? Math.abs(value).toFixed(1) : Math.round(Math.abs(value)).toString();
  return `${value < -0.05 ? "−" : value > 0.05 ? "+" : ""}${rounded}`;
}

interface ResultProps {
  line: Line;
  state: AnalysisState;
  play: (variation: string[]) => void;
}

function Result({ line, state: { analysis, busy, refused }, play }: ResultProps) {
  const { analysis: texts, side } = text.value;
  if (!line.mover) return <p>{texts.over}</p>;
  if (refused) return <p>{refused.reason === "WRONG_PHASE" ? texts.ratedGame : refusalText(text.value, refused)}</p>;
  const best = analysis?.lines[0];
  if (!best) return <p role="status">{busy ? texts.waiting : texts.thinking}</p>;
  const { evaluation, depth, exact } = best;
  const leader: Color = evaluation >= 0 ? "black" : opposite("black");
  return (
    <>
      {busy && <p role="status">{texts.waiting}</p>}
      <h2>
        {Math.abs(evaluation) < 0.05 ? texts.even : texts.value(side[leader], signed(Math.abs(evaluation)).slice(1))}
      </h2>
      <p class="muted">{exact ? texts.exact : texts.depth(depth)}</p>
      <h3>{texts.best}</h3>
      <ol class="variations">
        {analysis.lines.map(({ moves, evaluation: value }) => (
          <li key={moves[0]}>
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

/** Loads a pasted position or game. */
function PasteForm({ load }: { load: (line: Line) => void }) {
  const { analysis: texts } = text.value;
  const [unreadable, setUnreadable] = useState(false);
  const [pasted, setPasted] = useState("");
  useEffect(() => setUnreadable(false), [pasted]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const line = parsePasted(pasted);
    setUnreadable(!line);
    if (line) load(line);
  };
  return (
    <form class="panel" onSubmit={submit}>
      <label class="field">
        <span>{texts.paste}</span>
        <textarea rows={3} value={pasted} onInput={(event) => setPasted(event.currentTarget.value)} />
      </label>
      <p class="hint">{texts.pasteWhy}</p>
      {unreadable && <p role="alert">{texts.unreadable}</p>}
      <button>{texts.load}</button>
    </form>
  );
}
