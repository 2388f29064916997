export const FIRST_ICON = "M5 4v12M16 4l-8 6 8 6z";
export const BACK_ICON = "M14 4l-8 6 8 6z";
export const FORWARD_ICON = "M6 4l8 6-8 6z";

/** A button with an icon, to step through a game. A disabled one keeps the focus. */
export function StepButton(props: {
  label: string;
  icon: string;
  primary?: boolean;
  disabled: boolean;
  run: () => void;
}) {
  return (
    <button
      type="button"
      class={props.primary ? "primary" : ""}
      aria-label={props.label}
      title={props.label}
      aria-disabled={props.disabled}
      onClick={() => props.disabled || props.run()}
    >
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path d={props.icon} fill="currentColor" stroke="currentColor" stroke-width="2" stroke-linejoin="round" />
      </svg>
    </button>
  );
}
