import { type ReadonlySignal, signal } from "@preact/signals";
import { lobby } from "../api/client";
import { follow } from "../api/reconnecting_stream";
import type { RoomSummary, WatchRoomsResponse } from "../gen/reversi/v1/lobby_pb";
import type { RoomPhase } from "../gen/reversi/v1/types_pb";
import { hearTime, lineOf } from "./connection";
import { renewIfUnauthenticated } from "./session";

/** Which rooms. */
export interface Filter {
  phase?: RoomPhase;
  openSeat?: boolean;
  text?: string;
}

/** The rows by room, newest first; absent until they have come. */
export type Rows = ReadonlyMap<string, RoomSummary>;

type Message = WatchRoomsResponse["message"];

/** The listed rooms, as they change. */
export function watchLobby(filter: Filter): { rows: ReadonlySignal<Rows | undefined>; stop: () => void } {
  const rows = signal<Rows | undefined>(undefined);
  const line = lineOf("lobby");

  async function* open(signal: AbortSignal): AsyncIterable<Message> {
    for await (const { message } of lobby.watchRooms({ filter }, { signal })) yield message;
  }

  const follower = follow<Message>({
    open,
    receive: (message) => (rows.value = changed(rows.value ?? new Map(), message)),
    line,
    heartbeat: hearTime,
    end: renewIfUnauthenticated,
  });
  const stop = () => {
    follower.stop();
    line("open");
  };
  return { rows, stop };
}

function changed(rows: Rows, message: Message): Rows {
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
