import { type ReadonlySignal, signal } from "@preact/signals";
import type { WatchRoomsResponse } from "../../gen/reversi/v1/lobby_pb";
import { changedRows, type RoomRows } from "../../room/row/room_rows";
import { watch } from "../../stream/watch";
import type { RoomFilter } from "../../stream/watched";
import { onHeartbeat, streamStateOf } from "../connection";
import { renewIfUnauthenticated, session } from "../session";

type Message = WatchRoomsResponse["message"];

/** Watches the list of rooms; `rows` is undefined until the first snapshot. */
export function watchRoomList(filter: RoomFilter): { rows: ReadonlySignal<RoomRows | undefined>; stop: () => void } {
  const rows = signal<RoomRows | undefined>(undefined);
  const onState = streamStateOf("lobby");
  const watched = { kind: "rooms", filter, token: session.peek()?.token } as const;
  const unwatch = watch<Message>(watched, {
    onMessage: (message) => (rows.value = changedRows(rows.value ?? new Map(), message)),
    onState,
    onHeartbeat,
    onEnd: renewIfUnauthenticated,
  });
  const stop = () => {
    unwatch();
    onState("stopped");
  };
  return { rows, stop };
}
