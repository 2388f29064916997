import { useEffect, useRef, useState } from "preact/hooks";
import type { Wall } from "../room/live_games";
import { act } from "../state/call";
import { anyPair, startMatch } from "../state/ai_match";
import { askServer, server } from "../state/server_info";
import { watchWall } from "../state/live_games";
import { text } from "../text/text";
import { WallGrid } from "../ui/lobby/game_grid";
import { WallTile } from "../ui/lobby/game_tile";

/** As many boards are shown at once; the others are a page further. */
const PAGE = 60;

/** The ends of so few games are announced; of more, nobody could listen to all. */
const FEW = 6;

/** Slow enough to follow on a wall of many boards, and long enough to look in again later. */
const SERIES = { aiPause: { nanos: 800_000_000 }, games: 10 };

/** The running games as live small boards. */
export function TvScreen() {
  const { wall: texts, connection } = text.value;
  const [wall, setWall] = useState<Wall | undefined>();
  const [page, setPage] = useState(0);
  const screen = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watched = watchWall();
    const unsubscribe = watched.wall.subscribe(setWall);
    return () => {
      unsubscribe();
      watched.stop();
    };
  }, []);
  if (!wall) return <p class="muted">{connection.loading}</p>;
  if (wall.size === 0) return <Empty />;
  const tiles = [...wall.values()];
  const current = Math.min(page, Math.ceil(tiles.length / PAGE) - 1);
  const shown = tiles.slice(current * PAGE, (current + 1) * PAGE);
  return (
    <div ref={screen} class="tv">
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
      <WallGrid count={shown.length}>
        {shown.map((tile) => (
          <li key={tile.row.roomId}>
            <WallTile tile={tile} spoken={tiles.length <= FEW} />
          </li>
        ))}
      </WallGrid>
    </div>
  );
}

function Empty() {
  const { wall } = text.value;
  return (
    <section class="panel notable">
      <h1>{wall.none}</h1>
      <p class="muted">{wall.noneWhy}</p>
      <Start label={wall.start} class="primary large" />
    </section>
  );
}

function Start(props: { label: string; class: string }) {
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    await act(async () => {
      if (!server.value) await askServer();
      await startMatch(anyPair(server.value?.aiKinds ?? []), SERIES);
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
  const { wall } = text.value;
  const end = Math.min(all, (page + 1) * PAGE);
  return (
    <nav class="pages" aria-label={wall.title}>
      <button type="button" class="small" disabled={page === 0} onClick={() => turn(page - 1)}>
        {wall.previous}
      </button>
      <span>{wall.page(page * PAGE + 1, end, all)}</span>
      <button type="button" class="small" disabled={end === all} onClick={() => turn(page + 1)}>
        {wall.next}
      </button>
    </nav>
  );
}
