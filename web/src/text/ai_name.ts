import type { AiKind } from "../gen/reversi/v1/lobby_pb";
import type { Texts } from "./en";

/** The texts about an AI kind. English takes summary and strength from the server. */
export interface AiTexts {
  name: string;
  summary?: string;
  strength?: string;
}

/** Kinds with a single level, which is not shown. */
const OF_ONE_LEVEL: ReadonlySet<string> = new Set(["random", "greedy", "roxanne"]);

/** Name and level, such as "Alpha-Beta 3". */
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
