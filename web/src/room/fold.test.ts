import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type RoomEvent, RoomEventSchema } from "../gen/reversi/v1/room_pb";
import {
  GameSchema,
  Offer,
  type Room,
  RoomPhase,
  RoomSchema,
  SeriesScoreSchema,
  Side,
} from "../gen/reversi/v1/types_pb";
import { fold } from "./fold";

const anna = { playerId: "p1", displayName: "Anna" };
const room = create(RoomSchema, {
  seq: 4n,
  phase: RoomPhase.LOBBY,
  ownerId: "p1",
  members: [{ player: anna, present: true }],
  seats: [
    { occupant: { case: "player", value: anna }, present: true, wins: 2 },
    { occupant: { case: "ai", value: { kind: "mcts", level: 3 } }, wins: 1 },
  ],
});
const playing: Room = { ...room, phase: RoomPhase.PLAYING, game: create(GameSchema, { gameId: "g1" }) };

type Fact = NonNullable<MessageInitShape<typeof RoomEventSchema>["event"]>;

function event(fact: Fact, seq = 5n): RoomEvent {
  return create(RoomEventSchema, { seq, event: fact });
}

function after(before: Room, fact: Fact): Room {
  const folded = fold(before, event(fact));
  if (!folded) throw new Error("a gap");
  return folded;
}

describe("sequence", () => {
  const joined: Fact = { case: "memberJoined", value: { member: { player: { playerId: "p2" } } } };

  it("advances by one event", () => {
    const folded = after(room, joined);
    expect(folded.seq).toBe(5n);
    expect(folded.members).toHaveLength(2);
    expect(room.members).toHaveLength(1);
  });

  it("passes over what is known, and does not go over a gap", () => {
    expect(fold(room, event(joined, 4n))).toBe(room);
    expect(fold(room, event(joined, 6n))).toBeUndefined();
  });
});

describe("seats", () => {
  it("change presence with their player", () => {
    const folded = after(room, { case: "presenceChanged", value: { playerId: "p1", present: false } });
    expect([folded.members[0]?.present, folded.seats[0]?.present]).toEqual([false, false]);
  });

  it("begin a new score with a new occupant", () => {
    const occupant = { occupant: { case: "open" as const, value: {} } };
    const folded = after({ ...room, rematchOfferedBy: 0 }, { case: "seatChanged", value: { seat: 1, occupant } });
    expect(folded.seats.map((seat) => seat.wins)).toEqual([0, 0]);
    expect(folded.rematchOfferedBy).toBeUndefined();
  });

  it("are swapped with their offer", () => {
    const score = create(SeriesScoreSchema, { seat: 0, wins: 2 });
    const folded = after({ ...room, rematchOfferedBy: 0, score }, { case: "seatsSwapped", value: {} });
    expect(folded.score).toMatchObject({ seat: 1, wins: 2 });
    expect(folded.seats[0]?.occupant.case).toBe("ai");
    expect(folded.rematchOfferedBy).toBe(1);
  });
});

describe("games", () => {
  const move = { gameId: "g1", ply: { ply: 0, square: "d3", side: Side.BLACK }, position: { blackDiscs: 4 } };

  it("grow by plies", () => {
    const { game } = after(playing, { case: "movePlayed", value: move });
    expect([game?.ply, game?.plies.length, game?.position?.blackDiscs]).toEqual([1, 1, 4]);
  });

  it("take no ply of another game", () => {
    const { game } = after(playing, { case: "movePlayed", value: { ...move, gameId: "g0" } });
    expect(game?.plies).toEqual([]);
  });

  it("end in the lobby, unless the series goes on", () => {
    const end = { gameId: "g1", outcome: { blackDiscs: 40 }, seats: room.seats };
    const over = after(playing, { case: "gameEnded", value: end });
    expect([over.phase, over.game?.outcome?.blackDiscs, over.series]).toEqual([RoomPhase.LOBBY, 40, undefined]);
    const series = { game: 1, games: 3, nextGameAt: { seconds: 9n } };
    const between = after(playing, { case: "gameEnded", value: { ...end, series } });
    expect([between.phase, between.series?.game]).toEqual([RoomPhase.PLAYING, 1]);
  });

  it("know who offers what", () => {
    const offered = after(playing, { case: "offerMade", value: { offer: Offer.DRAW, seat: 1 } });
    expect(offered.game?.drawOfferedBy).toBe(Side.WHITE);
    const closed = fold(offered, event({ case: "offerClosed", value: { offer: Offer.DRAW } }, 6n));
    expect(closed?.game?.drawOfferedBy).toBe(Side.UNSPECIFIED);
  });
});
