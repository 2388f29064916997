import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type RoomSummary, RoomSummarySchema } from "../../gen/reversi/v1/lobby_pb";
import { GameResult, RoomSchema } from "../../gen/reversi/v1/types_pb";
import { withOutcome, END_SHOWN, updateLiveGames, type LiveGames } from "./live_games";

const row = (roomId: string, more: { black?: bigint; white?: bigint; ply?: number } = {}): RoomSummary =>
  create(RoomSummarySchema, { roomId, black: 1n << 28n, white: 1n << 27n, ...more });
const rows = (...list: RoomSummary[]) => new Map(list.map((one) => [one.roomId, one]));
const EMPTY: LiveGames = new Map();

describe("live games", () => {
  it("keep their order, with new games last", () => {
    const first = updateLiveGames(EMPTY, rows(row("a"), row("b")), 0);
    const second = updateLiveGames(first, rows(row("c"), row("b"), row("a")), 0);
    expect([...second.keys()]).toEqual(["a", "b", "c"]);
  });

  it("keep the same object for an unchanged tile", () => {
    const list = rows(row("a"), row("b"));
    const first = updateLiveGames(EMPTY, list, 0);
    const second = updateLiveGames(first, new Map(list).set("b", row("b", { ply: 1 })), 0);
    expect(second.get("a")).toBe(first.get("a"));
    expect(second.get("b")?.row.ply).toBe(1);
  });

  it("stay for END_SHOWN after leaving the list", () => {
    const first = updateLiveGames(EMPTY, rows(row("a")), 0);
    const second = updateLiveGames(first, rows(), 1_000);
    expect(second.get("a")?.until).toBe(1_000 + END_SHOWN);
    expect(updateLiveGames(second, rows(), 999 + END_SHOWN).size).toBe(1);
    expect(updateLiveGames(second, rows(), 1_000 + END_SHOWN).size).toBe(0);
  });

  it("show the next game of a room after END_SHOWN", () => {
    const ended = updateLiveGames(updateLiveGames(EMPTY, rows(row("a")), 0), rows(), 0);
    const again = rows(row("a", { ply: 1 }));
    expect(updateLiveGames(ended, again, END_SHOWN - 1).get("a")).toBe(ended.get("a"));
    expect(updateLiveGames(ended, again, END_SHOWN).get("a")).toEqual({ row: again.get("a") });
  });

  it("keep the final board while the next game of a series begins", () => {
    const full = row("a", { black: 3n, white: 0n, ply: 60 });
    const ended = updateLiveGames(updateLiveGames(EMPTY, rows(row("a")), 0), rows(full), 100);
    expect(ended.get("a")).toEqual({ row: full, until: 100 + END_SHOWN });
    const next = rows(row("a", { ply: 1 }));
    expect(updateLiveGames(ended, next, 200).get("a")?.row.ply).toBe(60);
    expect(updateLiveGames(ended, next, 100 + END_SHOWN).get("a")?.row.ply).toBe(1);
  });

  it("leave out games that only members may watch", () => {
    const hidden = row("a", { black: 0n, white: 0n });
    expect(updateLiveGames(EMPTY, rows(hidden), 0).size).toBe(0);
    expect(updateLiveGames(updateLiveGames(EMPTY, rows(row("a")), 0), rows(hidden), 0).size).toBe(0);
  });

  it("take the outcome from the room", () => {
    const tile = { row: row("a"), until: 9 };
    expect(withOutcome(tile, create(RoomSchema, {}))).toBe(tile);
    const plies = [
      { ply: 0, square: "d3" },
      { ply: 1, pass: true },
    ];
    const outcome = { result: GameResult.BLACK_WINS };
    const room = create(RoomSchema, { game: { outcome, plies, ply: 2, position: { black: 7n, blackDiscs: 3 } } });
    const after = withOutcome(tile, room);
    expect(after.outcome?.result).toBe(GameResult.BLACK_WINS);
    expect(after.row).toMatchObject({ black: 7n, white: 0n, blackDiscs: 3, lastMove: "d3", ply: 2 });
    expect(after.until).toBe(9);
  });
});
