import type { Color } from "../game/board";
import type { GameRecord, Participant } from "../gen/reversi/v1/record_pb";
import { GameResult, type Outcome } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";
import { occupantName } from "./seat";

/** How a game ended for one player. */
export type Result = "won" | "drawn" | "lost" | "aborted";

export function participantName(texts: Texts, one: Participant | undefined): string {
  const who = one?.participant;
  return who?.case ? occupantName(texts, { occupant: who }) : "";
}

export function winnerOf(outcome: Outcome | undefined): Color | undefined {
  if (outcome?.result === GameResult.BLACK_WINS) return "black";
  return outcome?.result === GameResult.WHITE_WINS ? "white" : undefined;
}

/** "Alpha-Beta 3 wins with black", "A draw" or "Aborted". */
export function headline(texts: Texts, outcome: Outcome, names: Record<Color, string>): string {
  const winner = winnerOf(outcome);
  if (winner) return texts.result[winner](names[winner]);
  return outcome.result === GameResult.DRAW ? texts.result.draw : texts.result.aborted;
}

/** The official score if there is one, else the disc count. */
export function score(outcome: Outcome): Record<Color, number> {
  const official = outcome.blackScore + outcome.whiteScore > 0;
  return official
    ? { black: outcome.blackScore, white: outcome.whiteScore }
    : { black: outcome.blackDiscs, white: outcome.whiteDiscs };
}

/** The player's side; white if the player did not have black. */
export function sideIn({ black }: GameRecord, playerId: string): Color {
  const who = black?.participant;
  return who?.case === "player" && who.value.playerId === playerId ? "black" : "white";
}

export function resultFor(record: GameRecord, side: Color): Result {
  if (record.outcome?.result === GameResult.DRAW) return "drawn";
  const winner = winnerOf(record.outcome);
  return winner ? (winner === side ? "won" : "lost") : "aborted";
}

/** "reversi-ID.ending", without characters that a file system may refuse. */
export function fileName({ gameId }: GameRecord, ending: string): string {
  return `reversi-${gameId.replace(/[^\w-]/g, "")}.${ending}`;
}
