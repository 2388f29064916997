import { instant } from "../../game/clock";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { participantName } from "../../room/game_record";
import { discsOf } from "../../room/outcome";
import { address } from "../../route";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";

/** Finished games, a line each, linked to their replays. */
export function RecordList({ games }: { games: readonly GameRecord[] }) {
  const texts = text.value;
  const name = (record: GameRecord, side: "black" | "white") => {
    const rating = side === "black" ? record.blackRating : record.whiteRating;
    return `${participantName(texts, record[side])}${rating > 0 ? ` (${rating})` : ""}`;
  };
  return (
    <ul class="record-list">
      {games.map((record) => {
        const points = record.outcome && discsOf(record.outcome);
        return (
          <li key={record.gameId}>
            <a href={address({ screen: "game", gameId: record.gameId })}>
              {name(record, "black")} – {name(record, "white")}
            </a>{" "}
            {points && (
              <strong class="numbers">
                {points.black}–{points.white}
              </strong>
            )}
            <p class="hint">
              {[record.opening, record.rated && texts.replay.rated, record.endedAt && dateTime(instant(record.endedAt))]
                .filter(Boolean)
                .join(" · ")}
            </p>
          </li>
        );
      })}
    </ul>
  );
}
