import { useEffect, useMemo, useState } from "preact/hooks";
import { records } from "../../api/client";
import { opposite, parseBoard } from "../../game/board";
import { instant } from "../../game/clock";
import type { GameRecord } from "../../gen/reversi/v1/record_pb";
import { participantName, resultFor, sideIn } from "../../room/game_record";
import { discsOf } from "../../room/outcome";
import { address } from "../../route";
import { retry } from "../../api/retry";
import { attempt } from "../../state/call";
import { dateTime } from "../../text/date_time";
import { text } from "../../text/text";
import { ParticipantLink } from "./participant_link";
import { SmallBoard } from "../board/small_board";

/** Games a page. */
const PAGE = 24;

interface Listed {
  games: readonly GameRecord[];
  /** The token of the next page; empty after the last. */
  next: string;
}

/** A player's finished games, newest first, loaded by page. */
export function GameHistory({ playerId }: { playerId: string }) {
  const { stats } = text.value;
  const [listed, setListed] = useState<Listed | undefined>();
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    const request = { filter: { playerId }, pageSize: PAGE, pageToken: listed?.next ?? "" };
    const page = await attempt(() => retry(() => records.listGames(request)));
    setBusy(false);
    if (page) setListed({ games: [...(listed?.games ?? []), ...page.games], next: page.nextPageToken });
  };
  useEffect(() => void more(), []);
  return (
    <section class="panel">
      <h2>{stats.games}</h2>
      {!listed && <p class="muted">{text.value.connection.loading}</p>}
      {listed?.games.length === 0 && (
        <>
          <p class="muted">{stats.noGames}</p>
          <a class="button primary" href={address({ screen: "home" })}>
            {stats.playNow}
          </a>
        </>
      )}
      <ul class="history">
        {listed?.games.map((record) => (
          <Row key={record.gameId} record={record} playerId={playerId} />
        ))}
      </ul>
      {listed?.next && (
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
