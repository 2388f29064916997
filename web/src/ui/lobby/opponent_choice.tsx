import { useId, useState } from "preact/hooks";
import { offeredOpponents, opponentOf } from "../../room/opponent";
import { serverInfo, useServerInfo } from "../../state/server_info";
import { text } from "../../text/text";
import { AiChoice, type AiChoiceProps } from "./ai_choice";

/** A choice of a computer opponent by strength; all kinds and levels are folded. */
export function OpponentChoice(props: AiChoiceProps) {
  const { home, opponent } = text.value;
  const group = useId();
  useServerInfo();
  const chosen = opponentOf(props.value);
  const [unnamed] = useState(props.value !== undefined && !chosen);
  return (
    <div class="opponent-choice">
      <fieldset class="opponents">
        <legend>{props.label}</legend>
        {offeredOpponents(serverInfo.value?.aiKinds ?? []).map(({ id, kind, level, elo }) => (
          <label key={id} title={opponent[id].summary}>
            <input
              type="radio"
              name={group}
              checked={id === chosen?.id}
              onChange={() => props.choose({ kind, level })}
            />
            <span>
              {opponent[id].name} <small>{elo !== undefined && `${elo} Elo`}</small>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen && <p class="hint">{opponent[chosen.id].summary}</p>}
      <details open={unnamed}>
        <summary>{home.moreOpponents}</summary>
        <AiChoice {...props} />
      </details>
    </div>
  );
}
