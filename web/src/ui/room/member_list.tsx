import type { TargetedKeyboardEvent } from "preact";
import { rooms } from "../../api/client";
import { type Member, RoomPhase } from "../../gen/reversi/v1/types_pb";
import { isOwner, isSeatOf, SEATS } from "../../room/seat";
import { address } from "../../route";
import { attempt } from "../../state/call";
import { text } from "../../text/text";
import { ConfirmButton } from "../control/confirm_button";
import type { RoomProps } from "./room_view";

/** The members, with the owner's actions on each. */
export function MemberList({ room, me }: RoomProps) {
  const texts = text.value.room;
  return (
    <section class="panel members">
      <h2>{texts.members}</h2>
      <ul>
        {room.members.map((member) => {
          const { playerId = "", displayName = "" } = member.player ?? {};
          return (
            <li key={playerId}>
              <a href={address({ screen: "player", playerId })}>{displayName}</a>
              {playerId === me && <span class="tag">{texts.you}</span>}
              {playerId === room.ownerId && <span class="tag good">{texts.owner}</span>}
              {!member.present && <span class="tag">{texts.away}</span>}
              {isOwner(room, me) && playerId !== me && room.phase !== RoomPhase.CLOSED && (
                <MemberActions room={room} member={member} />
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function MemberActions({ room, member }: Pick<RoomProps, "room"> & { member: Member }) {
  const { room: texts, side } = text.value;
  const { roomId } = room;
  const { playerId = "", displayName = "" } = member.player ?? {};
  const seated = room.seats.some((seat) => isSeatOf(seat, playerId));
  const playing = room.phase === RoomPhase.PLAYING;
  const kick = (ban: boolean) => attempt(() => rooms.kickMember({ roomId, playerId, ban }));
  const keep = (seat: number) =>
    attempt(() => rooms.setSeat({ roomId, seat, occupant: { case: "reservedFor", value: playerId } }));
  const escape = ({ key, currentTarget }: TargetedKeyboardEvent<HTMLDetailsElement>) => {
    if (key !== "Escape") return;
    currentTarget.open = false;
    currentTarget.querySelector("summary")?.focus();
  };
  return (
    <details class="member-actions" onKeyDown={escape}>
      <summary aria-label={`${texts.manage}: ${displayName}`}>⋯</summary>
      <div>
        {!seated &&
          !playing &&
          SEATS.map((color, seat) =>
            room.seats[seat]?.occupant.case === "player" ? null : (
              <button key={color} type="button" class="small" onClick={() => keep(seat)}>
                {side[color]}: {texts.keepSeat(displayName)}
              </button>
            ),
          )}
        <ConfirmButton
          ask={texts.makeOwnerSure(displayName)}
          class="small"
          run={() => attempt(() => rooms.transferOwnership({ roomId, playerId }))}
        >
          {texts.makeOwner}
        </ConfirmButton>
        {/* A player of a running game or series cannot be removed. */}
        {!(seated && playing) && (
          <>
            <ConfirmButton ask={`${texts.kick}?`} class="small" run={() => kick(false)}>
              {texts.kick}
            </ConfirmButton>
            <ConfirmButton ask={`${texts.ban}?`} class="small danger" run={() => kick(true)}>
              {texts.ban}
            </ConfirmButton>
          </>
        )}
      </div>
    </details>
  );
}
