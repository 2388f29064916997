import { useEffect, useState } from "preact/hooks";
import type { Color } from "../../game/board";
import type { RoomSummary } from "../../gen/reversi/v1/lobby_pb";
import type { Seat } from "../../gen/reversi/v1/types_pb";
import { address } from "../../route";
import type { RoomFilter } from "../../stream/watched";
import { navigate } from "../../state/location";
import { watchListedRooms } from "../../state/room/listed_rooms";
import { joinToPlay } from "../../state/room/membership";
import { serverInfo, useServerInfo } from "../../state/server_info";
import { session } from "../../state/session";
import { text } from "../../text/text";
import { type ListedRooms, rowState } from "../../room/row/row_state";
import { rowTitle } from "../../room/row/title";
import { timeControlText } from "../../room/time_control";
import { eloOf } from "../../room/opponent";
import { isSeatOf, occupantName, watching } from "../../room/seat";

/** The live list of rooms. */
export function RoomList(props: { filter: RoomFilter; most?: number; empty: string; count?: boolean }) {
  const [rooms, setRooms] = useState<ListedRooms | undefined>();
  const key = JSON.stringify(props.filter);
  useServerInfo();
  useEffect(() => {
    const watched = watchListedRooms(props.filter);
    const unsubscribe = watched.rooms.subscribe(setRooms);
    return () => {
      unsubscribe();
      watched.stop();
    };
  }, [key]);
  if (!rooms) return <p class="muted">{text.value.connection.loading}</p>;
  if (rooms.size === 0) return <p class="muted">{props.empty}</p>;
  const listed = [...rooms.values()];
  const live = listed.filter(({ until }) => until === undefined);
  return (
    <>
      {props.count && <p class="muted">{text.value.rooms.count(live.length)}</p>}
      <ul class="room-list">
        {listed.slice(0, props.most ?? MOST).map(({ row }) => (
          <Row key={row.roomId} room={row} />
        ))}
      </ul>
    </>
  );
}

/** The most rows shown; the filter finds the others. */
const MOST = 200;

function Row({ room }: { room: RoomSummary }) {
  const texts = text.value;
  const { rooms } = texts;
  const state = rowState(room);
  const watchers = watching(room.watchers, room.seats);
  const open = state === "waiting" && room.seats.some((seat) => seat.occupant.case === "open");
  const me = session.value?.playerId ?? "";
  const own = state === "playing" && room.seats.some((seat) => isSeatOf(seat, me));
  return (
    <li>
      <div class="row-main">
        <a class="row-name" href={address({ screen: "room", roomId: room.roomId })}>
          {rowTitle(texts, room)}
        </a>
        <p class="row-players">
          <Side color="black" seat={room.seats[0]} rating={room.blackRating} />
          <span class="muted"> {rooms.versus} </span>
          <Side color="white" seat={room.seats[1]} rating={room.whiteRating} />
        </p>
      </div>
      <p class="row-state muted">
        <span>{timeControlText(texts, room)}</span>
        {room.rated && <span class="tag">{texts.room.rated}</span>}
        {room.hasPassword && <span class="tag">{rooms.password}</span>}
        <span class={`tag${state === "playing" ? " good" : ""}`}>{rooms.state[state]}</span>
        {state === "playing" && <span>{rooms.move(room.ply + 1)}</span>}
        {(state === "playing" || state === "finished") && (
          <span class="score">
            {room.blackDiscs}–{room.whiteDiscs}
          </span>
        )}
        {watchers > 0 && <span>{texts.room.watchers(watchers)}</span>}
      </p>
      {open ? (
        <button type="button" class="primary" onClick={() => join(room)}>
          {rooms.join}
        </button>
      ) : (
        <a class="button" href={address({ screen: "room", roomId: room.roomId })}>
          {own ? texts.ownGame.back : rooms.watch}
        </a>
      )}
    </li>
  );
}

/** The name and strength of one side: a player's rating, or the Elo of an AI, which is another scale. */
function Side({ color, seat, rating }: { color: Color; seat: Seat | undefined; rating: number }) {
  if (!seat) return null;
  const ai = seat.occupant.case === "ai" ? seat.occupant.value : undefined;
  const elo = ai && eloOf(serverInfo.value?.aiKinds ?? [], ai);
  return (
    <>
      <span class={`chip ${color}`} aria-hidden="true" /> {occupantName(text.value, seat)}
      {rating > 0 && <span class="muted"> ({rating})</span>}
      {elo !== undefined && <span class="muted"> ({elo} Elo)</span>}
    </>
  );
}

/** Joins the room to play. A room with a password asks for it on its own screen. */
async function join(room: RoomSummary): Promise<void> {
  const { roomId } = room;
  if (!room.hasPassword && !(await joinToPlay({ case: "roomId", value: roomId }))) return;
  navigate({ screen: "room", roomId });
}
