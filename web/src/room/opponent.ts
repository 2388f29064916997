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

/** The opponents that the server has, with their measured Elo. */
export function offeredOpponents(kinds: readonly AiKind[]): (Opponent & { elo: number | undefined })[] {
  return OPPONENTS.flatMap((opponent) => {
    const kind = kinds.find((one) => one.kind === opponent.kind && one.levels >= opponent.level);
    return kind ? { ...opponent, elo: kind.elo[opponent.level - 1]?.elo } : [];
  });
}
