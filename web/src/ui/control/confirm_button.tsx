import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { text } from "../../text/text";

interface ConfirmProps {
  ask: string;
  run: () => void;
  /** Whether to ask at all; always by default. */
  needed?: () => Promise<boolean>;
  class?: string;
  children: ComponentChildren;
}

/** A button that asks for confirmation before it runs. */
export function ConfirmButton(props: ConfirmProps) {
  const [asking, setAsking] = useState(false);
  const { game } = text.value;
  const button = useRef<HTMLButtonElement>(null);
  const asked = useRef(false);
  // The element that had the focus is gone.
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
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    // Closes nothing around it.
    event.preventDefault();
    event.stopPropagation();
    answer(false);
  };
  return (
    <span class="confirm" role="group" aria-label={props.ask} onKeyDown={escape}>
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
