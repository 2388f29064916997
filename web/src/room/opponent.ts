import type { AiKind } from "../gen/reversi/v1/lobby_pb";

/** An AI at one of its levels. */
export interface Ai {
  kind: string;
  level: number;
}

/** The computer opponents that are offered first, from the weakest to the strongest. A beginner can beat the first. */
export const OPPONENTS: readonly Ai[] = [
  { kind: "random", level: 1 },
  ...[1, 3, 6, 9, 11, 13, 16].map((level) => ({ kind: "expert", level })),
];

export function isOffered(ai: Ai | undefined): boolean {
  return OPPONENTS.some(({ kind, level }) => kind === ai?.kind && level === ai.level);
}

/** The measured Elo of an AI at its level, if known. */
export function eloOf(kinds: readonly AiKind[], ai: Ai): number | undefined {
  return kinds.find(({ kind }) => kind === ai.kind)?.elo[ai.level - 1]?.elo;
}

/** The opponents that the server has, with their measured Elo. */
export function offeredOpponents(kinds: readonly AiKind[]): (Ai & { elo: number | undefined })[] {
  return OPPONENTS.filter(({ kind, level }) => kinds.some((one) => one.kind === kind && one.levels >= level)).map(
    (ai) => ({ ...ai, elo: eloOf(kinds, ai) }),
  );
}
