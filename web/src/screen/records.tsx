import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { records } from "../api/records";
import { ParticipantKind } from "../gen/reversi/v1/record_pb";
import type { RecordFilter } from "../record_filter";
import { address } from "../route";
import { replace, route } from "../state/location";
import { usePages } from "../state/use_pages";
import { text } from "../text/text";
import { Ranking } from "../ui/archive/ranking";
import { RecordFilterForm } from "../ui/archive/record_filter";
import { RecordList } from "../ui/archive/record_list";

/** Games a page. */
const PAGE = 50;

/** All finished games with a filter, and the ranking of people, bots and AIs. The address carries the filter. */
export function RecordsScreen({ filter }: { filter: RecordFilter }) {
  const { archive } = text.value;
  const change = (changed: Partial<RecordFilter>) => {
    // A player may be found after the screen is left, and after another choice.
    const shown = route.value;
    if (shown.screen === "records") replace({ screen: "records", filter: { ...shown.filter, ...changed } });
  };
  return (
    <div class="records">
      <div class="title-row">
        <h1>{archive.finished}</h1>
        <a class="button" href={address({ screen: "explore", moves: "" })}>
          {archive.openings}
        </a>
      </div>
      <div class="records-columns">
        <section class="panel">
          <h2>{archive.games}</h2>
          <RecordFilterForm filter={filter} change={change} />
          <Games key={JSON.stringify(filter)} filter={filter} />
        </section>
        <div class="stack">
          <p class="hint">{archive.ratingScale}</p>
          <Ranking title={text.value.stats.humans} kind={ParticipantKind.HUMAN} />
          <Ranking title={text.value.stats.bots} kind={ParticipantKind.BOT} />
          <Ranking title={text.value.stats.ais} kind={ParticipantKind.AI} />
        </div>
      </div>
    </div>
  );
}

function Games({ filter }: { filter: RecordFilter }) {
  const { archive, stats, connection } = text.value;
  const {
    entries: games,
    busy,
    more,
  } = usePages(async (pageToken) => {
    const page = await records.listGames({ filter: wireFilter(filter), pageSize: PAGE, pageToken });
    return { entries: page.games, next: page.nextPageToken };
  });
  return (
    <>
      {!games && !more && <p class="muted">{connection.loading}</p>}
      {games?.length === 0 && <p class="muted">{archive.noGames}</p>}
      {games && <RecordList games={games} />}
      {more && (
        <button type="button" disabled={busy} onClick={more}>
          {stats.more}
        </button>
      )}
    </>
  );
}

function wireFilter({ from, until, rated, playerName: _, ...rest }: RecordFilter) {
  return {
    ...rest,
    ...(rated && { rated }),
    ...(from && { endedFrom: timestampFromDate(midnight(from)) }),
    ...(until && { endedBefore: timestampFromDate(midnight(until, 1)) }),
  };
}

/** The start of a day, or of a later one, here. */
function midnight(day: string, later = 0): Date {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + later);
  return date;
}
