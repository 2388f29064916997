import { dismiss, notices } from "../../state/notice";
import { session } from "../../state/session";
import { text } from "../../text/text";
import { Invitations } from "./invitations";

/** The open invitations and the visible notices. They have been announced already. */
export function Notices() {
  const { menu } = text.value;
  return (
    <div class="notices" role="region" aria-label={menu.notices}>
      {session.value && <Invitations />}
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
