import { useEffect, useState } from "preact/hooks";
import { records } from "../api/client";
import { type Refusal, refusal } from "../api/refusal";
import { type Line, lineText, NO_MOVES, parseLine, played, undone } from "../game/line";
import { parseSquare } from "../game/square";
import { type ExplorePositionResponse, ParticipantKind } from "../gen/reversi/v1/record_pb";
import { retry } from "../api/retry";
import { replace } from "../state/location";
import { refusalText, text } from "../text/text";
import { ExploredMoves } from "../ui/archive/explored_moves";
import { RecordList } from "../ui/archive/record_list";
import { BoardGrid } from "../ui/board/board_grid";

const RATINGS = [0, 1400, 1600, 1800, 2000];

/** The opening explorer: a board to try moves on, and what was played in its position. The address carries the moves. */
export function ExploreScreen({ moves }: { moves: string }) {
  const { archive, game, stats } = text.value;
  const line = parseLine(moves);
  const kinds = [
    [ParticipantKind.UNSPECIFIED, archive.everyone],
    [ParticipantKind.HUMAN, stats.humans],
    [ParticipantKind.BOT, stats.bots],
    [ParticipantKind.AI, stats.ais],
  ] as const;
  const [kind, setKind] = useState<ParticipantKind>(ParticipantKind.UNSPECIFIED);
  const [minRating, setMinRating] = useState(0);
  const { answer, refused } = useExploration(line, kind, minRating);
  const go = (to: Line) => replace({ screen: "explore", moves: lineText(to) });
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
          <h2 aria-live="polite">{answer?.opening || archive.unnamed}</h2>
          <p class="muted moves-text">{lineText(line) || archive.start}</p>
          <label class="field">
            <span>{archive.who}</span>
            <select value={kind} onChange={(event) => setKind(Number(event.currentTarget.value))}>
              {kinds.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>{archive.minRating}</span>
            <select value={minRating} onChange={(event) => setMinRating(Number(event.currentTarget.value))}>
              {RATINGS.map((rating) => (
                <option key={rating} value={rating}>
                  {rating || archive.any}
                </option>
              ))}
            </select>
          </label>
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
