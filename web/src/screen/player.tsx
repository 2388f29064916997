import { records } from "../api/records";
import { type Player, PlayerKind } from "../gen/reversi/v1/types_pb";
import { timeControlText } from "../room/time_control";
import { chosenTerms } from "../state/room/quick_search";
import { useQuery } from "../state/use_query";
import { session } from "../state/session";
import { text } from "../text/text";
import { ClaimPanel } from "../ui/profile/claim_panel";
import { GameHistory } from "../ui/profile/game_history";
import { InviteButton } from "../ui/lobby/invite_button";
import { Unavailable } from "../ui/control/unavailable";
import { StatisticsPanel } from "../ui/profile/statistics_panel";

/** A player's statistics and finished games. */
export function PlayerScreen({ playerId }: { playerId: string }) {
  const { stats: texts, room, connection } = text.value;
  const { answer, refused } = useQuery(() => records.getPlayerStats({ playerId }));
  if (refused?.reason === "PLAYER_NOT_FOUND") return <Departed playerId={playerId} />;
  if (refused) return <Unavailable refused={refused} />;
  if (!answer?.player || !answer.stats) return <p class="muted">{connection.loading}</p>;
  const { displayName, kind, engineVersion } = answer.player;
  const isOwn = playerId === session.value?.playerId;
  return (
    <div class="profile">
      <div class="column">
        <section class="panel">
          <p class="muted">{texts.title}</p>
          <h1 class="profile-name">{displayName}</h1>
          <p>
            <span class="tag">{kind === PlayerKind.BOT ? room.kind.bot : room.kind.human}</span> {engineVersion}{" "}
            {isOwn && texts.you}
          </p>
          {!isOwn && <Invite guest={answer.player} />}
        </section>
        {isOwn && <ClaimPanel />}
        <StatisticsPanel stats={answer.stats} />
      </div>
      <GameHistory playerId={playerId} />
    </div>
  );
}

/** The button, and the terms of the game. */
function Invite({ guest }: { guest: Player }) {
  const terms = chosenTerms();
  return (
    <>
      <InviteButton guest={guest} />
      <p class="muted facts">
        <span>{timeControlText(text.value, terms)}</span>
        {terms.rated && <span>{text.value.room.rated}</span>}
      </p>
    </>
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
