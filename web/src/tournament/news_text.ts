import { instant } from "../game/clock";
import type { PlayerTournament } from "../gen/reversi/v1/game_pb";
import { TournamentPhase } from "../gen/reversi/v1/tournament_pb";
import { participantName } from "../room/game_record";
import type { Texts } from "../text/en";

/** News of the tournament `name` for an entrant, in words; `time` writes a time in milliseconds. */
export function newsText(
  texts: Texts,
  name: string,
  news: PlayerTournament["news"],
  time: (at: number) => string,
): string {
  const { news: words, fault } = texts.tournament;
  switch (news.case) {
    case "paired": {
      const { round, opponent } = news.value;
      return opponent ? words.paired(name, round, participantName(texts, opponent)) : words.bye(name, round);
    }
    case "forfeit":
      return news.value.lost ? words.lost(name) : words.won(name);
    case "putAside": {
      const { until, fault: reason } = news.value;
      return words.putAside(name, until ? time(instant(until)) : "", fault[reason]);
    }
    case "ended": {
      const { phase, rank, entrants } = news.value;
      return phase === TournamentPhase.CANCELLED ? words.cancelled(name) : words.ended(name, rank, entrants);
    }
    default:
      return "";
  }
}
