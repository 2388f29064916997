import { text } from "../../text/text";

/** The part of an address that is no position and no legal move, which the board does not show. */
export function UnreadAddress({ unread }: { unread: string }) {
  return unread ? <p class="note">{text.value.shell.unreadAddress(unread.slice(0, 65))}</p> : null;
}
