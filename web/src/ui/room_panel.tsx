import { rooms } from "../api/client";
import { RoomPhase } from "../gen/reversi/v1/types_pb";
import { pace } from "../room/pace";
import { isRunning } from "../room/seat";
import { address } from "../route";
import { act } from "../state/action";
import { go } from "../state/location";
import { notify } from "../state/notice";
import { text } from "../text/text";
import { Confirm } from "./confirm";
import { Manage } from "./manage";
import type { Seen } from "./table";

/** The room itself: what is played, who watches, how to invite, and the way out. */
export function RoomPanel({ watchers, ...seen }: Seen & { watchers: number }) {
  const { room, me, side } = seen;
  const texts = text.value.room;
  const { roomId, settings } = room;
  const member = room.members.some(({ player }) => player?.playerId === me);
  const leave = async () => {
    if (await act(() => rooms.leaveRoom({ roomId }))) go({ screen: "home" });
  };
  return (
    <section class="panel">
      <h2>{settings?.name}</h2>
      <p class="muted facts">
        {settings && <span>{pace(text.value, settings)}</span>}
        {settings?.rated && <span>{texts.rated}</span>}
        <span>{texts.watchers(watchers)}</span>
      </p>
      {member && room.joinCode && <Invitation joinCode={room.joinCode} />}
      {room.ownerId === me && room.phase !== RoomPhase.CLOSED && <Manage {...seen} />}
      <div class="buttons">
        {!member && (
          <button
            type="button"
            onClick={() => act(() => rooms.joinRoom({ room: { case: "roomId", value: roomId } }))}
          >
            {texts.join}
          </button>
        )}
        {member &&
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

function Invitation({ joinCode }: { joinCode: string }) {
  const texts = text.value.room;
  const link = `${location.origin}${location.pathname}${address({ screen: "join", joinCode })}`;
  const copy = async (event: MouseEvent) => {
    const field = (event.currentTarget as HTMLElement).parentElement?.querySelector("input");
    field?.select();
    // Without TLS a browser may have no clipboard; then the link is at least selected.
    await navigator.clipboard?.writeText(link).then(
      () => notify(texts.copied),
      () => undefined,
    );
  };
  return (
    <div class="invitation">
      <label class="field">
        <span>
          {texts.invite} · {texts.code(joinCode)}
        </span>
        <span class="with-button">
          <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
          <button type="button" onClick={copy}>
            {texts.copy}
          </button>
        </span>
      </label>
    </div>
  );
}
