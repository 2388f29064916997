import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { text } from "../../text/text";

interface ConfirmProps {
  ask: string;
  run: () => void;
  /** Whether there is anything to ask about; always, unless given. */
  needed?: () => Promise<boolean>;
  class?: string;
  children: ComponentChildren;
}

/** A button for what cannot be taken back: it asks once more. */
export function Confirm(props: ConfirmProps) {
  const [asking, setAsking] = useState(false);
  const { game } = text.value;
  const button = useRef<HTMLButtonElement>(null);
  const asked = useRef(false);
  // What had the focus is gone with the question or the answer.
  useLayoutEffect(() => {
    if (asked.current !== asking) button.current?.focus();
    asked.current = asking;
  }, [asking]);
  const begin = async () => {
    if (!props.needed || (await props.needed())) setAsking(true);
    else props.run();
  };
  if (!asking) {
    return (
      <button ref={button} type="button" class={props.class} onClick={begin}>
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
      <button ref={button} type="button" class="small danger" onClick={() => answer(true)}>
        {game.confirm}
      </button>
      <button type="button" class="small" onClick={() => answer(false)}>
        {game.cancel}
      </button>
    </span>
  );
}
