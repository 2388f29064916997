import { useEffect, useState } from "preact/hooks";
import { records } from "../api/records";
import { type Refusal, refusal } from "../api/refusal";
import { type Line, lineOfAddress, lineText, NO_MOVES, played, undone } from "../game/line";
import { parseSquare } from "../game/square";
import { type ExplorePositionResponse, ParticipantKind } from "../gen/reversi/v1/record_pb";
import { retry } from "../api/retry";
import { replace } from "../state/location";
import { refusalText, text } from "../text/text";
import { KindChoice, RatingChoice } from "../ui/archive/choice";
import { ExploredMoves } from "../ui/archive/explored_moves";
import { RecordList } from "../ui/archive/record_list";
import { BoardGrid } from "../ui/board/board_grid";
import { UnreadAddress } from "../ui/board/unread_address";

interface ExploreProps {
  moves: string;
  kind?: ParticipantKind;
  minRating?: number;
}

/** The opening explorer: a board to try moves on, and what was played in its position. The address carries all choices. */
export function ExploreScreen({ moves, kind = ParticipantKind.UNSPECIFIED, minRating = 0 }: ExploreProps) {
  const { archive, game } = text.value;
  const { line, unread } = lineOfAddress("", moves);
  const { answer, refused } = useExploration(line, kind, minRating);
  const go = (to: Line, by = kind, from = minRating) =>
    replace({ screen: "explore", moves: lineText(to), kind: by, minRating: from });
  return (
    <div class="board-view explore-view">
      <section class="board-main" aria-label={game.board}>
        <BoardGrid
          board={line.board}
          label={game.board}
          last={line.squares.at(-1)}
          mover={line.mover}
          legal={line.legal}
          play={(square) => go(played(line, square))}
        />
      </section>
      <div class="board-controls">
        <UnreadAddress unread={unread} />
        <div class="buttons">
          <button type="button" disabled={line.squares.length === 0} onClick={() => go(undone(line))}>
            {archive.back}
          </button>
          <button type="button" disabled={line.squares.length === 0} onClick={() => go(NO_MOVES)}>
            {archive.start}
          </button>
        </div>
      </div>
      <div class="board-panels">
        <section class="panel">
          <h1>{archive.openings}</h1>
          <p class="muted">{archive.why}</p>
          <div aria-live="polite">{answer && <h2>{answer.opening || archive.unnamed}</h2>}</div>
          <p class="muted moves-text">{lineText(line) || archive.start}</p>
          <KindChoice kind={kind} set={(chosen) => go(line, chosen)} />
          <RatingChoice minRating={minRating} set={(chosen) => go(line, kind, chosen)} />
          {refused && <p>{refused.reason === "WRONG_PHASE" ? archive.ratedGame : refusalText(text.value, refused)}</p>}
          {answer?.moves.length === 0 && <p class="muted">{archive.none}</p>}
          {answer && answer.moves.length > 0 && (
            <ExploredMoves moves={answer.moves} play={(name) => go(played(line, parseSquare(name) ?? 0))} />
          )}
        </section>
        {answer && answer.recent.length > 0 && (
          <section class="panel">
            <h2>{archive.recent}</h2>
            <RecordList games={answer.recent} />
          </section>
        )}
        {answer && answer.best.length > 0 && (
          <section class="panel">
            <h2>{archive.best}</h2>
            <RecordList games={answer.best} />
          </section>
        )}
      </div>
    </div>
  );
}

/** What was played after the moves. The last answer stays until the next one comes. */
function useExploration(line: Line, kind: ParticipantKind, minRating: number) {
  const [result, setResult] = useState<{ answer?: ExplorePositionResponse; refused?: Refusal }>({});
  const transcript = lineText(line);
  useEffect(() => {
    let current = true;
    if (!line.mover) return setResult({});
    const subject = { case: "transcript" as const, value: transcript };
    retry(() => records.explorePosition({ subject, kind, minRating })).then(
      (answer) => current && setResult({ answer }),
      (error: unknown) => current && setResult({ refused: refusal(error) }),
    );
    return () => void (current = false);
  }, [transcript, kind, minRating]);
  return result;
}
