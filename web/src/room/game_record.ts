import type { Color } from "../game/board";
import type { GameRecord, Participant } from "../gen/reversi/v1/record_pb";
import { GameResult } from "../gen/reversi/v1/types_pb";
import type { Texts } from "../text/en";
import { winnerOf } from "./outcome";
import { occupantName } from "./seat";

/** How a game ended for one player. */
export type Result = "won" | "drawn" | "lost" | "aborted";

export function participantName(texts: Texts, one: Participant | undefined): string {
  const who = one?.participant;
  return who?.case ? occupantName(texts, { occupant: who }) : "";
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
export function fileName(id: string, ending: string): string {
  return `reversi-${id.replace(/[^\w-]/g, "")}.${ending}`;
}
