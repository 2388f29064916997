import type { RoomSummary, WatchRoomsResponse } from "../../gen/reversi/v1/lobby_pb";

/** Rooms by id, newest first. */
export type RoomRows = ReadonlyMap<string, RoomSummary>;

/** The rows after one more message of the list. */
export function changedRows(rows: RoomRows, message: WatchRoomsResponse["message"]): RoomRows {
  switch (message.case) {
    case "snapshot":
      return new Map(message.value.rooms.map((room) => [room.roomId, room]));
    case "upserted": {
      const { value } = message;
      return rows.has(value.roomId)
        ? new Map(rows).set(value.roomId, value)
        : new Map([[value.roomId, value], ...rows]);
    }
    case "removed": {
      const left = new Map(rows);
      left.delete(message.value);
      return left;
    }
    default:
      return rows;
  }
}
