import { type Signal, signal } from "@preact/signals";
import { rooms } from "../api/client";
import { type End, follow, type Follower } from "../api/reconnecting_stream";
import type { RoomEvent, WatchRoomResponse } from "../gen/reversi/v1/room_pb";
import type { Room } from "../gen/reversi/v1/types_pb";
import { fold } from "../room/fold";
import { hearTime, lineOf } from "./connection";
import { session } from "./session";

/** A room as it is now, and what happens in it. */
export interface Feed {
  room: Signal<Room | undefined>;
  /** Set when nothing more will come. */
  end: Signal<End | undefined>;
  stop: () => void;
}

/** Called after each event that was not known before, with the room as it was and is. */
export type Heard = (event: RoomEvent["event"], before: Room, after: Room) => void;

/** A member is shown more of the room than who only watches it. */
function enters({ event }: RoomEvent): boolean {
  return event.case === "memberJoined" && event.value.member?.player?.playerId === session.peek()?.playerId;
}

type Message = WatchRoomResponse["message"];

/** Watches a room. What was missed while the connection was lost is made up for, one way or the other. */
export function watchRoom(roomId: string, heard: Heard): Feed {
  const room = signal<Room | undefined>(undefined);
  const end = signal<End | undefined>(undefined);
  const line = lineOf(`room ${roomId}`);
  let behind = false;

  async function* open(abort: AbortSignal): AsyncIterable<Message> {
    const afterSeq = behind ? undefined : room.peek()?.seq;
    behind = false;
    const request = afterSeq === undefined ? { roomId } : { roomId, afterSeq };
    for await (const { message } of rooms.watchRoom(request, { signal: abort })) yield message;
  }

  const receive = (message: Message) => {
    if (message.case === "snapshot") room.value = message.value;
    if (message.case !== "event" || !room.value) return;
    const before = room.value;
    const after = fold(before, message.value);
    if (!after) {
      again();
    } else if (after !== before) {
      room.value = after;
      if (enters(message.value)) again();
      heard(message.value.event, before, after);
    }
  };
  /** From a snapshot, not from where it was. */
  const again = () => {
    behind = true;
    follower.restart();
  };
  const follower: Follower = follow<Message>({
    open,
    receive,
    line,
    heartbeat: hearTime,
    end: (reason) => (end.value = reason),
  });
  const stop = () => {
    follower.stop();
    line("open");
  };
  return { room, end, stop };
}
