import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { instant } from "../../game/clock";
import type { Room, Seat } from "../../gen/reversi/v1/types_pb";
import { isOwner } from "../../room/seat";
import { timeText } from "../../room/time_control";
import { answers, answerText, inviteTo } from "../../state/room/invite";
import { text } from "../../text/text";
import { useSecondsUntil } from "./countdown";

/** How long invited players may still answer; for the owner, how an invitation ended, and a button to invite again. */
export function Guests({ room, me }: { room: Room; me: string }) {
  const { invitation } = text.value;
  const open = room.seats.findIndex(({ occupant }) => occupant.case === "open");
  const ended = answers.value.get(room.roomId);
  const guest = isOwner(room, me) && open >= 0 && ended?.player;
  return (
    <>
      {room.seats.map((seat, index) => (
        <Guest key={index} seat={seat} />
      ))}
      {guest && (
        <>
          <p>{answerText(ended)}</p>
          <button type="button" onClick={() => void inviteTo(room, open, guest)}>
            {invitation.again(guest.displayName)}
          </button>
        </>
      )}
    </>
  );
}

function Guest({ seat: { occupant, reservedUntil } }: { seat: Seat }) {
  const left = useSecondsUntil(reservedUntil ? instant(reservedUntil) : Infinity);
  if (occupant.case !== "reserved" || left === Infinity) return null;
  const time = timeText(text.value, durationFromMs(left * 1000));
  return <p>{text.value.invitation.waits(occupant.value.displayName, time)}</p>;
}
