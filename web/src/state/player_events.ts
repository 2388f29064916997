import { rooms } from "../api/client";
import { text } from "../text/text";
import { attempt } from "./call";
import { navigate, route } from "./location";
import { notify } from "./notice";
import type { PlayerEvent } from "./turn_stream";

/** Handles events that concern the player on every screen: a turn, an invitation, a removal from a room. */
export function handlePlayerEvent(event: PlayerEvent): void {
  const texts = text.value;
  switch (event.case) {
    case "turnRequested":
      showRoom(event.value.roomId, texts.game.yourTurn);
      break;
    case "invited": {
      const { roomId, joinCode, by } = event.value;
      const run = () => void accept(roomId, joinCode);
      notify(texts.home.invited(by?.displayName ?? ""), { action: { label: texts.home.accept, run } });
      break;
    }
    case "kicked":
      notify(texts.room.kicked, { tone: "bad" });
      if (isShown(event.value.roomId)) navigate({ screen: "home" });
      break;
    default:
      break;
  }
}

function isShown(roomId: string): boolean {
  return route.value.screen === "room" && route.value.roomId === roomId;
}

const visited = new Set<string>();

/** Opens the room the first time; after that, shows a notice with a link to it. */
function showRoom(roomId: string, notice: string): void {
  const run = () => navigate({ screen: "room", roomId });
  if (!isShown(roomId) && visited.has(roomId)) notify(notice, { action: { label: text.value.home.accept, run } });
  else if (!isShown(roomId)) run();
  visited.add(roomId);
}

async function accept(roomId: string, joinCode: string): Promise<void> {
  const key = joinCode ? { case: "joinCode" as const, value: joinCode } : { case: "roomId" as const, value: roomId };
  if (await attempt(() => rooms.joinRoom({ room: key }))) navigate({ screen: "room", roomId });
}
