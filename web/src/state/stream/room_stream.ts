import { type Signal, signal } from "@preact/signals";
import { rooms } from "../../api/client";
import { PROMPT, reconnectingStream, type StreamEnd, type StreamHandle } from "../../api/reconnecting_stream";
import type { RoomEvent, WatchRoomResponse } from "../../gen/reversi/v1/room_pb";
import type { Room } from "../../gen/reversi/v1/types_pb";
import { apply } from "../../room/apply";
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
  let needsSnapshot = false;

  async function* open(abort: AbortSignal): AsyncIterable<Message> {
    const afterSeq = needsSnapshot ? undefined : room.peek()?.seq;
    needsSnapshot = false;
    const { heartbeatSeconds } = PROMPT;
    const password = enteredPassword(roomId);
    const request = { roomId, password, heartbeatSeconds, ...(afterSeq !== undefined && { afterSeq }) };
    for await (const { message } of rooms.watchRoom(request, { signal: abort })) yield message;
  }

  const onMessage = (message: Message) => {
    if (message.case === "snapshot") room.value = message.value;
    if (message.case !== "event" || !room.value) return;
    const before = room.value;
    const after = apply(before, message.value);
    if (!after) {
      loadSnapshot();
    } else if (after !== before) {
      room.value = after;
      if (isOwnJoin(message.value)) loadSnapshot();
      onEvent(message.value.event, before, after);
    }
  };
  const loadSnapshot = () => {
    needsSnapshot = true;
    stream.restart();
  };
  const stream: StreamHandle = reconnectingStream<Message>({
    open,
    onMessage,
    onState,
    onHeartbeat,
    onEnd: (reason) => (end.value = reason),
    silenceLimit: PROMPT.silenceLimit,
  });
  const stop = () => {
    stream.stop();
    onState("open");
  };
  return { room, end, stop };
}

/** Members see more of a room than watchers, so the player needs a new snapshot after joining. */
function isOwnJoin({ event }: RoomEvent): boolean {
  return event.case === "memberJoined" && event.value.member?.player?.playerId === session.peek()?.playerId;
}
