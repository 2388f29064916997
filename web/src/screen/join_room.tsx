import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { rooms } from "../api/client";
import { type Refusal, refusal } from "../api/refusal";
import { parseBoard, START } from "../game/board";
import type { Room } from "../gen/reversi/v1/types_pb";
import { isKeptFor, seatFor, SEATS } from "../room/seat";
import { roomTitle } from "../room/row/title";
import { timeControlText } from "../room/time_control";
import { retry } from "../api/retry";
import { attempt } from "../state/call";
import { replace } from "../state/location";
import { joinToPlay } from "../state/room/membership";
import { logInAs, renewIfUnauthenticated, session } from "../state/session";
import { text } from "../text/text";
import { SmallBoard } from "../ui/board/small_board";
import { Unavailable } from "../ui/control/unavailable";
import { useRefusedName, WhyRefused } from "../ui/shell/refused_name";
import { NameField } from "../ui/room/name_field";
import { PasswordField, useWrongPasswords } from "../ui/room/password_form";

/** What an invitation link leads to: who invites, to what, and one button that seats the guest. */
export function JoinRoomScreen({ joinCode }: { joinCode: string }) {
  const [invited, setInvited] = useState<Room | undefined>();
  const [refused, setRefused] = useState<Refusal | undefined>();
  const { wrong, isShown } = useWrongPasswords();
  const { refusedName, isShownFor } = useRefusedName();
  const load = async () => {
    try {
      const { room } = await retry(() => rooms.getRoom({ joinCode }));
      if (room && !mayTakeSeat(room)) replace({ screen: "room", roomId: room.roomId });
      else setInvited(room);
    } catch (error) {
      renewIfUnauthenticated({ refused: refusal(error) });
      setRefused(refusal(error));
    }
  };
  useEffect(() => void load(), []);

  const enter = async (form: FormData) => {
    const name = String(form.get("name") ?? "").trim();
    const password = String(form.get("password") ?? "");
    // True, since a log-in returns nothing.
    if (!(await attempt(async () => (await logInAs(name), true), isShownFor(name)))) return;
    const room = await joinToPlay({ case: "joinCode", value: joinCode }, password, isShown);
    if (room) replace({ screen: "room", roomId: room.roomId });
  };
  if (refused) return <Unavailable refused={refused} />;
  if (!invited) return <p class="muted">{text.value.connection.loading}</p>;
  return (
    <InvitedTo
      room={invited}
      wrong={wrong}
      refusedName={<WhyRefused of={refusedName} />}
      enter={(form) => void enter(form)}
    />
  );
}

/** Whether the player is not in the room yet, or a seat there is kept for the player. */
function mayTakeSeat({ members, seats }: Room): boolean {
  const me = session.peek()?.playerId;
  const joined = members.some(({ player }) => player?.playerId === me);
  return !joined || isSeatKept({ seats });
}

/** Whether a seat is kept for the player, who then needs no password. */
function isSeatKept({ seats }: Pick<Room, "seats">): boolean {
  const me = session.peek()?.playerId ?? "";
  return seats.some(({ occupant }) => isKeptFor(occupant, me));
}

interface InvitedToProps {
  room: Room;
  /** The number of wrong passwords that were entered before. */
  wrong: number;
  refusedName: ComponentChildren;
  enter: (form: FormData) => void;
}

function InvitedTo({ room, wrong, refusedName, enter }: InvitedToProps) {
  const { visitor, room: texts, side } = text.value;
  const { settings } = room;
  const free = SEATS[seatFor(room.seats, session.value?.playerId ?? "")];
  const owner = room.members.find(({ player }) => player?.playerId === room.ownerId)?.player?.displayName;
  const board = room.game?.position ? parseBoard(room.game.position.board) : START;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter(new FormData(event.currentTarget as HTMLFormElement));
  };
  return (
    <form class="panel centered invited" onSubmit={submit}>
      <h1>{owner ? visitor.invitedBy(owner) : roomTitle(text.value, room)}</h1>
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
      <NameField />
      {refusedName}
      {room.hasPassword && !isSeatKept(room) && <PasswordField wrong={wrong} />}
      <button class="primary large">{free ? visitor.play : visitor.watch}</button>
    </form>
  );
}
