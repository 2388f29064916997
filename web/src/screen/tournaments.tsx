import { tournaments } from "../api/tournaments";
import { type Tournament, TournamentPhase } from "../gen/reversi/v1/tournament_pb";
import { timeControlText } from "../room/time_control";
import { address } from "../route";
import { usePages } from "../state/use_pages";
import { dateTime } from "../text/date_time";
import { text } from "../text/text";
import { admitsText, formatText, isOver, phaseText } from "../tournament/words";

/** Tournaments a page. */
const PAGE = 50;

/** All tournaments, the newest first. */
export function TournamentsScreen() {
  const { tournament, archive, connection } = text.value;
  const { entries, busy, more } = usePages(async (pageToken) => {
    const page = await tournaments.listTournaments({ pageSize: PAGE, pageToken });
    return { entries: page.tournaments, next: page.nextPageToken };
  });
  return (
    <div class="rooms">
      <div class="title-row">
        <h1>{tournament.title}</h1>
        <a class="button primary" href={address({ screen: "organise" })}>
          {tournament.organise}
        </a>
      </div>
      <section class="panel">
        {!entries && !more && <p class="muted">{connection.loading}</p>}
        {entries?.length === 0 && <p class="muted">{tournament.none}</p>}
        <ul class="tournament-rows">
          {entries?.map((one) => (
            <Row key={one.tournamentId} of={one} />
          ))}
        </ul>
        {more && (
          <button type="button" disabled={busy} onClick={more}>
            {archive.more}
          </button>
        )}
      </section>
    </div>
  );
}

function Row({ of }: { of: Tournament }) {
  const texts = text.value;
  const { settings, tournamentId } = of;
  const runs = !isOver(of) && of.phase !== TournamentPhase.OPEN;
  return (
    <li>
      <div class="row-main">
        <a class="row-name" href={address({ screen: "tournament", tournamentId })}>
          {settings?.name}
        </a>
        <p class="row-players">{settings && formatText(texts, settings)}</p>
        <p class="row-players muted">{admitsText(texts, settings?.admits)}</p>
      </div>
      <p class="row-state muted">
        {settings?.game && <span>{timeControlText(texts, settings.game)}</span>}
        {settings?.game?.rated && <span class="tag">{texts.room.rated}</span>}
        {of.hasPassword && <span class="tag">{texts.rooms.password}</span>}
        <span>{texts.tournament.entrants(of.entrants)}</span>
        <span class={`tag${runs ? " good" : ""}`}>{phaseText(texts, of, dateTime)}</span>
      </p>
    </li>
  );
}
