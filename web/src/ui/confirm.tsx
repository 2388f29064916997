import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { text } from "../text/text";

/** A button for what cannot be taken back: it asks once more. */
export function Confirm(props: { ask: string; run: () => void; class?: string; children: ComponentChildren }) {
  const [asking, setAsking] = useState(false);
  const { game } = text.value;
  if (!asking) {
    return (
      <button type="button" class={props.class} onClick={() => setAsking(true)}>
        {props.children}
      </button>
    );
  }
  const answer = (yes: boolean) => {
    setAsking(false);
    if (yes) props.run();
  };
  return (
    <span class="confirm" role="group" aria-label={props.ask}>
      <span>{props.ask}</span>
      <button type="button" class="small danger" autofocus onClick={() => answer(true)}>
        {game.confirm}
      </button>
      <button type="button" class="small" onClick={() => answer(false)}>
        {game.cancel}
      </button>
    </span>
  );
}
