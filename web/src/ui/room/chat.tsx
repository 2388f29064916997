import { useEffect, useRef } from "preact/hooks";
import { rooms } from "../../api/client";
import { RoomPhase } from "../../gen/reversi/v1/types_pb";
import { attempt } from "../../state/call";
import { serverInfo } from "../../state/server_info";
import { text } from "../../text/text";
import type { RoomProps } from "./room_view";

/** The chat: watchers read it, members write. */
export function Chat({ room, me }: RoomProps) {
  const texts = text.value.room;
  const member = room.members.some(({ player }) => player?.playerId === me);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [room.chat.length]);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const words = String(new FormData(form).get("words")).trim();
    if (words && (await attempt(() => rooms.postChat({ roomId: room.roomId, text: words })))) form.reset();
  };
  return (
    <section class="panel chat">
      <h2>{texts.chat}</h2>
      {room.chat.length === 0 && <p class="muted">{texts.noChat}</p>}
      <ul ref={list} tabIndex={0} aria-label={texts.chat} hidden={room.chat.length === 0}>
        {room.chat.map((line, at) => (
          <li key={`${line.at?.seconds} ${at}`}>
            <strong>{line.player?.displayName}</strong> {line.text}
          </li>
        ))}
      </ul>
      {member && room.phase !== RoomPhase.CLOSED && (
        <form onSubmit={send}>
          <input
            name="words"
            aria-label={texts.say}
            placeholder={texts.say}
            autoComplete="off"
            maxLength={serverInfo.value?.limits?.chatCharacters ?? 300}
          />
          <button>{texts.send}</button>
        </form>
      )}
    </section>
  );
}
