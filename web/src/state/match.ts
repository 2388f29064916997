import { lobby, rooms } from "../api/client";
import type { AiKind } from "../gen/reversi/v1/lobby_pb";
import { aiName } from "../text/ai";
import { text } from "../text/text";
import { insist } from "./action";
import { requestId } from "./request_id";

/** Slow enough to follow on a wall of many boards. */
const PAUSE = { nanos: 800_000_000 };

/** Long enough to look in again later, and bounded. */
const GAMES = 10;

/** Two AIs of those offered, at the levels they usually play at, begin a series that everybody may watch. */
export async function startMatch(offered: readonly AiKind[]): Promise<void> {
  const pair = shuffled(offered).slice(0, 2);
  const name = pair.map(({ kind }) => aiName(text.value, kind)).join(" – ");
  const seats = pair.map(({ kind, defaultLevel: level }) => ({
    occupant: { case: "ai" as const, value: { kind, level } },
  }));
  const id = requestId();
  const request = { settings: { name, aiPause: PAUSE, games: GAMES }, seats, requestId: id };
  const { room } = await insist(() => lobby.createRoom(request));
  if (room) await insist(() => rooms.startGame({ roomId: room.roomId, requestId: id }));
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, rank: Math.random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ value }) => value);
}
