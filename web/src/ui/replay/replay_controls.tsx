import { isSpeed, SPEEDS } from "../../game/playback";
import { text } from "../../text/text";
import { BACK_ICON, FIRST_ICON, FORWARD_ICON, StepButton } from "../control/step_button";
import type { Playback } from "./use_playback";

/** The slider and the buttons of a replay. */
export function ReplayControls(props: Playback) {
  const { replay } = text.value;
  const { at, plies, playing, go } = props;
  const playLabel = playing ? replay.pause : at === plies ? replay.again : replay.play;
  return (
    <div class="replay-controls">
      <input
        type="range"
        min={0}
        max={plies}
        value={at}
        aria-label={replay.position}
        aria-valuetext={replay.at(at, plies)}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <div class="replay-buttons">
        <StepButton label={replay.first} icon={FIRST_ICON} disabled={at === 0} run={() => go(0)} />
        <StepButton label={replay.back} icon={BACK_ICON} disabled={at === 0} run={() => go(at - 1)} />
        <StepButton
          label={playLabel}
          icon={playing ? "M6 4v12M14 4v12" : "M6 3.500l10 6.500-10 6.500z"}
          primary
          disabled={plies === 0}
          run={props.toggle}
        />
        <StepButton label={replay.forward} icon={FORWARD_ICON} disabled={at === plies} run={() => go(at + 1)} />
        <StepButton label={replay.last} icon="M15 4v12M4 4l8 6-8 6z" disabled={at === plies} run={() => go(plies)} />
        <select
          aria-label={replay.speed}
          value={props.speed}
          onChange={({ currentTarget: { value } }) => isSpeed(value) && props.setSpeed(value)}
        >
          {Object.keys(SPEEDS).map((speed) => (
            <option key={speed} value={speed}>
              {speed}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}
