import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type RoomSummary, RoomSummarySchema } from "../gen/reversi/v1/lobby_pb";
import { GameResult, RoomSchema } from "../gen/reversi/v1/types_pb";
import { concluded, LINGER, rehang, type Wall } from "./wall";

const row = (roomId: string, more: { black?: bigint; white?: bigint; ply?: number } = {}): RoomSummary =>
  create(RoomSummarySchema, { roomId, black: 1n, white: 2n, ...more });
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
    expect(rehang(second, rows(), LINGER).size).toBe(1);
    expect(rehang(second, rows(), 1_000 + LINGER).size).toBe(0);
  });

  it("takes a room that plays again as running", () => {
    const ended = rehang(rehang(EMPTY, rows(row("a")), 0), rows(), 0);
    expect(rehang(ended, rows(row("a")), 1).get("a")?.until).toBeUndefined();
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
