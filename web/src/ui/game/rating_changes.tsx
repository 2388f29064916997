import { records } from "../../api/records";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import type { RatingChange } from "../../gen/reversi/v1/session_pb";
import { participantName } from "../../room/game_record";
import { useQuery } from "../../state/use_query";
import { text } from "../../text/text";

/** The rating of a player before the first rated game. */
const BEGINNER = 1500;

/** What a game that has ended did to the ratings. To be mounted again for another game. */
export function RatingChangesOf({ gameId }: { gameId: string }) {
  const { answer } = useQuery(() => records.getGame({ gameId }));
  return answer?.game ? <RatingChanges record={answer.game} /> : null;
}

/** What a rated game did to the ratings of both sides, or why nothing. Nothing for older games, which do not say it. */
export function RatingChanges({ record }: { record: GameRecord }) {
  const texts = text.value;
  const { black, white, blackRatingChange, whiteRatingChange } = record;
  if (!record.rated || !blackRatingChange || !whiteRatingChange) return null;
  const { rating, unrated } = texts.ratingChange;
  if (blackRatingChange.unrated && blackRatingChange.unrated === whiteRatingChange.unrated) {
    return <p class="muted rating-changes">{unrated[blackRatingChange.unrated]}</p>;
  }
  const side = (name: string, change: RatingChange) => (
    <li>{change.unrated ? `${name}: ${unrated[change.unrated]}` : rating(name, change.after, points(change))}</li>
  );
  return (
    <ul class="muted rating-changes">
      {side(participantName(texts, black), blackRatingChange)}
      {side(participantName(texts, white), whiteRatingChange)}
    </ul>
  );
}

/** As "+12"; with the minus sign of typography. */
export function points({ before, after }: RatingChange): string {
  const change = after - (before || BEGINNER);
  return change < 0 ? `\u2212${-change}` : `+${change}`;
}
