import { retry } from "../../api/retry";
import { tournaments } from "../../api/tournaments";
import { EntrantState, type Standing, type Tournament } from "../../gen/reversi/v1/tournament_pb";
import { participantName } from "../../room/game_record";
import { attemptInTournament } from "../../state/tournament/attempt";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";
import { eloText, entrantStateText, isOver, pointsText, sprtText } from "../../tournament/words";
import { ConfirmButton } from "../control/confirm_button";
import { ParticipantLink } from "../profile/participant_link";
import { WideTable } from "./wide_table";

interface StandingsProps {
  tournament: Tournament;
  standings: readonly Standing[];
  /** Whether the player may exclude entrants. */
  organises: boolean;
}

/** The table of all entrants, the best first. */
export function StandingsPanel({ tournament, standings, organises }: StandingsProps) {
  const texts = text.value.tournament;
  const columns = [texts.rank, texts.name, texts.points, texts.score, texts.elo, texts.discs, texts.state];
  return (
    <section class="panel">
      <h2>{texts.standings}</h2>
      {standings.length === 0 && <p class="muted">{texts.noEntrants}</p>}
      {standings.length > 0 && (
        <WideTable class="standings" label={texts.standings}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {standings.map((one) => (
              <Row key={one.entrant} of={one} tournament={tournament} organises={organises} />
            ))}
          </tbody>
        </WideTable>
      )}
    </section>
  );
}

function Row({ of, tournament, organises }: { of: Standing; tournament: Tournament; organises: boolean }) {
  // Who has gone home after the end is not away.
  const isAway = of.state === EntrantState.AWAY && isOver(tournament);
  return (
    <tr>
      <td>{of.rank}</td>
      <th scope="row">
        <ParticipantLink of={of.who} />
      </th>
      <td>{pointsText(of.halfPoints)}</td>
      <td>
        {of.wins}–{of.draws}–{of.losses}
      </td>
      <td>
        {eloText(of)} <span class="muted">{sprtText(of)}</span>
      </td>
      <td>{of.discs}</td>
      <td>
        {!isAway && <span class="muted">{entrantStateText(text.value, of, dateTime)}</span>}{" "}
        {organises && <Exclusion of={of} tournamentId={tournament.tournamentId} />}
      </td>
    </tr>
  );
}

/** The button to exclude an entrant, or to admit one again. */
function Exclusion({ of, tournamentId }: { of: Standing; tournamentId: string }) {
  const texts = text.value.tournament;
  const name = participantName(text.value, of.who);
  const set = (change: "exclude" | "admit") =>
    void attemptInTournament(() =>
      retry(() => tournaments.setEntrant({ tournamentId, change: { case: change, value: of.entrant } })),
    );
  if (of.state === EntrantState.EXCLUDED) {
    return (
      <button type="button" class="small" onClick={() => set("admit")}>
        {texts.admit}
        <span class="visually-hidden"> {name}</span>
      </button>
    );
  }
  return (
    <ConfirmButton class="small" ask={texts.excludeSure(name)} run={() => set("exclude")}>
      {texts.exclude}
      <span class="visually-hidden"> {name}</span>
    </ConfirmButton>
  );
}
