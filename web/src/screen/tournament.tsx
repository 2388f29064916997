import { useEffect, useState } from "preact/hooks";
import { type Tournament, TournamentPhase, type TournamentView } from "../gen/reversi/v1/tournament_pb";
import { timeControlText } from "../room/time_control";
import { address } from "../route";
import { screenName } from "../state/page/title";
import { session } from "../state/session";
import { type TournamentStream, watchTournament } from "../state/stream/tournament_stream";
import { dateTime } from "../text/date_time";
import { text } from "../text/text";
import { admitsText, formatText, isOver, isPool, phaseText } from "../tournament/words";
import { Unavailable } from "../ui/control/unavailable";
import { BoardsPanel } from "../ui/tournament/boards_panel";
import { CrosstablePanel, hasCrosstable } from "../ui/tournament/crosstable_panel";
import { EntryPanel } from "../ui/tournament/entry_panel";
import { MeetingsPanel } from "../ui/tournament/meetings_panel";
import { OrganiserPanel } from "../ui/tournament/organiser_panel";
import { StandingsPanel } from "../ui/tournament/standings_panel";

/** A tournament, as it goes on. */
export function TournamentScreen({ tournamentId }: { tournamentId: string }) {
  const [stream, setStream] = useState<TournamentStream | undefined>();
  useEffect(() => {
    const watched = watchTournament(tournamentId);
    setStream(watched);
    return watched.stop;
  }, []);
  const view = stream?.view.value;
  const end = stream?.end.value;
  const name = view?.tournament?.settings?.name ?? text.value.tournament.one;
  useEffect(() => void (screenName.value = name), [name]);
  if (end && "refused" in end) return <Unavailable refused={end.refused} />;
  if (!view?.tournament) return <p class="muted">{text.value.connection.loading}</p>;
  return <Shown view={view} tournament={view.tournament} />;
}

function Shown({ view, tournament }: { view: TournamentView; tournament: Tournament }) {
  const { standings, meetings } = view;
  const organises = tournament.organiserId === session.value?.playerId && !isOver(tournament);
  return (
    <div class="tournament">
      <Facts of={tournament} />
      {!isOver(tournament) && <EntryPanel tournament={tournament} standings={standings} />}
      {organises && <OrganiserPanel tournament={tournament} />}
      <StandingsPanel tournament={tournament} standings={standings} organises={organises} />
      {tournament.phase !== TournamentPhase.OPEN && (
        <MeetingsPanel tournament={tournament} standings={standings} meetings={meetings} organises={organises} />
      )}
      {tournament.phase !== TournamentPhase.OPEN && !isOver(tournament) && (
        <BoardsPanel tournamentId={tournament.tournamentId} />
      )}
      {hasCrosstable(view) && <CrosstablePanel view={view} />}
    </div>
  );
}

/** Name, phase and settings. */
function Facts({ of }: { of: Tournament }) {
  const texts = text.value;
  const { settings } = of;
  if (!settings) return null;
  return (
    <section class="panel">
      <h1 class="tournament-name">{settings.name}</h1>
      <p>
        <strong>{phaseText(texts, of, dateTime)}</strong>
      </p>
      <p class="muted facts">
        <span>{formatText(texts, settings)}</span>
        {settings.game && <span>{timeControlText(texts, settings.game)}</span>}
        {settings.game && <span>{texts.tournament.games(settings.game.games)}</span>}
        {settings.game?.rated && <span>{texts.room.rated}</span>}
        <span>{admitsText(texts, settings.admits)}</span>
        {of.hasPassword && <span>{texts.rooms.password}</span>}
        <span>{texts.tournament.entrants(of.entrants)}</span>
        {of.meetings > 0 && <span>{texts.tournament.finished(of.finished, of.meetings)}</span>}
        {!isPool(settings.format) && (
          <a href={address({ screen: "player", playerId: of.organiserId })}>{texts.tournament.organiser}</a>
        )}
      </p>
    </section>
  );
}
