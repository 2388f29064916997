import { records } from "../api/client";
import { useAnswer } from "../state/use_query";
import { text } from "../text/text";
import { Gone } from "../ui/control/unavailable";
import { Replay } from "../ui/replay/replay";

export function ReplayScreen({ gameId }: { gameId: string }) {
  const { answer, refused } = useAnswer(() => records.getGame({ gameId }));
  if (refused) return <Gone refused={refused} />;
  if (!answer?.game) return <p class="muted">{text.value.connection.loading}</p>;
  return <Replay record={answer.game} />;
}
