import { type ReadonlySignal, signal } from "@preact/signals";
import { type ListedRooms, updateListed } from "../../room/row/row_state";
import type { RoomFilter } from "../../stream/watched";
import { watchRoomList } from "../stream/room_list";

/** Watches the rooms that a list shows; `rooms` is undefined until the first snapshot. */
export function watchListedRooms(filter: RoomFilter): {
  rooms: ReadonlySignal<ListedRooms | undefined>;
  stop: () => void;
} {
  const rooms = signal<ListedRooms | undefined>(undefined);
  const watched = watchRoomList(filter);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = () => {
    const rows = watched.rows.peek();
    if (!rows) return;
    const now = performance.now();
    rooms.value = updateListed(rooms.peek() ?? new Map(), rows.values(), now);
    clearTimeout(timer);
    const first = Math.min(...[...rooms.value.values()].map(({ until = Infinity }) => until));
    if (first < Infinity) timer = setTimeout(update, first - now);
  };
  const unsubscribe = watched.rows.subscribe(update);
  const stop = () => {
    unsubscribe();
    clearTimeout(timer);
    watched.stop();
  };
  return { rooms, stop };
}
