import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { GameEndReason, GameResult, OutcomeSchema } from "../gen/reversi/v1/types_pb";
import { en } from "../text/en";
import { headline, reasonText } from "./outcome";

const NAMES = { black: "alphabeta 3", white: "Ana" };

it("has a headline for each outcome, and for each player", () => {
  const outcome = (result: GameResult) => create(OutcomeSchema, { result });
  expect(headline(en, outcome(GameResult.WHITE_WINS), NAMES)).toBe("Ana wins with white");
  expect(headline(en, outcome(GameResult.WHITE_WINS), NAMES, "white")).toBe(en.result.won);
  expect(headline(en, outcome(GameResult.WHITE_WINS), NAMES, "black")).toBe(en.result.lost);
  expect(headline(en, outcome(GameResult.DRAW), NAMES)).toBe("A draw");
  expect(headline(en, outcome(GameResult.ABORTED), NAMES)).toBe("Aborted");
});

it("tells whose time ran out", () => {
  const outcome = create(OutcomeSchema, { result: GameResult.BLACK_WINS, reason: GameEndReason.TIMEOUT });
  expect(reasonText(en, outcome, NAMES)).toBe("Ana ran out of time");
  expect(reasonText(en, outcome, NAMES, "white")).toBe(en.result.ownTimeout);
});
