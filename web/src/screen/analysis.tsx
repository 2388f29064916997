import { useEffect, useRef, useState } from "preact/hooks";
import { type Line, lineFrom, lineOfAddress, lineText, parseLine, played, startText, undone } from "../game/line";
import type { Square } from "../game/square";
import { address } from "../route";
import { replace } from "../state/location";
import { usePositionAnalysis } from "../state/stream/position_analysis";
import { text } from "../text/text";
import { AnalysisResult } from "../ui/analysis/analysis_result";
import { moveValues } from "../ui/analysis/move_value";
import { PasteForm } from "../ui/analysis/paste_form";
import { UnreadAddress } from "../ui/board/unread_address";
import { PositionEditor } from "../ui/analysis/position_editor";
import { BoardGrid } from "../ui/board/board_grid";
import { BACK_ICON, FIRST_ICON, FORWARD_ICON, StepButton } from "../ui/control/step_button";
import { SharePanel } from "../ui/share/share_panel";
import { Later } from "../ui/shell/later";

/** The analysis board, and the editor that sets up its position. The address carries the position. */
export function AnalysisScreen({ start, moves }: { start: string; moves: string }) {
  const { line, unread } = lineOfAddress(start, moves);
  const here = address(routeOf(line));
  /** The address at which the editor was opened: another one shows its own position. */
  const [edited, setEdited] = useState<string | undefined>();
  const editing = edited === here;
  const view = useRef<HTMLDivElement>(null);
  const wasEditing = useRef(editing);
  // The button that was pressed is gone.
  useEffect(() => {
    if (editing !== wasEditing.current) view.current?.querySelector<HTMLElement>(".cell[tabindex='0']")?.focus();
    wasEditing.current = editing;
  }, [editing]);
  const go = (to: Line) => {
    setEdited(undefined);
    replace(routeOf(to));
  };
  const { board, mover = line.start.mover } = line;
  return (
    <div ref={view} class="board-view analysis-view">
      {editing ? (
        <PositionEditor
          start={{ board, mover }}
          done={(position) => go(lineFrom(position))}
          cancel={() => setEdited(undefined)}
        />
      ) : (
        <AnalysisBoard line={line} unread={unread} go={go} edit={() => setEdited(here)} />
      )}
    </div>
  );
}

interface AnalysisBoardProps {
  line: Line;
  /** The part of the address that is not read. */
  unread: string;
  go: (to: Line) => void;
  edit: () => void;
}

/** Moves are played freely, and the server says what each is worth. */
function AnalysisBoard({ line, unread, go, edit }: AnalysisBoardProps) {
  const { analysis: texts, game } = text.value;
  /** Moves that were taken back, the next one last, and the line that they continue. */
  const [taken, setTaken] = useState<{ at: string; squares: readonly Square[] }>({ at: "", squares: [] });
  const ahead = taken.at === address(routeOf(line)) ? taken.squares : [];
  const [marked, setMarked] = useState(true);
  const state = usePositionAnalysis(line);
  const show = (to: Line, squares: readonly Square[] = []) => {
    setTaken({ at: address(routeOf(to)), squares });
    go(to);
  };
  const play = (square: Square) => show(played(line, square), square === ahead.at(-1) ? ahead.slice(0, -1) : []);
  const back = () => show(undone(line), [...ahead, ...line.squares.slice(-1)]);
  const next = ahead.at(-1);
  return (
    <>
      <section class="board-main" aria-label={game.board}>
        <BoardGrid
          board={line.board}
          label={game.board}
          last={line.squares.at(-1)}
          mover={line.mover}
          legal={line.legal}
          play={play}
          values={marked && line.mover ? moveValues(state.analysis?.lines ?? [], line.mover) : undefined}
        />
      </section>
      <div class="board-controls tight">
        <UnreadAddress unread={unread} />
        <div class="replay-buttons">
          <StepButton
            label={texts.start}
            icon={FIRST_ICON}
            disabled={line.squares.length === 0}
            run={() => show(lineFrom(line.start), [...ahead, ...[...line.squares].reverse()])}
          />
          <StepButton label={texts.back} icon={BACK_ICON} disabled={line.squares.length === 0} run={back} />
          <StepButton
            label={texts.forward}
            icon={FORWARD_ICON}
            disabled={next === undefined}
            run={() => next !== undefined && play(next)}
          />
        </div>
        <div class="buttons">
          <button type="button" onClick={edit}>
            {texts.setUp}
          </button>
        </div>
        <label class="check">
          <input type="checkbox" checked={marked} onChange={(event) => setMarked(event.currentTarget.checked)} />
          <span>{texts.values}</span>
        </label>
      </div>
      <div class="board-panels">
        <section class="panel analysis-panel">
          <h1>{texts.title}</h1>
          <p class="muted moves-text">{lineText(line)}</p>
          <AnalysisResult line={line} state={state} play={(variation) => show(parseLine(variation.join(""), line))} />
        </section>
        <Later>
          <PasteForm load={show} />
          <SharePanel
            route={routeOf(line)}
            title={texts.title}
            name="position"
            picture={{ board: line.board, last: line.squares.at(-1) }}
          />
        </Later>
      </div>
    </>
  );
}

function routeOf(line: Line) {
  return { screen: "analysis" as const, start: startText(line.start), moves: lineText(line) };
}
