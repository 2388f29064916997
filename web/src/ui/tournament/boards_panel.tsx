import { useEffect, useState } from "preact/hooks";
import type { LiveGames } from "../../room/row/live_games";
import { watchLiveGames } from "../../state/live_games";
import { text } from "../../text/text";
import { GameTile } from "../lobby/game_tile";

/** The running games of a tournament as small boards with clocks. */
export function BoardsPanel({ tournamentId }: { tournamentId: string }) {
  const [games, setGames] = useState<LiveGames | undefined>();
  useEffect(() => {
    const watched = watchLiveGames(tournamentId);
    const unsubscribe = watched.games.subscribe(setGames);
    return () => {
      unsubscribe();
      watched.stop();
    };
  }, [tournamentId]);
  if (!games || games.size === 0) return null;
  return (
    <section class="panel">
      <h2>{text.value.tournament.boards}</h2>
      <ul class="game-grid">
        {[...games.values()].map((tile) => (
          <li key={tile.row.roomId}>
            <GameTile tile={tile} announced={false} />
          </li>
        ))}
      </ul>
    </section>
  );
}
