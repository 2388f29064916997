import { useState } from "preact/hooks";
import type { Player } from "../../gen/reversi/v1/types_pb";
import { invite } from "../../state/room/invite";
import { text } from "../../text/text";

/** Invites a player to a game. */
export function InviteButton({ guest }: { guest: Player }) {
  const { invitation } = text.value;
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    await invite(guest);
    setBusy(false);
  };
  return (
    <button
      type="button"
      class="primary"
      disabled={busy}
      aria-label={invitation.inviteName(guest.displayName)}
      onClick={run}
    >
      {invitation.invite}
    </button>
  );
}
