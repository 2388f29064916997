import { useMemo } from "preact/hooks";
import { records } from "../../api/records";
import { opposite, parseBoard } from "../../game/board";
import { instant } from "../../game/clock";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { participantName, resultFor, sideIn } from "../../room/game_record";
import { discsOf } from "../../room/outcome";
import { address } from "../../route";
import { usePages } from "../../state/use_pages";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";
import { ParticipantLink } from "./participant_link";
import { SmallBoard } from "../board/small_board";

/** Games a page. */
const PAGE = 24;

/** A player's finished games, newest first, loaded by page. */
export function GameHistory({ playerId }: { playerId: string }) {
  const { stats } = text.value;
  const {
    entries: games,
    busy,
    more,
  } = usePages(async (pageToken) => {
    const page = await records.listGames({ filter: { playerId }, pageSize: PAGE, pageToken });
    return { entries: page.games, next: page.nextPageToken };
  });
  return (
    <section class="panel">
      <h2>{stats.games}</h2>
      {!games && !more && <p class="muted">{text.value.connection.loading}</p>}
      {games?.length === 0 && (
        <>
          <p class="muted">{stats.noGames}</p>
          <a class="button primary" href={address({ screen: "home" })}>
            {stats.playNow}
          </a>
        </>
      )}
      <ul class="history">
        {games?.map((record) => (
          <Row key={record.gameId} record={record} playerId={playerId} />
        ))}
      </ul>
      {more && (
        <button type="button" disabled={busy} onClick={more}>
          {stats.more}
        </button>
      )}
    </section>
  );
}

/** One game, with the player's result and opponent. */
function Row({ record, playerId }: { record: GameRecord; playerId: string }) {
  const texts = text.value;
  const { stats, rooms, result, side, game } = texts;
  const board = useMemo(() => parseBoard(record.board), [record]);
  const own = sideIn(record, playerId);
  const opponent = record[opposite(own)];
  const ending = resultFor(record, own);
  const points = record.outcome && discsOf(record.outcome);
  const replay = address({ screen: "game", gameId: record.gameId });
  return (
    <li>
      <a
        class="history-board"
        href={replay}
        aria-label={stats.replay(participantName(texts, opponent))}
        title={game.replay}
      >
        <SmallBoard board={board} />
      </a>
      <div>
        <p>
          <span class={`tag ending ${ending}`}>{stats[ending]}</span>{" "}
          {points && (
            <strong class="numbers">
              {points[own]}–{points[opposite(own)]}
            </strong>
          )}
        </p>
        <p class="history-players">
          <span class={`chip ${own}`} aria-hidden="true" /> <span class="visually-hidden">{side[own]}</span>
          <span class="muted">{rooms.versus}</span> <ParticipantLink of={opponent} />
        </p>
        <p class="hint">
          {record.outcome && result.reason[record.outcome.reason]}
          {record.rated && ` · ${texts.replay.rated}`}
        </p>
        <p class="hint">{record.endedAt && dateTime(instant(record.endedAt))}</p>
      </div>
    </li>
  );
}
