import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { AiKindSchema } from "../gen/reversi/v1/lobby_pb";
import { aiName } from "../text/ai_name";
import { en } from "../text/en";
import { ja } from "../text/ja";
import { zh } from "../text/zh";
import { isOffered, offeredOpponents, OPPONENTS } from "./opponent";

it("offers what the server has, with the Elo of the level", () => {
  const random = create(AiKindSchema, { kind: "random", levels: 1, elo: [{ elo: 0 }] });
  const expert = create(AiKindSchema, { kind: "expert", levels: 3, elo: [{ elo: 235 }, { elo: 397 }, { elo: 575 }] });
  const offered = offeredOpponents([random, expert]);
  expect(offered.map((ai) => [aiName(ai), ai.elo])).toEqual([
    ["random 1", 0],
    ["expert 1", 235],
    ["expert 3", 575],
  ]);
  for (const ai of OPPONENTS) expect(isOffered(ai)).toBe(true);
  expect(isOffered({ kind: "mcts", level: 5 })).toBe(false);
  expect(isOffered(undefined)).toBe(false);
});

it("has one description of the strength for each opponent, and none for two", () => {
  for (const { opponent } of [en, ja, zh]) {
    expect(Object.keys(opponent)).toEqual(OPPONENTS.map(aiName));
    expect(new Set(Object.values(opponent)).size).toBe(OPPONENTS.length);
  }
});
