import { useState } from "preact/hooks";
import { lobby, rooms } from "../api/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SeatSchema } from "../gen/reversi/v1/types_pb";
import { type Color, opposite } from "../game/board";
import { type Ai, OPPONENTS } from "../room/opponent";
import { SEATS } from "../room/seat";
import { retry } from "../api/retry";
import { attempt } from "../state/call";
import { replace } from "../state/location";
import { requestId } from "../state/request_id";
import { session } from "../state/session";
import { text } from "../text/text";
import { OpponentChoice } from "../ui/lobby/opponent_choice";
import { SegmentedControl } from "../ui/control/segmented_control";
import { changesOf, type Draft, FIRST_DRAFT, SettingsForm, useRefusedSettings } from "../ui/room/settings_form";

type Who = "me" | "open" | "ai";

/** The form for a new room: seats and settings. */
export function CreateRoomScreen() {
  const texts = text.value.create;
  const [who, setWho] = useState<Record<Color, Who>>({ black: "me", white: "open" });
  const { draft, change } = useDraft(isInvitation(who));
  const [ais, setAis] = useState<Partial<Record<Color, Ai>>>({});
  const [busy, setBusy] = useState(false);
  const { refused, isShown, forget } = useRefusedSettings();
  const aiOf = (color: Color) => ais[color] ?? OPPONENTS[0];

  /** The player takes one seat only. */
  const seat = (color: Color, to: Who) => {
    const other: Color = opposite(color);
    const moved = to === "me" && who[other] === "me";
    setWho({ ...who, [color]: to, ...(moved && { [other]: "open" }) });
  };

  const create = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    forget();
    const id = requestId();
    const answer = await attempt(() => {
      // A visitor has a name only when this is repeated.
      const seats = SEATS.map((color) => seatOf(who[color], aiOf(color)));
      const settings = changesOf(draft);
      return retry(() => lobby.createRoom({ settings, seats, password: draft.password, requestId: id }));
    }, isShown);
    const roomId = answer?.room?.roomId ?? "";
    // The game then starts as soon as the other player is ready.
    if (roomId && draft.autoStart && SEATS.some((color) => who[color] === "me"))
      await attempt(() => rooms.setReady({ roomId, ready: true }));
    setBusy(false);
    if (answer?.room) replace({ screen: "room", roomId: answer.room.roomId });
  };

  return (
    <form class="create" onSubmit={create}>
      <h1>{texts.title}</h1>
      <section class="panel">
        <h2>{texts.players}</h2>
        {SEATS.map((color) => (
          <div key={color} class="seat-choice">
            <SegmentedControl
              label={texts.seatOf[color]}
              value={who[color]}
              choose={(to) => seat(color, to)}
              options={[
                ["me", texts.me],
                ["open", texts.open],
                ["ai", texts.ai],
              ]}
            />
            {who[color] === "ai" && (
              <OpponentChoice label={texts.ai} value={aiOf(color)} choose={(ai) => setAis({ ...ais, [color]: ai })} />
            )}
          </div>
        ))}
      </section>
      <section class="panel">
        <SettingsForm draft={draft} change={change} refused={refused} />
      </section>
      <button class="primary large" disabled={busy}>
        {texts.create}
      </button>
    </form>
  );
}

/** The settings in the form. Whether the game starts by itself is as given until that is chosen. */
function useDraft(autoStart: boolean) {
  const [entered, setEntered] = useState(FIRST_DRAFT);
  const [chosen, setChosen] = useState<boolean | undefined>();
  const draft = { ...entered, autoStart: chosen ?? autoStart };
  const change = (to: Draft) => {
    setEntered(to);
    if (to.autoStart !== draft.autoStart) setChosen(to.autoStart);
  };
  return { draft, change };
}

/** Whether the player waits for another one, whose first action should start the game. */
function isInvitation({ black, white }: Record<Color, Who>): boolean {
  return (black === "me" && white === "open") || (black === "open" && white === "me");
}

function seatOf(who: Who, ai: Ai | undefined): MessageInitShape<typeof SeatSchema> {
  if (who === "ai" && ai) return { occupant: { case: "ai", value: ai } };
  const playerId = session.value?.playerId ?? "";
  return who === "me"
    ? { occupant: { case: "player", value: { playerId } } }
    : { occupant: { case: "open", value: {} } };
}
