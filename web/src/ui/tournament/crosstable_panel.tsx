import { useEffect, useRef, useState } from "preact/hooks";
import { tournaments } from "../../api/tournaments";
import type { Meeting, Standing, TournamentView } from "../../gen/reversi/v1/tournament_pb";
import { participantName } from "../../room/game_record";
import { text } from "../../text/text";
import { type Crosstable, crosstable } from "../../tournament/crosstable";
import { pointsText } from "../../tournament/words";
import { ParticipantLink } from "../profile/participant_link";
import { WideTable } from "./wide_table";

/** The most entrants and meetings of a crosstable. */
const MOST_ENTRANTS = 16;
const MOST_MEETINGS = 1000;

/** Meetings a page. */
const PAGE = 200;

/** The meetings are loaded this often, at most, in milliseconds. */
const PACE = 3_000;

/** Whether it is an all-play-all that has begun, of few entrants. */
export function hasCrosstable({ tournament, standings }: TournamentView): boolean {
  const meetings = tournament?.meetings ?? 0;
  const isAllPlayAll = tournament?.settings?.format.case === "allPlayAll";
  return isAllPlayAll && standings.length <= MOST_ENTRANTS && meetings > 0 && meetings <= MOST_MEETINGS;
}

/** The points of each entrant against each other one. */
export function CrosstablePanel({ view }: { view: TournamentView }) {
  const texts = text.value.tournament;
  const table = useCrosstable(view);
  if (!table) return null;
  return (
    <section class="panel">
      <h2>{texts.crosstable}</h2>
      <WideTable label={texts.crosstable}>
        <thead>
          <tr>
            <th scope="col">{texts.name}</th>
            {view.standings.map(({ entrant, rank, who }) => (
              <th key={entrant} scope="col" title={participantName(text.value, who)}>
                <span aria-hidden="true">{rank}</span>
                <span class="visually-hidden">{participantName(text.value, who)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.standings.map((one) => (
            <Row key={one.entrant} of={one} standings={view.standings} table={table} />
          ))}
        </tbody>
      </WideTable>
    </section>
  );
}

function Row({ of, standings, table }: { of: Standing; standings: readonly Standing[]; table: Crosstable }) {
  const points = table.get(of.entrant);
  return (
    <tr>
      <th scope="row">
        {of.rank}. <ParticipantLink of={of.who} />
      </th>
      {standings.map(({ entrant }) => (
        <td key={entrant} class={entrant === of.entrant ? "crosstable-own" : undefined}>
          {points?.has(entrant) && pointsText(points.get(entrant) ?? 0)}
        </td>
      ))}
    </tr>
  );
}

/** The crosstable, loaded again after changes of the tournament; undefined before the first time. */
function useCrosstable(view: TournamentView): Crosstable | undefined {
  const [table, setTable] = useState<Crosstable | undefined>();
  const loadedAt = useRef(-Infinity);
  const tournamentId = view.tournament?.tournamentId ?? "";
  useEffect(() => {
    const load = async () => {
      loadedAt.current = Date.now();
      const meetings = await allMeetings(tournamentId).catch(() => undefined);
      if (meetings) setTable(crosstable(meetings));
    };
    const timer = setTimeout(() => void load(), Math.max(0, loadedAt.current + PACE - Date.now()));
    return () => clearTimeout(timer);
  }, [view]);
  return table;
}

async function allMeetings(tournamentId: string): Promise<Meeting[]> {
  const all: Meeting[] = [];
  let pageToken = "";
  do {
    const page = await tournaments.listMeetings({ tournamentId, pageSize: PAGE, pageToken });
    all.push(...page.meetings);
    pageToken = page.nextPageToken;
  } while (pageToken);
  return all;
}
