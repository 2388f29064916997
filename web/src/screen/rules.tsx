import { useState } from "preact/hooks";
import { count, parseBoard, START } from "../game/board";
import { guided, type Remark } from "../game/guided_game";
import { NO_MOVES } from "../game/line";
import { squareName } from "../game/square";
import { address } from "../route";
import { text } from "../text/text";
import type { RulesTexts } from "../text/rules/en";
import { BoardGrid } from "../ui/board/board_grid";
import { SmallBoard } from "../ui/board/small_board";

/** Positions that illustrate the rules, as rows from the first. */
const rows = (...lines: string[]) => parseBoard(lines.join(""));
const EMPTY = "--------";
const BEFORE = rows(EMPTY, EMPTY, EMPTY, "--XOO---", "---OX---", EMPTY, EMPTY, EMPTY);
const AFTER = rows(EMPTY, EMPTY, EMPTY, "--XXXX--", "---OX---", EMPTY, EMPTY, EMPTY);
const CORNER = rows("XOOOO---", "XXOO----", "X-X-----", EMPTY, EMPTY, EMPTY, EMPTY, EMPTY);

/** The rules, illustrated, and a first game with remarks against a weak opponent on this page. */
export function RulesScreen() {
  const { rules } = text.value;
  return (
    <div class="rules-view">
      <section class="panel rules">
        <h1>{rules.title}</h1>
        <Rule board={START}>{rules.start}</Rule>
        <Rule board={BEFORE}>{rules.move}</Rule>
        <Rule board={AFTER} last="f4">
          {rules.mustTurn}
        </Rule>
        <Rule board={CORNER}>{rules.corner}</Rule>
        <p>{rules.pass}</p>
        <p>{rules.end}</p>
      </section>
      <GuidedGame />
    </div>
  );
}

function Rule({ board, last, children }: { board: typeof START; last?: string; children: string }) {
  return (
    <div class="rule">
      <SmallBoard board={board} last={last} />
      <p>{children}</p>
    </div>
  );
}

function GuidedGame() {
  const { rules, game } = text.value;
  const [line, setLine] = useState(NO_MOVES);
  const [said, setSaid] = useState<{ remark: Remark; turned: number } | undefined>();
  const play = (square: number) => {
    const { line: next, remark, turned } = guided(line, square);
    setLine(next);
    setSaid({ remark, turned });
  };
  const again = () => (setLine(NO_MOVES), setSaid(undefined));
  const [own, other] = [count(line.board, "black"), count(line.board, "white")];
  return (
    <section class="stack" aria-label={rules.tryIt}>
      <h2>{rules.tryIt}</h2>
      <BoardGrid
        board={line.board}
        label={game.board}
        last={line.squares.at(-1)}
        mover={line.mover}
        legal={line.legal}
        play={line.mover ? play : undefined}
      />
      <p role="status">
        {said ? remarkText(rules, said, own, other) : rules.guide}{" "}
        {line.squares.length > 0 && line.mover && (
          <span class="muted">
            {game.toMove.black} · {squareName(line.squares.at(-1) ?? 0)} · {own}–{other}
          </span>
        )}
      </p>
      <div class="buttons">
        <button type="button" disabled={line.squares.length === 0} onClick={again}>
          {rules.again}
        </button>
        <a class="button primary" href={address({ screen: "home" })}>
          {rules.playNow}
        </a>
      </div>
    </section>
  );
}

function remarkText(
  rules: RulesTexts,
  { remark, turned }: { remark: Remark; turned: number },
  own: number,
  other: number,
): string {
  switch (remark) {
    case "turned":
      return rules.turned(turned);
    case "won":
    case "lost":
      return rules[remark](own, other);
    case "drawn":
      return rules.drawn(own);
    default:
      return rules[remark];
  }
}
