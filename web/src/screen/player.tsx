import { records } from "../api/records";
import { PlayerKind } from "../gen/reversi/v1/types_pb";
import { useQuery } from "../state/use_query";
import { session } from "../state/session";
import { text } from "../text/text";
import { ClaimPanel } from "../ui/profile/claim_panel";
import { GameHistory } from "../ui/profile/game_history";
import { Unavailable } from "../ui/control/unavailable";
import { StatisticsPanel } from "../ui/profile/statistics_panel";

/** A player's statistics and finished games. */
export function PlayerScreen({ playerId }: { playerId: string }) {
  const { stats: texts, room, connection } = text.value;
  const { answer, refused } = useQuery(() => records.getPlayerStats({ playerId }));
  if (refused?.reason === "PLAYER_NOT_FOUND") return <Departed playerId={playerId} />;
  if (refused) return <Unavailable refused={refused} />;
  if (!answer?.player || !answer.stats) return <p class="muted">{connection.loading}</p>;
  const { displayName, kind } = answer.player;
  return (
    <div class="profile">
      <div class="column">
        <section class="panel">
          <p class="muted">{texts.title}</p>
          <h1 class="profile-name">{displayName}</h1>
          <p>
            <span class="tag">{kind === PlayerKind.BOT ? room.kind.bot : room.kind.human}</span>{" "}
            {playerId === session.value?.playerId && texts.you}
          </p>
        </section>
        {playerId === session.value?.playerId && <ClaimPanel />}
        <StatisticsPanel stats={answer.stats} />
      </div>
      <GameHistory playerId={playerId} />
    </div>
  );
}

/** A player who has logged out: only the games are left. */
function Departed({ playerId }: { playerId: string }) {
  const { answer, refused } = useQuery(() => records.listGames({ filter: { playerId }, pageSize: 1 }));
  if (refused) return <Unavailable refused={refused} />;
  if (!answer) return <p class="muted">{text.value.connection.loading}</p>;
  return (
    <div class="column">
      <h1>{text.value.stats.departed}</h1>
      <GameHistory playerId={playerId} />
    </div>
  );
}
