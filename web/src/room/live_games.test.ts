import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type RoomSummary, RoomSummarySchema } from "../gen/reversi/v1/lobby_pb";
import { GameResult, RoomSchema } from "../gen/reversi/v1/types_pb";
import { concluded, LINGER, rehang, type Wall } from "./live_games";

const row = (roomId: string, more: { black?: bigint; white?: bigint; ply?: number } = {}): RoomSummary =>
  create(RoomSummarySchema, { roomId, black: 1n << 28n, white: 1n << 27n, ...more });
const rows = (...list: RoomSummary[]) => new Map(list.map((one) => [one.roomId, one]));
const EMPTY: Wall = new Map();

describe("the wall", () => {
  it("keeps places, and puts new games behind", () => {
    const first = rehang(EMPTY, rows(row("a"), row("b")), 0);
    const second = rehang(first, rows(row("c"), row("b"), row("a")), 0);
    expect([...second.keys()]).toEqual(["a", "b", "c"]);
  });

  it("hands on the same tile for what did not change", () => {
    const list = rows(row("a"), row("b"));
    const first = rehang(EMPTY, list, 0);
    const second = rehang(first, new Map(list).set("b", row("b", { ply: 1 })), 0);
    expect(second.get("a")).toBe(first.get("a"));
    expect(second.get("b")?.row.ply).toBe(1);
  });

  it("shows a game for a while after it left the list", () => {
    const first = rehang(EMPTY, rows(row("a")), 0);
    const second = rehang(first, rows(), 1_000);
    expect(second.get("a")?.until).toBe(1_000 + LINGER);
    expect(rehang(second, rows(), 999 + LINGER).size).toBe(1);
    expect(rehang(second, rows(), 1_000 + LINGER).size).toBe(0);
  });

  it("takes a room that plays again as running, once its end was seen", () => {
    const ended = rehang(rehang(EMPTY, rows(row("a")), 0), rows(), 0);
    const again = rows(row("a", { ply: 1 }));
    expect(rehang(ended, again, LINGER - 1).get("a")).toBe(ended.get("a"));
    expect(rehang(ended, again, LINGER).get("a")).toEqual({ row: again.get("a") });
  });

  it("holds the last board of a game while the next one of its series begins", () => {
    const full = row("a", { black: 3n, white: 0n, ply: 60 });
    const ended = rehang(rehang(EMPTY, rows(row("a")), 0), rows(full), 100);
    expect(ended.get("a")).toEqual({ row: full, until: 100 + LINGER });
    const next = rows(row("a", { ply: 1 }));
    expect(rehang(ended, next, 200).get("a")?.row.ply).toBe(60);
    expect(rehang(ended, next, 100 + LINGER).get("a")?.row.ply).toBe(1);
  });

  it("leaves out what not everybody may watch", () => {
    const hidden = row("a", { black: 0n, white: 0n });
    expect(rehang(EMPTY, rows(hidden), 0).size).toBe(0);
    expect(rehang(rehang(EMPTY, rows(row("a")), 0), rows(hidden), 0).size).toBe(0);
  });

  it("tells the end as the room does", () => {
    const tile = { row: row("a"), until: 9 };
    expect(concluded(tile, create(RoomSchema, {}))).toBe(tile);
    const plies = [
      { ply: 0, square: "d3" },
      { ply: 1, pass: true },
    ];
    const outcome = { result: GameResult.BLACK_WINS };
    const room = create(RoomSchema, { game: { outcome, plies, ply: 2, position: { black: 7n, blackDiscs: 3 } } });
    const after = concluded(tile, room);
    expect(after.outcome?.result).toBe(GameResult.BLACK_WINS);
    expect(after.row).toMatchObject({ black: 7n, white: 0n, blackDiscs: 3, lastMove: "d3", ply: 2 });
    expect(after.until).toBe(9);
  });
});
