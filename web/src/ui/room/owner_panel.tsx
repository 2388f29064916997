import { useState } from "preact/hooks";
import { rooms } from "../../api/client";
import type { Color } from "../../game/board";
import { RoomPhase } from "../../gen/reversi/v1/types_pb";
import { type Ai, OPPONENTS } from "../../room/opponent";
import { isRunning, occupantName, SEATS } from "../../room/seat";
import { attempt } from "../../state/call";
import { notify } from "../../state/notice";
import { text } from "../../text/text";
import { OpponentChoice } from "../lobby/opponent_choice";
import { changesOf, draftOf, SAVED_FIELDS, SettingsForm, useRefusedSettings } from "./settings_form";
import type { RoomProps } from "./room_view";

/** The owner's controls for seats and settings, between games. */
export function OwnerPanel(props: RoomProps) {
  const { room } = props;
  const { roomId } = room;
  const texts = text.value.room;
  if (isRunning(room) || room.phase === RoomPhase.PLAYING) return null;
  return (
    <details>
      <summary>{texts.manage}</summary>
      <div class="stack">
        {SEATS.map((color) => (
          <SeatControl key={color} {...props} color={color} />
        ))}
        <button type="button" onClick={() => attempt(() => rooms.swapSeats({ roomId }))}>
          ⇅ {texts.swap}
        </button>
        <details>
          <summary>{texts.settings}</summary>
          <Settings room={room} />
        </details>
      </div>
    </details>
  );
}

/** Controls for a seat that no other player holds. */
function SeatControl({ room, me, color }: RoomProps & { color: Color }) {
  const { room: texts, side, create } = text.value;
  const seat = SEATS.indexOf(color);
  const occupant = room.seats[seat]?.occupant;
  const [chosen, setChosen] = useState<Ai | undefined>();
  if (!occupant || (occupant.case === "player" && occupant.value.playerId !== me)) return null;
  const ai = chosen ?? (occupant.case === "ai" ? occupant.value : OPPONENTS[0]);
  const set = (to: { case: "open"; value: object } | { case: "ai"; value: Ai }) =>
    attempt(() => rooms.setSeat({ roomId: room.roomId, seat, occupant: to }));
  return (
    <fieldset class="seat-control">
      <legend>
        {texts.seatFor(side[color])}: {room.seats[seat] && occupantName(text.value, room.seats[seat])}
      </legend>
      <OpponentChoice label={create.ai} value={ai} choose={setChosen} />
      <div class="buttons">
        <button type="button" class="small" disabled={!ai} onClick={() => ai && set({ case: "ai", value: ai })}>
          {texts.makeAi}
        </button>
        <button
          type="button"
          class="small"
          disabled={occupant.case === "open"}
          onClick={() => set({ case: "open", value: {} })}
        >
          {texts.makeOpen}
        </button>
      </div>
    </fieldset>
  );
}

function Settings({ room }: Pick<RoomProps, "room">) {
  const [draft, setDraft] = useState(() => draftOf(room.settings));
  const { refused, isShown, forget } = useRefusedSettings();
  const { create, event } = text.value;
  const save = async (submit: Event) => {
    submit.preventDefault();
    const { noPassword: clearPassword } = draft;
    const password = clearPassword ? "" : draft.password;
    const updateMask = { paths: SAVED_FIELDS };
    const request = { roomId: room.roomId, settings: changesOf(draft), updateMask, password, clearPassword };
    forget();
    if (!(await attempt(() => rooms.updateSettings(request), isShown))) return;
    setDraft({ ...draft, password: "", noPassword: false });
    notify(event.settings);
  };
  return (
    <form class="stack" onSubmit={save}>
      <SettingsForm draft={draft} change={setDraft} hasPassword={room.hasPassword} refused={refused} />
      <button class="primary">{create.save}</button>
    </form>
  );
}
