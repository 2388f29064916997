import { records } from "../api/records";
import { useQuery } from "../state/use_query";
import { text } from "../text/text";
import { Unavailable } from "../ui/control/unavailable";
import { Replay } from "../ui/replay/replay";

/** A finished game, shown first after `ply` plies. */
export function ReplayScreen({ gameId, ply }: { gameId: string; ply: number }) {
  const { answer, refused } = useQuery(() => records.getGame({ gameId }));
  if (refused) return <Unavailable refused={refused} />;
  if (!answer?.game) return <p class="muted">{text.value.connection.loading}</p>;
  return <Replay record={answer.game} first={ply} />;
}
