import { instant } from "../../game/clock";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { participantName } from "../../room/game_record";
import { headline, reasonText } from "../../room/outcome";
import { address } from "../../route";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";
import { FinalScore } from "../game/final_score";
import { RatingChanges } from "../game/rating_changes";

/** The length of the moves that the link to the explorer has: ten moves. */
const EXPLORED = 20;

/** Players, result and date of a finished game. A room has the name of its owner by default, which says nothing more here. */
export function ResultPanel({ record }: { record: GameRecord }) {
  const texts = text.value;
  const { archive, replay } = texts;
  const { outcome, startedAt } = record;
  const names = { black: participantName(texts, record.black), white: participantName(texts, record.white) };
  return (
    <section class="panel">
      <h1>{replay.title(names.black, names.white)}</h1>
      {outcome && (
        <div class="result">
          <FinalScore outcome={outcome} />
          <p>
            <strong>{headline(texts, outcome, names)}</strong>
          </p>
          <p class="muted">{reasonText(texts, outcome, names)}</p>
          <RatingChanges record={record} />
        </div>
      )}
      <p class="facts muted">
        {startedAt && <span>{dateTime(instant(startedAt))}</span>}
        {!Object.values(names).includes(record.roomName) && <span>{record.roomName}</span>}
        {record.rated && <span class="tag">{replay.rated}</span>}
        {record.opening && <span>{record.opening}</span>}
      </p>
      <a href={address({ screen: "explore", moves: record.transcript.slice(0, EXPLORED) })}>{archive.explore}</a>
    </section>
  );
}
