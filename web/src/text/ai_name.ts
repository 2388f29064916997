import type { AiKind } from "../gen/reversi/v1/lobby_pb";
import type { Texts } from "./en";

/** The texts about an AI kind. English takes them from the server. */
export interface AiTexts {
  summary: string;
  strength: string;
}

/** The name of an AI, in all languages and lists: kind and level, as "expert 13"; its kind without a level. */
export function aiName({ kind, level }: { kind: string; level: number }): string {
  return level > 0 ? `${kind} ${level}` : kind;
}

export function aiSummary(texts: Texts, { kind, summary }: AiKind): string {
  return texts.ai[kind]?.summary ?? summary;
}

export function aiStrength(texts: Texts, { kind, strength }: AiKind): string {
  return texts.ai[kind]?.strength ?? strength;
}

/** How strong an AI is at its level; undefined where nothing is said of it. */
export function levelStrength({ opponent }: Texts, ai: { kind: string; level: number }): string | undefined {
  const texts: Readonly<Record<string, string | undefined>> = opponent;
  return texts[aiName(ai)];
}
