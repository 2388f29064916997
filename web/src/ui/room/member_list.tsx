import { rooms } from "../../api/client";
import { type Member, RoomPhase } from "../../gen/reversi/v1/types_pb";
import { isSeatOf, SEATS } from "../../room/seat";
import { address } from "../../route";
import { act } from "../../state/call";
import { text } from "../../text/text";
import { Confirm } from "../control/confirm_button";
import type { Seen } from "./room_view";

/** Who is in the room, and what its owner may do with them. */
export function Members({ room, me }: Seen) {
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
              {room.ownerId === me && playerId !== me && <Powers room={room} member={member} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Powers({ room, member }: Pick<Seen, "room"> & { member: Member }) {
  const { room: texts, side } = text.value;
  const { roomId } = room;
  const { playerId = "", displayName = "" } = member.player ?? {};
  const seated = room.seats.some((seat) => isSeatOf(seat, playerId));
  const kick = (ban: boolean) => act(() => rooms.kickMember({ roomId, playerId, ban }));
  const keep = (seat: number) =>
    act(() => rooms.setSeat({ roomId, seat, occupant: { case: "reservedFor", value: playerId } }));
  return (
    <details class="powers">
      <summary aria-label={`${texts.manage}: ${displayName}`}>⋯</summary>
      <div>
        {!seated &&
          room.phase === RoomPhase.LOBBY &&
          SEATS.map((color, seat) =>
            room.seats[seat]?.occupant.case === "player" ? null : (
              <button key={color} type="button" class="small" onClick={() => keep(seat)}>
                {side[color]}: {texts.keepSeat(displayName)}
              </button>
            ),
          )}
        <button type="button" class="small" onClick={() => act(() => rooms.transferOwnership({ roomId, playerId }))}>
          {texts.makeOwner}
        </button>
        <Confirm ask={`${texts.kick}?`} class="small" run={() => kick(false)}>
          {texts.kick}
        </Confirm>
        <Confirm ask={`${texts.ban}?`} class="small danger" run={() => kick(true)}>
          {texts.ban}
        </Confirm>
      </div>
    </details>
  );
}
