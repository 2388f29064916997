import { rooms } from "../../api/client";
import { RoomPhase } from "../../gen/reversi/v1/types_pb";
import { pace } from "../../room/time_control";
import { isComplete, isRunning } from "../../room/seat";
import { act } from "../../state/call";
import { go } from "../../state/location";
import { text } from "../../text/text";
import { Confirm } from "../control/confirm_button";
import { Invitation } from "./invitation";
import { Manage } from "./owner_panel";
import type { Seen } from "./room_view";

/** The room itself: what is played, who watches, how to invite, and the way out. */
export function RoomPanel({ watchers, ...seen }: Seen & { watchers: number }) {
  const { room, me, side } = seen;
  const texts = text.value.room;
  const { roomId, settings } = room;
  const member = room.members.some(({ player }) => player?.playerId === me);
  // The players look on as well; only the others are told of.
  const watching =
    watchers - room.seats.filter(({ occupant, present }) => occupant.case === "player" && present).length;
  const closed = room.phase === RoomPhase.CLOSED;
  const leave = async () => {
    if (await act(() => rooms.leaveRoom({ roomId }))) go({ screen: "home" });
  };
  return (
    <section class="panel">
      <h2>{settings?.name}</h2>
      <p class="muted facts">
        {settings && <span>{pace(text.value, settings)}</span>}
        {settings?.rated && <span>{texts.rated}</span>}
        {watching > 0 && <span>{texts.watchers(watching)}</span>}
      </p>
      {isComplete(room) && !closed && <Invitation room={room} />}
      {room.ownerId === me && !closed && <Manage {...seen} />}
      <div class="buttons">
        {!member && !closed && (
          <button type="button" onClick={() => act(() => rooms.joinRoom({ room: { case: "roomId", value: roomId } }))}>
            {texts.join}
          </button>
        )}
        {member &&
          !closed &&
          (side && isRunning(room) ? (
            <Confirm ask={texts.leaveGame} class="quiet" run={() => void leave()}>
              {texts.leave}
            </Confirm>
          ) : (
            <button type="button" class="quiet" onClick={leave}>
              {texts.leave}
            </button>
          ))}
        {room.ownerId === me && !isRunning(room) && (
          <Confirm ask={texts.closeSure} class="quiet" run={() => act(() => rooms.closeRoom({ roomId }))}>
            {texts.close}
          </Confirm>
        )}
      </div>
    </section>
  );
}
