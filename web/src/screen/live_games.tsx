import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveGames } from "../room/row/live_games";
import { attempt } from "../state/call";
import { randomAiPair, startAiMatch } from "../state/ai_match";
import { loadServerInfo, serverInfo } from "../state/server_info";
import { watchLiveGames } from "../state/live_games";
import { text } from "../text/text";
import { GameGrid } from "../ui/lobby/game_grid";
import { GameTile } from "../ui/lobby/game_tile";

/** Boards a page. */
const PAGE = 60;

/** Up to this number of games, each end is announced. */
const FEW = 6;

/** Ten games with 0.8 s before each move. */
const SERIES = { aiPause: { nanos: 800_000_000 }, games: 10 };

/** The running games as small live boards. */
export function LiveGamesScreen() {
  const { liveGames: texts, connection } = text.value;
  const [games, setGames] = useState<LiveGames | undefined>();
  const [page, setPage] = useState(0);
  const screen = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watched = watchLiveGames();
    const unsubscribe = watched.games.subscribe(setGames);
    return () => {
      unsubscribe();
      watched.stop();
    };
  }, []);
  if (!games) return <p class="muted">{connection.loading}</p>;
  if (games.size === 0) return <Empty />;
  const tiles = [...games.values()];
  const current = Math.min(page, Math.ceil(tiles.length / PAGE) - 1);
  const shown = tiles.slice(current * PAGE, (current + 1) * PAGE);
  return (
    <div ref={screen} class="live-games">
      <div class="title-row">
        <h1>
          {texts.title} <span class="tag">{texts.games(tiles.length)}</span>
        </h1>
        <span class="buttons">
          <Start label={texts.another} class="small" />
          {document.fullscreenEnabled && (
            <button type="button" class="small full" onClick={() => void screen.current?.requestFullscreen()}>
              {texts.full}
            </button>
          )}
        </span>
      </div>
      {tiles.length > PAGE && <Pages page={current} all={tiles.length} turn={setPage} />}
      <GameGrid count={shown.length}>
        {shown.map((tile) => (
          <li key={tile.row.roomId}>
            <GameTile tile={tile} announced={tiles.length <= FEW} />
          </li>
        ))}
      </GameGrid>
    </div>
  );
}

function Empty() {
  const { liveGames } = text.value;
  return (
    <section class="panel centered">
      <h1>{liveGames.none}</h1>
      <p class="muted">{liveGames.noneWhy}</p>
      <Start label={liveGames.start} class="primary large" />
    </section>
  );
}

function Start(props: { label: string; class: string }) {
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    await attempt(async () => {
      if (!serverInfo.value) await loadServerInfo();
      await startAiMatch(randomAiPair(serverInfo.value?.aiKinds ?? []), SERIES);
    });
    setBusy(false);
  };
  return (
    <button type="button" class={props.class} disabled={busy} onClick={start}>
      {props.label}
    </button>
  );
}

function Pages({ page, all, turn }: { page: number; all: number; turn: (page: number) => void }) {
  const { liveGames } = text.value;
  const end = Math.min(all, (page + 1) * PAGE);
  return (
    <nav class="pages" aria-label={liveGames.title}>
      <button type="button" class="small" disabled={page === 0} onClick={() => turn(page - 1)}>
        {liveGames.previous}
      </button>
      <span>{liveGames.page(page * PAGE + 1, end, all)}</span>
      <button type="button" class="small" disabled={end === all} onClick={() => turn(page + 1)}>
        {liveGames.next}
      </button>
    </nav>
  );
}
