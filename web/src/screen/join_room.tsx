import { useEffect, useState } from "preact/hooks";
import { rooms } from "../api/client";
import { type Refusal, refusal } from "../api/refusal";
import { parseBoard, START } from "../game/board";
import type { Room } from "../gen/reversi/v1/types_pb";
import { isSeatOf, SEATS } from "../room/seat";
import { timeControlText } from "../room/time_control";
import { attempt, retry } from "../state/call";
import { replace } from "../state/location";
import { lastName, logIn, logInAsGuest, renewIfUnauthenticated, session } from "../state/session";
import { text } from "../text/text";
import { SmallBoard } from "../ui/board/small_board";
import { Unavailable } from "../ui/control/unavailable";
import { PasswordForm } from "../ui/room/password_form";

/** What an invitation link leads to: who invites, to what, and one button that seats the guest. */
export function JoinRoomScreen({ joinCode }: { joinCode: string }) {
  const [invited, setInvited] = useState<Room | undefined>();
  const [refused, setRefused] = useState<Refusal | undefined>();
  const invitation = { case: "joinCode" as const, value: joinCode };
  const load = async () => {
    try {
      const { room } = await retry(() => rooms.getRoom({ joinCode }));
      const joined = room?.members.some(({ player }) => player?.playerId === session.peek()?.playerId);
      if (room && joined) replace({ screen: "room", roomId: room.roomId });
      else setInvited(room);
    } catch (error) {
      renewIfUnauthenticated({ refused: refusal(error) });
      setRefused(refusal(error));
    }
  };
  useEffect(() => void load(), []);

  const enter = async (name: string, password: string) => {
    const room = await attempt(async () => {
      if (!session.peek()) await (name ? logIn(name) : logInAsGuest());
      return (await rooms.joinRoom({ room: invitation, password })).room;
    });
    if (!room) return;
    await takeSeat(room);
    replace({ screen: "room", roomId: room.roomId });
  };
  if (refused?.reason === "BAD_PASSWORD") return <PasswordForm enter={(password) => void enter("", password)} />;
  if (refused) return <Unavailable refused={refused} />;
  if (!invited) return <p class="muted">{text.value.connection.loading}</p>;
  return <InvitedTo room={invited} enter={(name) => void enter(name, "")} />;
}

/** Takes the free seat, if there is one, and gets ready. */
async function takeSeat({ roomId, seats }: Room): Promise<void> {
  const me = session.peek()?.playerId ?? "";
  const free = seats.findIndex(({ occupant }) => occupant.case === "open");
  if (seats.some((seat) => isSeatOf(seat, me)) || free < 0) return;
  await attempt(async () => {
    await rooms.takeSeat({ roomId, seat: free });
    await rooms.setReady({ roomId, ready: true });
  });
}

function InvitedTo({ room, enter }: { room: Room; enter: (name: string) => void }) {
  const { visitor, room: texts, side, logIn: logInTexts } = text.value;
  const { settings } = room;
  const free = SEATS[room.seats.findIndex(({ occupant }) => occupant.case === "open")];
  const owner = room.members.find(({ player }) => player?.playerId === room.ownerId)?.player?.displayName;
  const board = room.game?.position ? parseBoard(room.game.position.board) : START;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter(String(new FormData(event.currentTarget as HTMLFormElement).get("name") ?? "").trim());
  };
  return (
    <form class="panel centered invited" onSubmit={submit}>
      <h1>{owner ? visitor.invitedBy(owner) : settings?.name}</h1>
      <SmallBoard board={board} />
      <p class="muted facts">
        {settings && <span>{timeControlText(text.value, settings)}</span>}
        {settings?.rated && <span>{texts.rated}</span>}
        {(settings?.games ?? 1) > 1 && <span>{visitor.games(settings?.games ?? 1)}</span>}
      </p>
      {free ? (
        <p>
          {visitor.yourSide(side[free])}{" "}
          {settings?.autoStart ? visitor.startsAtOnce : owner ? visitor.ownerStarts(owner) : ""}
        </p>
      ) : (
        <p>{visitor.full}</p>
      )}
      {!session.value && (
        <label class="field">
          <span>{logInTexts.name}</span>
          <input
            name="name"
            maxLength={24}
            autoComplete="nickname"
            placeholder={visitor.playAs}
            defaultValue={lastName.value}
          />
        </label>
      )}
      <button class="primary large">{free ? visitor.play : visitor.watch}</button>
    </form>
  );
}
