import type { AiKind } from "../../gen/reversi/v1/lobby_pb";
import type { Ai } from "../../room/opponent";
import { serverInfo, useServerInfo } from "../../state/server_info";
import { aiStrength, aiSummary } from "../../text/ai_name";
import { text } from "../../text/text";

export interface AiChoiceProps {
  label: string;
  value: Ai | undefined;
  choose: (ai: Ai) => void;
}

/** A choice of AI kind and level, with the measured strength. */
export function AiChoice(props: AiChoiceProps) {
  const { home } = text.value;
  const kinds = serverInfo.value?.aiKinds ?? [];
  const { value } = props;
  useServerInfo();
  const kind = kinds.find((one) => one.kind === value?.kind);
  const choose = (name: string) => {
    const chosen = kinds.find((one) => one.kind === name);
    if (chosen) props.choose({ kind: name, level: chosen.defaultLevel });
  };
  return (
    <div class="ai-choice">
      <div class="pair">
        <label class="field">
          <span>{props.label}</span>
          <select value={value?.kind ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
            {kinds.map((one) => (
              <option key={one.kind} value={one.kind}>
                {one.kind}
              </option>
            ))}
          </select>
        </label>
        {kind && value && kind.levels > 1 && (
          <label class="field level">
            <span>{home.level}</span>
            <select
              value={String(value.level)}
              onChange={(event) => props.choose({ ...value, level: Number(event.currentTarget.value) })}
            >
              {Array.from({ length: kind.levels }, (_, at) => (
                <option key={at} value={String(at + 1)}>
                  {home.levelOf(at + 1, kind.levels)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p class="hint">{kind ? `${aiSummary(text.value, kind)} ${home.strength(aiStrength(text.value, kind))}` : ""}</p>
    </div>
  );
}

/** The preferred kind, or else the first one, at its default level. */
export function firstAi(kinds: readonly AiKind[], preferred: string): Ai | undefined {
  const kind = kinds.find((one) => one.kind === preferred) ?? kinds[0];
  return kind && { kind: kind.kind, level: kind.defaultLevel };
}
