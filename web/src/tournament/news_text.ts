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
      const { round, opponent, playoff } = news.value;
      const stage = playoff ? words.playoff(name) : name;
      return opponent ? words.paired(stage, round, participantName(texts, opponent)) : words.bye(stage, round);
    }
    case "forfeit":
      return news.value.lost ? words.lost(name) : words.won(name);
    case "putAside": {
      const { until, fault: reason } = news.value;
      return words.putAside(name, until ? time(instant(until)) : "", fault[reason]);
    }
    case "decided":
      return words.decided(name, news.value.won, news.value.why);
    case "left":
      return news.value.excluded ? words.excluded(name) : "";
    case "ended": {
      const { phase, rank, entrants } = news.value;
      return phase === TournamentPhase.CANCELLED ? words.cancelled(name) : words.ended(name, rank, entrants);
    }
    default:
      return "";
  }
}
