import { useId, useState } from "preact/hooks";
import { isOffered, offeredOpponents } from "../../room/opponent";
import { serverInfo, useServerInfo } from "../../state/server_info";
import { aiName, levelStrength } from "../../text/ai_name";
import { text } from "../../text/text";
import { AiChoice, type AiChoiceProps } from "./ai_choice";

/** A choice of a computer opponent by strength; all kinds and levels are folded. */
export function OpponentChoice(props: AiChoiceProps) {
  const { home } = text.value;
  const group = useId();
  useServerInfo();
  const chosen = isOffered(props.value) ? props.value : undefined;
  const [unnamed] = useState(props.value !== undefined && !chosen);
  return (
    <div class="opponent-choice">
      <fieldset class="opponents">
        <legend>{props.label}</legend>
        {offeredOpponents(serverInfo.value?.aiKinds ?? []).map(({ elo, ...ai }) => (
          <label key={aiName(ai)} title={levelStrength(text.value, ai)}>
            <input
              type="radio"
              name={group}
              checked={chosen && aiName(ai) === aiName(chosen)}
              onChange={() => props.choose(ai)}
            />
            <span>
              {aiName(ai)} <small>{elo !== undefined && `${elo} Elo`}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen && <p class="hint">{levelStrength(text.value, chosen)}</p>}
      <details open={unnamed}>
        <summary>{home.moreOpponents}</summary>
        <AiChoice {...props} />
      </details>
    </div>
  );
}
