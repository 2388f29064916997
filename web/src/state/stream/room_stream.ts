import { type Signal, signal } from "@preact/signals";
import type { StreamEnd } from "../../api/reconnecting_stream";
import type { RoomEvent, WatchRoomResponse } from "../../gen/reversi/v1/room_pb";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { apply } from "../../room/apply";
import { watch } from "../../stream/watch";
import { onHeartbeat, streamStateOf } from "../connection";
import { enteredPassword } from "../room/membership";
import { session } from "../session";

/** The current state of a watched room. */
export interface RoomStream {
  room: Signal<Room | undefined>;
  /** Set when the stream has ended for good. */
  end: Signal<StreamEnd | undefined>;
  stop: () => void;
}

/** Called once for each new event, with the room before and after it. */
export type OnRoomEvent = (event: RoomEvent["event"], before: Room, after: Room) => void;

type Message = WatchRoomResponse["message"];

/** Watches a room. After a lost connection the missed events, or a snapshot, bring it up to date. */
export function watchRoom(roomId: string, onEvent: OnRoomEvent): RoomStream {
  const room = signal<Room | undefined>(undefined);
  const end = signal<StreamEnd | undefined>(undefined);
  const onState = streamStateOf(`room ${roomId}`);
  const onMessage = (message: Message) => {
    if (message.case === "snapshot") room.value = message.value;
    if (message.case !== "event" || !room.value) return;
    const before = room.value;
    // Where events are missing, a snapshot follows.
    const after = apply(before, message.value) ?? before;
    if (after === before) return;
    room.value = after;
    onEvent(message.value.event, before, after);
  };
  const { token, playerId } = session.peek() ?? {};
  const watched = { kind: "room", roomId, password: enteredPassword(roomId), token, playerId } as const;
  const unwatch = watch<Message>(watched, {
    onMessage,
    onState,
    onHeartbeat,
    onEnd: (reason) => (end.value = reason),
  });
  const stop = () => {
    unwatch();
    onState("stopped");
  };
  return { room, end, stop };
}
