import { type Color, opposite } from "../game/board";
import { GameEndReason, GameResult, type Outcome } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";

export function winnerOf(outcome: Outcome | undefined): Color | undefined {
  if (outcome?.result === GameResult.BLACK_WINS) return "black";
  return outcome?.result === GameResult.WHITE_WINS ? "white" : undefined;
}

/** "alphabeta 3 wins with black", "A draw" or "Aborted"; "You win" or "You lose" for the player of `side`. */
export function headline({ result }: Texts, outcome: Outcome, names: Record<Color, string>, side?: Color): string {
  const winner = winnerOf(outcome);
  if (!winner) return outcome.result === GameResult.DRAW ? result.draw : result.aborted;
  if (side) return side === winner ? result.won : result.lost;
  return result[winner](names[winner]);
}

/** Why the game ended; names who ran out of time. */
export function reasonText({ result }: Texts, outcome: Outcome, names: Record<Color, string>, side?: Color): string {
  const winner = winnerOf(outcome);
  if (outcome.reason !== GameEndReason.TIMEOUT || !winner) return result.reason[outcome.reason];
  const loser = opposite(winner);
  return loser === side ? result.ownTimeout : result.timeout(names[loser]);
}

export function discsOf({ blackDiscs: black, whiteDiscs: white }: Outcome): Record<Color, number> {
  return { black, white };
}
