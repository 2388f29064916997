import type { PlayEvent } from "../gen/reversi/v1/game_pb";
import { text } from "../text/text";
import { go, route } from "./location";
import { rooms } from "../api/client";
import { act } from "./call";
import { notify } from "./notice";

/** What concerns the player wherever in the page they are: a game that begins, an invitation, an expulsion. */
export function hearPlay(part: PlayEvent["event"]): void {
  const texts = text.value;
  switch (part.case) {
    case "turnRequested":
      callTo(part.value.roomId, texts.game.yourTurn);
      break;
    case "invited": {
      const { roomId, joinCode, by } = part.value;
      const run = () => void accept(roomId, joinCode);
      notify(texts.home.invited(by?.displayName ?? ""), { action: { label: texts.home.accept, run } });
      break;
    }
    case "kicked":
      notify(texts.room.kicked, { tone: "bad" });
      if (isAt(part.value.roomId)) go({ screen: "home" });
      break;
    default:
      break;
  }
}

function isAt(roomId: string): boolean {
  return route.value.screen === "room" && route.value.roomId === roomId;
}

const called = new Set<string>();

/** The first time, the player is taken there; after that, told. */
function callTo(roomId: string, what: string): void {
  const run = () => go({ screen: "room", roomId });
  if (!isAt(roomId) && called.has(roomId)) notify(what, { action: { label: text.value.home.accept, run } });
  else if (!isAt(roomId)) run();
  called.add(roomId);
}

async function accept(roomId: string, joinCode: string): Promise<void> {
  const key = joinCode ? { case: "joinCode" as const, value: joinCode } : { case: "roomId" as const, value: roomId };
  if (await act(() => rooms.joinRoom({ room: key }))) go({ screen: "room", roomId });
}
