import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";
import { records } from "../api/client";
import { type GameRecord, ParticipantKind } from "../gen/reversi/v1/record_pb";
import { address } from "../route";
import { retry } from "../api/retry";
import { attempt } from "../state/call";
import { text } from "../text/text";
import { Ranking } from "../ui/archive/ranking";
import { ALL_GAMES, type RecordFilter, RecordFilterForm } from "../ui/archive/record_filter";
import { RecordList } from "../ui/archive/record_list";

/** Games a page. */
const PAGE = 50;

const DAY = 24 * 60 * 60 * 1000;

/** All finished games with a filter, and the ranking of people and bots. */
export function RecordsScreen() {
  const { archive } = text.value;
  const [filter, setFilter] = useState(ALL_GAMES);
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
          <RecordFilterForm filter={filter} change={(changed) => setFilter((before) => ({ ...before, ...changed }))} />
          <Games key={JSON.stringify(filter)} filter={filter} />
        </section>
        <div class="stack">
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
  const [games, setGames] = useState<readonly GameRecord[] | undefined>();
  const [next, setNext] = useState("");
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    const request = { filter: wireFilter(filter), pageSize: PAGE, pageToken: next };
    const page = await attempt(() => retry(() => records.listGames(request)));
    setBusy(false);
    if (!page) return;
    setGames([...(games ?? []), ...page.games]);
    setNext(page.nextPageToken);
  };
  useEffect(() => void more(), []);
  if (!games) return <p class="muted">{connection.loading}</p>;
  return (
    <>
      {games.length === 0 && <p class="muted">{archive.noGames}</p>}
      <RecordList games={games} />
      {next && (
        <button type="button" disabled={busy} onClick={more}>
          {stats.more}
        </button>
      )}
    </>
  );
}

function wireFilter({ player, kind, result, opening, minRating, rated, until }: RecordFilter) {
  const day = until ? new Date(`${until}T00:00`) : undefined;
  return {
    playerId: player?.playerId ?? "",
    kind,
    result,
    opening,
    minRating,
    ...(rated && { rated }),
    ...(day && { endedBefore: timestampFromDate(new Date(day.getTime() + DAY)) }),
  };
}
