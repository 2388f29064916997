import { dismiss, notices } from "../../state/notice";
import { text } from "../../text/text";

/** The visible notices. `notify` has announced them already. */
export function Notices() {
  const { menu } = text.value;
  return (
    <div class="notices" role="region" aria-label={menu.notices}>
      {notices.value.map(({ id, text, tone, action }) => (
        <div key={id} class={`notice ${tone}`}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="quiet" aria-label={menu.dismiss} onClick={() => dismiss(id)}>
            <span aria-hidden="true">×</span>
          </button>
        </div>
      ))}
    </div>
  );
}
