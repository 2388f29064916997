import type { MessageInitShape } from "@bufbuild/protobuf";
import { lobby, rooms } from "../api/client";
import type { AiKind } from "../gen/reversi/v1/lobby_pb";
import type { RoomSettingsSchema } from "../gen/reversi/v1/types_pb";
import type { Ai } from "../room/opponent";
import { aiName } from "../text/ai_name";
import { retry } from "../api/retry";
import { requestId } from "./request_id";

/** Starts a public game or series of two AIs, the first as black. Returns the room id. */
export async function startAiMatch(
  pair: readonly Ai[],
  settings: Exclude<MessageInitShape<typeof RoomSettingsSchema>, { $typeName: string }>,
): Promise<string | undefined> {
  const name = pair.map(aiName).join(" – ");
  const seats = pair.map((value) => ({ occupant: { case: "ai" as const, value } }));
  const [createId, startId] = [requestId(), requestId()];
  const request = { settings: { name, ...settings }, seats, requestId: createId };
  const { room } = await retry(() => lobby.createRoom(request));
  if (room) await retry(() => rooms.startGame({ roomId: room.roomId, requestId: startId }));
  return room?.roomId;
}

/** Two random kinds at their default levels. */
export function randomAiPair(offered: readonly AiKind[]): Ai[] {
  return offered
    .map(({ kind, defaultLevel: level }) => ({ ai: { kind, level }, rank: Math.random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ ai }) => ai)
    .slice(0, 2);
}
