import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useEffect, useState } from "preact/hooks";
import { records } from "../api/client";
import { type GameRecord, ParticipantKind } from "../gen/reversi/v1/record_pb";
import { GameResult } from "../gen/reversi/v1/types_pb";
import { address } from "../route";
import { attempt, retry } from "../state/call";
import { text } from "../text/text";
import { Ranking } from "../ui/archive/ranking";
import { RecordList } from "../ui/archive/record_list";

/** Games a page. */
const PAGE = 50;

const DAY = 24 * 60 * 60 * 1000;

interface Filter {
  kind: ParticipantKind;
  result: GameResult;
  rated: boolean;
  minRating: number;
  /** A day, as YYYY-MM-DD; empty for none. */
  until: string;
}

const ALL: Filter = {
  kind: ParticipantKind.UNSPECIFIED,
  result: GameResult.UNSPECIFIED,
  rated: false,
  minRating: 0,
  until: "",
};

/** All finished games with a filter, and the ranking of people and bots. */
export function RecordsScreen() {
  const { archive } = text.value;
  const [filter, setFilter] = useState(ALL);
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
          <FilterForm filter={filter} change={setFilter} />
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

function FilterForm({ filter, change }: { filter: Filter; change: (filter: Filter) => void }) {
  const { archive, stats } = text.value;
  const choice = (
    label: string,
    value: number,
    options: readonly (readonly [number, string])[],
    set: (to: number) => void,
  ) => (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => set(Number(event.currentTarget.value))}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
  const kinds = [
    [ParticipantKind.UNSPECIFIED, archive.everyone],
    [ParticipantKind.HUMAN, stats.humans],
    [ParticipantKind.BOT, stats.bots],
    [ParticipantKind.AI, stats.ais],
  ] as const;
  const results = [
    [GameResult.UNSPECIFIED, archive.any],
    [GameResult.BLACK_WINS, archive.blackWins],
    [GameResult.WHITE_WINS, archive.whiteWins],
    [GameResult.DRAW, archive.draw],
    [GameResult.ABORTED, stats.aborted],
  ] as const;
  const ratings = [0, 1400, 1600, 1800, 2000].map((rating) => [rating, rating ? `${rating}` : archive.any] as const);
  return (
    <div class="record-filter">
      {choice(archive.who, filter.kind, kinds, (kind) => change({ ...filter, kind }))}
      {choice(archive.result, filter.result, results, (result) => change({ ...filter, result }))}
      {choice(archive.minRating, filter.minRating, ratings, (minRating) => change({ ...filter, minRating }))}
      <label class="field">
        <span>{archive.until}</span>
        <input
          type="date"
          value={filter.until}
          onChange={(event) => change({ ...filter, until: event.currentTarget.value })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={filter.rated}
          onChange={(event) => change({ ...filter, rated: event.currentTarget.checked })}
        />
        <span>{archive.ratedOnly}</span>
      </label>
    </div>
  );
}

function Games({ filter }: { filter: Filter }) {
  const { archive, stats, connection } = text.value;
  const [games, setGames] = useState<readonly GameRecord[] | undefined>();
  const [next, setNext] = useState("");
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    const { kind, result, minRating, rated, until } = filter;
    const day = until ? new Date(`${until}T00:00`) : undefined;
    const wire = {
      kind,
      result,
      minRating,
      ...(rated && { rated }),
      ...(day && { endedBefore: timestampFromDate(new Date(day.getTime() + DAY)) }),
    };
    const request = { filter: wire, pageSize: PAGE, pageToken: next };
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
