import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useEffect, useRef } from "preact/hooks";
import { rooms } from "../../api/client";
import { type ChatLine, RoomPhase } from "../../gen/reversi/v1/types_pb";
import { attempt } from "../../state/call";
import { announce, notify } from "../../state/notice";
import { serverInfo } from "../../state/server_info";
import { text } from "../../text/text";
import type { RoomProps } from "./room_view";

/** The chat: watchers read it, members write. */
export function Chat({ room, me }: RoomProps) {
  const texts = text.value.room;
  const member = room.members.some(({ player }) => player?.playerId === me);
  const list = useRef<HTMLUListElement>(null);
  const panel = useRef<HTMLElement>(null);
  const last = room.chat.at(-1);
  const told = useRef(last?.at);
  useEffect(() => {
    if (last?.at && (!told.current || timestampMs(last.at) > timestampMs(told.current))) tell(last);
    told.current = last?.at;
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [last]);
  // A line that is out of view, as on a phone, is shown as a notice.
  const tell = (line: ChatLine) => {
    const words = text.value.event.said(line.player?.displayName ?? "", line.text);
    if (line.player?.playerId === me || isInView(panel.current)) return announce(words);
    const run = () => panel.current?.scrollIntoView({ block: "nearest" });
    notify(words, { roomId: room.roomId, action: { label: texts.chat, run } });
  };
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const words = String(new FormData(form).get("words")).trim();
    if (words && (await attempt(() => rooms.postChat({ roomId: room.roomId, text: words })))) form.reset();
  };
  return (
    <section ref={panel} class="panel chat">
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

function isInView(panel: HTMLElement | null): boolean {
  const lowest = panel?.getBoundingClientRect().bottom ?? 0;
  return lowest > 0 && lowest <= innerHeight;
}
