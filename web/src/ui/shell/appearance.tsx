import type { Signal } from "@preact/signals";
import { useId } from "preact/hooks";
import { BOARDS, boardTheme, DISCS, discTheme, scheme, SCHEMES } from "../../state/page/theme";
import { text } from "../../text/text";
import { SegmentedControl } from "../control/segmented_control";

/** Light or dark, and the themes of boards and discs. */
export function Appearance() {
  const { shell } = text.value;
  return (
    <>
      <SegmentedControl
        label={shell.scheme}
        value={scheme.value}
        options={SCHEMES.map((name) => [name, shell.schemes[name]])}
        choose={(name) => (scheme.value = name)}
      />
      <Swatches label={shell.board} chosen={boardTheme} options={BOARDS} names={shell.boards} attribute="data-board" />
      <Swatches
        label={shell.discs}
        chosen={discTheme}
        options={DISCS}
        names={shell.discThemes}
        attribute="data-discs"
      />
    </>
  );
}

/** Radio buttons, each a small picture of its theme. */
function Swatches<T extends string>(props: {
  label: string;
  chosen: Signal<T>;
  options: readonly T[];
  names: Record<T, string>;
  /** The attribute that gives a picture the colors of its theme. */
  attribute: "data-board" | "data-discs";
}) {
  const name = useId();
  return (
    <fieldset class="segments swatches">
      <legend>{props.label}</legend>
      <div>
        {props.options.map((option) => (
          <label key={option} title={props.names[option]}>
            <input
              type="radio"
              name={name}
              aria-label={props.names[option]}
              checked={option === props.chosen.value}
              onChange={() => (props.chosen.value = option)}
            />
            <span class="swatch" {...{ [props.attribute]: option }} />
          </label>
        ))}
      </div>
    </fieldset>
  );
}
