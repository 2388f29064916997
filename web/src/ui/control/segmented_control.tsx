import { useId } from "preact/hooks";

/** Radio buttons in a row. */
export function SegmentedControl<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  choose: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend>{props.label}</legend>
      <div>
        {props.options.map(([value, label]) => (
          <label key={value}>
            <input type="radio" name={name} checked={value === props.value} onChange={() => props.choose(value)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
