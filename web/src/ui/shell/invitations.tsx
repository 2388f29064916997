import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { timeControlText, timeText } from "../../room/time_control";
import { acceptInvitation, clockOf, declineInvitation, type Invited, invitations } from "../../state/room/invited";
import { session } from "../../state/session";
import { text } from "../../text/text";
import { useSecondsUntil } from "../room/countdown";

/** The player's open invitations, on every screen. */
export function Invitations() {
  const mine = invitations.value.filter(({ to }) => to === session.value?.playerId);
  return (
    <>
      {mine.map((one) => (
        <Invitation key={one.roomId} of={one} />
      ))}
    </>
  );
}

function Invitation({ of: invited }: { of: Invited }) {
  const { invitation, game, room, stats } = text.value;
  const left = useSecondsUntil(invited.until ?? Infinity);
  if (left === 0) return null;
  const words = invitation.received(invited.by);
  return (
    <div class="notice" role="group" aria-label={words}>
      <span>
        {words}
        <span class="muted facts">
          {invited.byRating > 0 && <span>{`${stats.rating} ${invited.byRating}`}</span>}
          <span>{timeControlText(text.value, clockOf(invited))}</span>
          {invited.rated && <span>{room.rated}</span>}
          {left < Infinity && <span>{invitation.left(timeText(text.value, durationFromMs(left * 1000)))}</span>}
        </span>
      </span>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => void acceptInvitation(invited)}>
          {game.accept}
        </button>
        <button type="button" onClick={() => void declineInvitation(invited)}>
          {game.decline}
        </button>
      </div>
    </div>
  );
}
