import { rooms } from "../../api/client";
import { RoomPhase } from "../../gen/reversi/v1/types_pb";
import { roomTitle } from "../../room/row/title";
import { timeControlText } from "../../room/time_control";
import { isComplete, isOwner, isRunning, watching } from "../../room/seat";
import { address } from "../../route";
import { attempt } from "../../state/call";
import { navigate } from "../../state/location";
import { joinRoom } from "../../state/room/membership";
import { text } from "../../text/text";
import { ConfirmButton } from "../control/confirm_button";
import { Invitation } from "./invitation";
import { OwnerPanel } from "./owner_panel";
import type { RoomProps } from "./room_view";

/** Name, time control, watchers and invitation of the room, and how to leave or close it. */
export function RoomPanel({ watchers, ...props }: RoomProps & { watchers: number }) {
  const { room, me, side } = props;
  const texts = text.value.room;
  const { roomId, settings } = room;
  const member = room.members.some(({ player }) => player?.playerId === me);
  const others = watching(watchers, room.seats);
  const closed = room.phase === RoomPhase.CLOSED;
  const leave = async () => {
    if (await attempt(() => rooms.leaveRoom({ roomId }))) navigate({ screen: "home" });
  };
  return (
    <section class="panel">
      <h2>{roomTitle(text.value, room)}</h2>
      <p class="muted facts">
        {settings && <span>{timeControlText(text.value, settings)}</span>}
        {settings?.rated && <span>{texts.rated}</span>}
        {others > 0 && <span>{texts.watchers(others)}</span>}
        {room.meeting && (
          <a href={address({ screen: "tournament", tournamentId: room.meeting.tournamentId })}>
            {text.value.tournament.meetingOf}
          </a>
        )}
      </p>
      {isComplete(room) && !closed && !room.meeting && <Invitation room={room} />}
      {isOwner(room, me) && !closed && <OwnerPanel {...props} />}
      <div class="buttons">
        {!member && !closed && (
          <button type="button" onClick={() => attempt(() => joinRoom(roomId))}>
            {texts.join}
          </button>
        )}
        {member &&
          !closed &&
          (side && isRunning(room) ? (
            <ConfirmButton ask={texts.leaveGame} class="quiet" run={() => void leave()}>
              {texts.leave}
            </ConfirmButton>
          ) : (
            <button type="button" class="quiet" onClick={leave}>
              {texts.leave}
            </button>
          ))}
        {isOwner(room, me) && room.phase === RoomPhase.LOBBY && (
          <ConfirmButton ask={texts.closeSure} class="quiet" run={() => attempt(() => rooms.closeRoom({ roomId }))}>
            {texts.close}
          </ConfirmButton>
        )}
      </div>
    </section>
  );
}
