import { instant } from "../../game/clock";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { participantName, score } from "../../room/game_record";
import { headline, reasonText } from "../../room/outcome";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";

/** Players, result and date of a finished game. */
export function ResultPanel({ record }: { record: GameRecord }) {
  const texts = text.value;
  const { replay } = texts;
  const { outcome, startedAt } = record;
  const names = { black: participantName(texts, record.black), white: participantName(texts, record.white) };
  const points = outcome && score(outcome);
  return (
    <section class="panel">
      <h1>{replay.title(names.black, names.white)}</h1>
      {outcome && points && (
        <div class="result">
          <p class="final">
            <span class="chip black" aria-hidden="true" /> {points.black} – {points.white}{" "}
            <span class="chip white" aria-hidden="true" />
          </p>
          <p>
            <strong>{headline(texts, outcome, names)}</strong>
          </p>
          <p class="muted">{reasonText(texts, outcome, names)}</p>
        </div>
      )}
      <p class="facts muted">
        {startedAt && <span>{dateTime(instant(startedAt))}</span>}
        <span>{record.roomName}</span>
        {record.rated && <span class="tag">{replay.rated}</span>}
      </p>
    </section>
  );
}
