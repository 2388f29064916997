import type { AiKind } from "../gen/reversi/v1/lobby_pb";
import type { Texts } from "./en";

/** What the page calls an AI, and tells of it. English takes the server's own words. */
export interface AiTexts {
  name: string;
  summary?: string;
  strength?: string;
}

/** AIs without a choice of levels: theirs is not worth telling. */
const OF_ONE_LEVEL: ReadonlySet<string> = new Set(["random", "greedy", "roxanne"]);

/** The AI at its level, in words. */
export function aiTitle(texts: Texts, kind: string, level: number): string {
  return level > 0 && !OF_ONE_LEVEL.has(kind) ? `${aiName(texts, kind)} ${level}` : aiName(texts, kind);
}

export function aiName(texts: Texts, kind: string): string {
  return texts.ai[kind]?.name ?? kind.charAt(0).toUpperCase() + kind.slice(1);
}

export function aiSummary(texts: Texts, { kind, summary }: AiKind): string {
  return texts.ai[kind]?.summary ?? summary;
}

export function aiStrength(texts: Texts, { kind, strength }: AiKind): string {
  return texts.ai[kind]?.strength ?? strength;
}
