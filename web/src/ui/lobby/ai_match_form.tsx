import { useState } from "preact/hooks";
import { attempt } from "../../state/call";
import { navigate } from "../../state/location";
import type { Ai } from "../../room/opponent";
import { startAiMatch } from "../../state/ai_match";
import { serverInfo } from "../../state/server_info";
import { text } from "../../text/text";
import { AiChoice, firstAi } from "./ai_choice";

/** The pause before each move: slow enough to follow. */
const PAUSE = { seconds: 1n, nanos: 200_000_000 };

/** Starts a game of two chosen AIs. */
export function AiMatchForm() {
  const { home, side } = text.value;
  const offered = serverInfo.value?.aiKinds ?? [];
  const [chosen, setChosen] = useState<{ black?: Ai; white?: Ai }>({});
  const [busy, setBusy] = useState(false);
  const black = chosen.black ?? firstAi(offered, "alphabeta");
  const white = chosen.white ?? firstAi(offered, "mcts");

  const start = async (event: Event) => {
    event.preventDefault();
    if (!black || !white) return;
    setBusy(true);
    const roomId = await attempt(() => startAiMatch([black, white], { aiPause: PAUSE }));
    setBusy(false);
    if (roomId) navigate({ screen: "room", roomId });
  };

  return (
    <form class="panel" onSubmit={start}>
      <h2>{home.bots}</h2>
      <p class="muted">{home.botsWhy}</p>
      <AiChoice label={side.black} value={black} choose={(ai) => setChosen({ ...chosen, black: ai })} />
      <AiChoice label={side.white} value={white} choose={(ai) => setChosen({ ...chosen, white: ai })} />
      <button disabled={busy || !black || !white}>{home.watch}</button>
    </form>
  );
}
