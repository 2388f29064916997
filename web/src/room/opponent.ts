import type { AiKind } from "../gen/reversi/v1/lobby_pb";
import type { Texts } from "../text/en";

/** A computer opponent with a name: an AI at one level. */
export interface Opponent {
  id: keyof Texts["opponent"];
  kind: string;
  level: number;
}

/** From the weakest to the strongest. A beginner can beat the first. */
export const OPPONENTS: readonly Opponent[] = [
  { id: "beginner", kind: "random", level: 1 },
  { id: "learner", kind: "expert", level: 1 },
  { id: "casual", kind: "expert", level: 3 },
  { id: "club", kind: "expert", level: 6 },
  { id: "strong", kind: "expert", level: 9 },
  { id: "tournament", kind: "expert", level: 11 },
  { id: "master", kind: "expert", level: 13 },
  { id: "champion", kind: "expert", level: 16 },
];

export function opponentOf(ai: { kind: string; level: number } | undefined): Opponent | undefined {
  return OPPONENTS.find(({ kind, level }) => kind === ai?.kind && level === ai.level);
}

/** The measured Elo of an AI at its level, if known. */
export function eloOf(kinds: readonly AiKind[], ai: { kind: string; level: number }): number | undefined {
  return kinds.find(({ kind }) => kind === ai.kind)?.elo[ai.level - 1]?.elo;
}

/** The opponents that the server has, with their measured Elo. */
export function offeredOpponents(kinds: readonly AiKind[]): (Opponent & { elo: number | undefined })[] {
  return OPPONENTS.filter(({ kind, level }) => kinds.some((one) => one.kind === kind && one.levels >= level)).map(
    (opponent) => ({ ...opponent, elo: eloOf(kinds, opponent) }),
  );
}
