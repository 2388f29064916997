import { useEffect, useRef } from "preact/hooks";
import { announce } from "../../state/notice";
import { text } from "../../text/text";
import { BACK_ICON, FORWARD_ICON, StepButton } from "../control/step_button";

/** Shown while an earlier position is on the board: steps, and the way back to the current one. */
export function PastPosition({ at, plies, go }: { at: number; plies: number; go: (at: number) => void }) {
  const { game, replay } = text.value;
  const place = replay.at(at, plies);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => announce(place), [at]);
  // On a small window the list of moves is far below the board.
  useEffect(() => boardNear(bar.current)?.scrollIntoView({ block: "nearest" }), [at]);
  const step = (to: number) => {
    const board = boardNear(bar.current);
    go(to);
    // The buttons are gone then; the focus stays at the board.
    if (to >= plies) setTimeout(() => board?.querySelector<HTMLElement>(".cell[tabindex='0']")?.focus());
  };
  return (
    <div ref={bar} class="past-position" role="group" aria-label={game.lookingBack}>
      <StepButton label={replay.back} icon={BACK_ICON} disabled={at === 0} run={() => step(at - 1)} />
      <span class="numbers">{place}</span>
      <StepButton label={replay.forward} icon={FORWARD_ICON} disabled={false} run={() => step(at + 1)} />
      <button type="button" class="primary small" onClick={() => step(plies)}>
        {game.currentPosition}
      </button>
    </div>
  );
}

function boardNear(bar: HTMLElement | null): Element | null | undefined {
  return bar?.closest(".board-view")?.querySelector(".board-main");
}
