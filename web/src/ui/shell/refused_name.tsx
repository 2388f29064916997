import type { TargetedMouseEvent } from "preact";
import { useState } from "preact/hooks";
import type { Refusal } from "../../api/refusal";
import { refusalText, text } from "../../text/text";

interface RefusedName {
  refused: Refusal;
  name: string;
}

/** The refused name, which is shown at its field; `isShownFor` is for `attempt`. */
export function useRefusedName() {
  const [refusedName, setRefusedName] = useState<RefusedName | undefined>();
  const isShownFor = (name: string) => (refused: Refusal) => {
    const isOfName = refused.reason === "NAME_TAKEN" || refused.reason === "BAD_NAME";
    setRefusedName(isOfName ? { refused, name } : undefined);
    return isOfName;
  };
  return { refusedName, isShownFor };
}

/** Below the field "name" of a form: why the name is refused; of a taken name, a similar one that a button enters. */
export function WhyRefused({ of }: { of: RefusedName | undefined }) {
  if (!of) return null;
  const { refused, name } = of;
  const similar = `${name.slice(0, 20)} ${100 + Math.floor(Math.random() * 900)}`;
  const enter = ({ currentTarget }: TargetedMouseEvent<HTMLButtonElement>) => {
    const field = currentTarget.form?.elements.namedItem("name");
    if (!(field instanceof HTMLInputElement)) return;
    field.value = similar;
    field.focus();
  };
  return (
    <p class="field-error" role="alert">
      {refusalText(text.value, refused)}{" "}
      {refused.reason === "NAME_TAKEN" && (
        <button type="button" class="small" onClick={enter}>
          {similar}
        </button>
      )}
    </p>
  );
}
