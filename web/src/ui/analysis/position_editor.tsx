import { useState } from "preact/hooks";
import type { Color } from "../../game/board";
import { NO_MOVES, type Start } from "../../game/line";
import { type Brush, EMPTY_BOARD, painted, problemOf } from "../../game/set_up";
import { SQUARES } from "../../game/square";
import { text } from "../../text/text";
import { BoardGrid } from "../board/board_grid";
import { SegmentedControl } from "../control/segmented_control";

interface PositionEditorProps {
  start: Start;
  done: (start: Start) => void;
  cancel: () => void;
}

/** A position set up by hand: each click on a square, or Enter, changes it. */
export function PositionEditor({ start, done, cancel }: PositionEditorProps) {
  const { analysis: texts, game, side } = text.value;
  const [position, setPosition] = useState(start);
  const [earlier, setEarlier] = useState<readonly Start[]>([]);
  const [brush, setBrush] = useState<Brush>("next");
  const problem = problemOf(position.board);
  const change = (to: Start) => {
    setEarlier([...earlier, position]);
    setPosition(to);
  };
  const undo = () => {
    setPosition(earlier.at(-1) ?? position);
    setEarlier(earlier.slice(0, -1));
  };
  return (
    <>
      <section class="board-main" aria-label={game.board}>
        <BoardGrid
          board={position.board}
          label={`${game.board}. ${texts.setUpKeys}`}
          legal={SQUARES}
          marked={false}
          play={(square) => change({ ...position, board: painted(position.board, square, brush) })}
        />
      </section>
      <section class="panel board-controls" aria-label={texts.setUp}>
        <h1 class="visually-hidden">{texts.setUp}</h1>
        <SegmentedControl<Brush>
          label={texts.brush}
          value={brush}
          choose={setBrush}
          options={[
            ["next", texts.next],
            ["black", side.black],
            ["white", side.white],
            ["empty", texts.empty],
          ]}
        />
        <SegmentedControl<Color>
          label={texts.toMove}
          value={position.mover}
          choose={(mover) => change({ ...position, mover })}
          options={[
            ["black", side.black],
            ["white", side.white],
          ]}
        />
        <div class="buttons">
          <button type="button" disabled={earlier.length === 0} onClick={undo}>
            {texts.undo}
          </button>
          <button type="button" onClick={() => change({ ...position, board: EMPTY_BOARD })}>
            {texts.clear}
          </button>
          <button type="button" onClick={() => change(NO_MOVES.start)}>
            {texts.standard}
          </button>
        </div>
        <p role="status">{problem ? texts.problem[problem] : texts.possible}</p>
        <div class="buttons">
          <button type="button" class="primary" disabled={problem !== undefined} onClick={() => done(position)}>
            {texts.analyse}
          </button>
          <button type="button" class="quiet" onClick={cancel}>
            {texts.cancel}
          </button>
        </div>
      </section>
    </>
  );
}
