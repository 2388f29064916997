import { type ReadonlySignal, signal } from "@preact/signals";
import { lobby } from "../../api/client";
import { reconnectingStream } from "../../api/reconnecting_stream";
import type { RoomSummary, WatchRoomsResponse } from "../../gen/reversi/v1/lobby_pb";
import type { RoomPhase } from "../../gen/reversi/v1/types_pb";
import { onHeartbeat, streamStateOf } from "../connection";
import { renewIfUnauthenticated } from "../session";

/** Selects the rooms of a list; an absent field selects all. */
export interface RoomFilter {
  phase?: RoomPhase;
  openSeat?: boolean;
  /** Part of the room's or the owner's name. */
  text?: string;
}

/** Rooms by id, newest first. */
export type RoomRows = ReadonlyMap<string, RoomSummary>;

type Message = WatchRoomsResponse["message"];

/** Watches the list of rooms; `rows` is undefined until the first snapshot. */
export function watchRoomList(filter: RoomFilter): { rows: ReadonlySignal<RoomRows | undefined>; stop: () => void } {
  const rows = signal<RoomRows | undefined>(undefined);
  const onState = streamStateOf("lobby");

  async function* open(signal: AbortSignal): AsyncIterable<Message> {
    for await (const { message } of lobby.watchRooms({ filter }, { signal })) yield message;
  }

  const stream = reconnectingStream<Message>({
    open,
    onMessage: (message) => (rows.value = applied(rows.value ?? new Map(), message)),
    onState,
    onHeartbeat,
    onEnd: renewIfUnauthenticated,
  });
  const stop = () => {
    stream.stop();
    onState("open");
  };
  return { rows, stop };
}

function applied(rows: RoomRows, message: Message): RoomRows {
  switch (message.case) {
    case "snapshot":
      return new Map(message.value.rooms.map((room) => [room.roomId, room]));
    case "upserted": {
      const { value } = message;
      return rows.has(value.roomId)
        ? new Map(rows).set(value.roomId, value)
        : new Map([[value.roomId, value], ...rows]);
    }
    case "removed": {
      const left = new Map(rows);
      left.delete(message.value);
      return left;
    }
    default:
      return rows;
  }
}
