import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { AiKindSchema } from "../gen/reversi/v1/lobby_pb";
import { offeredOpponents, opponentOf, OPPONENTS } from "./opponent";

it("offers what the server has, with the Elo of the level", () => {
  const random = create(AiKindSchema, { kind: "random", levels: 1, elo: [{ elo: 0 }] });
  const expert = create(AiKindSchema, { kind: "expert", levels: 3, elo: [{ elo: 235 }, { elo: 397 }, { elo: 575 }] });
  const offered = offeredOpponents([random, expert]);
  expect(offered.map(({ id, elo }) => [id, elo])).toEqual([
    ["beginner", 0],
    ["learner", 235],
    ["casual", 575],
  ]);
});

it("knows an opponent by kind and level", () => {
  for (const opponent of OPPONENTS) expect(opponentOf(opponent)).toBe(opponent);
  expect(opponentOf({ kind: "mcts", level: 5 })).toBeUndefined();
  expect(opponentOf(undefined)).toBeUndefined();
});
