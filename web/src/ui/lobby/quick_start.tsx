import { useState } from "preact/hooks";
import { lobby } from "../../api/client";
import { SidePreference } from "../../gen/reversi/v1/lobby_pb";
import { type Ai, OPPONENTS } from "../../room/opponent";
import { address } from "../../route";
import { retry } from "../../api/retry";
import { attempt } from "../../state/call";
import { navigate } from "../../state/location";
import { chosenTerms, searchRoom } from "../../state/room/quick_search";
import { requestId } from "../../state/request_id";
import { serverInfo } from "../../state/server_info";
import { persistentSignal } from "../../state/persistent_signal";
import { text } from "../../text/text";
import { OpponentChoice } from "./opponent_choice";
import { SegmentedControl } from "../control/segmented_control";
import { TermsChoice } from "./terms_choice";

type Opponent = "ai" | "anyone";
type SideChoice = "black" | "random" | "white";

const SIDES: Record<SideChoice, SidePreference> = {
  black: SidePreference.BLACK,
  random: SidePreference.RANDOM,
  white: SidePreference.WHITE,
};

const chosenAi = persistentSignal<Ai | undefined>("opponent", undefined, isAi);

/** A form that starts a game against an AI or any waiting player. */
export function QuickStart() {
  const { home, create: form, side: sides } = text.value;
  const [opponent, setOpponent] = useState<Opponent>("ai");
  const [side, setSide] = useState<SideChoice>("black");
  const [busy, setBusy] = useState(false);
  const offered = serverInfo.value?.aiKinds ?? [];
  const known = offered.some(({ kind }) => kind === chosenAi.value?.kind);
  const ai = known ? chosenAi.value : OPPONENTS[0];

  const start = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    // Two players who both want black would never be paired.
    const pairing =
      opponent === "ai" && ai
        ? { opponent: { case: "ai" as const, value: ai }, side: SIDES[side] }
        : {
            opponent: { case: "anyone" as const, value: {} },
            side: SidePreference.RANDOM,
            settings: chosenTerms(),
          };
    const request = { ...pairing, requestId: requestId() };
    const answer = await attempt(() => retry(() => lobby.quickStart(request)));
    setBusy(false);
    if (!answer?.room) return;
    if (opponent === "anyone") searchRoom.value = answer.room.roomId;
    navigate({ screen: "room", roomId: answer.room.roomId });
  };

  return (
    <form class="panel" onSubmit={start}>
      <h2>{home.quick}</h2>
      <SegmentedControl
        label={home.opponent}
        value={opponent}
        choose={setOpponent}
        options={[
          ["ai", home.ai],
          ["anyone", home.anyone],
        ]}
      />
      {opponent === "ai" ? (
        <>
          <OpponentChoice label={form.ai} value={ai} choose={(value) => (chosenAi.value = value)} />
          <a href={address({ screen: "ais" })}>{home.allAis}</a>
          <SegmentedControl
            label={sides.title}
            value={side}
            choose={setSide}
            options={[
              ["black", sides.black],
              ["random", sides.random],
              ["white", sides.white],
            ]}
          />
        </>
      ) : (
        <>
          <TermsChoice />
          <p class="hint">{home.anyoneWhy}</p>
        </>
      )}
      <button class="primary large" disabled={busy || (opponent === "ai" && !ai)}>
        {opponent === "ai" ? home.start : home.search}
      </button>
    </form>
  );
}

function isAi(value: unknown): value is Ai {
  const { kind, level } = (value ?? {}) as Partial<Ai>;
  return typeof kind === "string" && typeof level === "number";
}
