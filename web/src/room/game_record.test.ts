import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type GameRecord, GameRecordSchema } from "../gen/reversi/v1/record_pb";
import { GameResult } from "../gen/reversi/v1/types_pb";
import { en } from "../text/en";
import { fileName, participantName, resultFor, sideIn } from "./game_record";

const ANA = { participant: { case: "player" as const, value: { playerId: "p1", displayName: "Ana" } } };
const AI = { participant: { case: "ai" as const, value: { kind: "alphabeta", level: 3 } } };

function ended(result: GameResult): GameRecord {
  return create(GameRecordSchema, {
    gameId: "g/1",
    black: AI,
    white: ANA,
    outcome: { result, blackDiscs: 40, whiteDiscs: 20 },
  });
}

describe("game records", () => {
  it("give the result for one side", () => {
    const won = ended(GameResult.WHITE_WINS);
    expect(sideIn(won, "p1")).toBe("white");
    expect(resultFor(won, "white")).toBe("won");
    expect(resultFor(won, "black")).toBe("lost");
    expect(resultFor(ended(GameResult.DRAW), "white")).toBe("drawn");
    expect(resultFor(ended(GameResult.ABORTED), "white")).toBe("aborted");
  });

  it("name the participants", () => {
    const { black, white } = ended(GameResult.DRAW);
    expect(participantName(en, black)).toBe("alphabeta 3");
    expect(participantName(en, white)).toBe("Ana");
    expect(participantName(en, undefined)).toBe("");
  });

  it("have portable file names", () => {
    expect(fileName("g1", "ggf")).toBe("reversi-g1.ggf");
  });
});
