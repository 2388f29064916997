import { useLayoutEffect, useRef } from "preact/hooks";
import { nameRequest } from "../../state/session";
import { text } from "../../text/text";
import { LogInForm } from "./log_in_form";

/** Asks a visitor for a name; what needed it goes on afterwards. */
export function NameDialog() {
  const answer = nameRequest.value;
  const dialog = useRef<HTMLDialogElement>(null);
  // Before it is drawn: a dialog that is not modal yet would be seen, and Escape would not close it.
  useLayoutEffect(() => {
    if (answer) dialog.current?.showModal();
  }, [answer]);
  if (!answer) return null;
  const { visitor } = text.value;
  return (
    <dialog ref={dialog} class="panel name-dialog" aria-labelledby="name-dialog" onClose={() => answer(false)}>
      <h2 id="name-dialog">{visitor.nameNeeded}</h2>
      <p class="muted">{visitor.nameWhy}</p>
      <LogInForm done={() => answer(true)} />
      <button type="button" class="quiet" onClick={() => answer(false)}>
        {visitor.notNow}
      </button>
    </dialog>
  );
}
