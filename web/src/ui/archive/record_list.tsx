import type { Color } from "../../game/board";
import { instant } from "../../game/clock";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { GameEndReason, GameResult, type Outcome } from "../../gen/reversi/v1/types_pb";
import { participantName } from "../../room/game_record";
import { discsOf, reasonText, winnerOf } from "../../room/outcome";
import { address } from "../../route";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";
import { points } from "../game/rating_changes";

/** Finished games, a line each, linked to their replays. */
export function RecordList({ games }: { games: readonly GameRecord[] }) {
  return (
    <ul class="record-list">
      {games.map((record) => (
        <Row key={record.gameId} record={record} />
      ))}
    </ul>
  );
}

/** One game. The winner's name is strong, since discs do not decide every game. */
function Row({ record }: { record: GameRecord }) {
  const texts = text.value;
  const { outcome, opening, rated, endedAt } = record;
  const names = { black: participantName(texts, record.black), white: participantName(texts, record.white) };
  const winner = winnerOf(outcome);
  const discs = outcome && outcome.result !== GameResult.ABORTED && discsOf(outcome);
  const shown = (side: Color) => {
    const rating = side === "black" ? record.blackRating : record.whiteRating;
    const change = side === "black" ? record.blackRatingChange : record.whiteRatingChange;
    const known = [rating > 0 && rating, change && !change.unrated && points(change)].filter(Boolean);
    const name = `${names[side]}${known.length > 0 ? ` (${known.join(" ")})` : ""}`;
    return side === winner ? <strong>{name}</strong> : name;
  };
  const facts = [
    ...(outcome ? result(outcome, names) : []),
    opening,
    rated && texts.replay.rated,
    endedAt && dateTime(instant(endedAt)),
  ];
  return (
    <li>
      <a href={address({ screen: "game", gameId: record.gameId })}>
        {shown("black")} – {shown("white")}
      </a>{" "}
      {discs && (
        <span class="numbers">
          {discs.black}–{discs.white}
        </span>
      )}
      <p class="hint">{facts.filter(Boolean).join(" · ")}</p>
    </li>
  );
}

/** "Black won", and why if discs did not decide. */
function result(outcome: Outcome, names: Record<Color, string>): string[] {
  const { archive, stats } = text.value;
  const winner = winnerOf(outcome);
  const drawn = outcome.result === GameResult.DRAW ? archive.draw : stats.aborted;
  const won = winner === "black" ? archive.blackWins : archive.whiteWins;
  const plain = outcome.reason === GameEndReason.DISCS || outcome.reason === GameEndReason.ABORTED;
  return [winner ? won : drawn, ...(plain ? [] : [reasonText(text.value, outcome, names)])];
}
