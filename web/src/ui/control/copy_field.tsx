import { useId, useRef } from "preact/hooks";
import { copyField } from "../../state/share/clipboard";
import { notify } from "../../state/notice";
import { text } from "../../text/text";

interface CopyFieldProps {
  label: string;
  value: string;
  /** The title under which the browser may send the value, which is a link then. */
  title?: string;
}

/** A text to be copied; where the browser forbids that, it is selected. */
export function CopyField({ label, value, title }: CopyFieldProps) {
  const { share } = text.value;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const copy = async () => {
    if (!field.current) return;
    if (await copyField(field.current)) notify(share.copied);
    else notify(share.notCopied, { tone: "bad" });
  };
  // Rejected if the reader changes their mind.
  const send = () => void navigator.share({ title: title ?? "", url: value }).catch(() => undefined);
  return (
    <div class="field">
      <span id={id}>{label}</span>
      <span class="with-button">
        <input
          ref={field}
          aria-labelledby={id}
          readOnly
          value={value}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" aria-describedby={id} onClick={copy}>
          {share.copy}
        </button>
        {title !== undefined && "share" in navigator && (
          <button type="button" aria-describedby={id} onClick={send}>
            {share.send}
          </button>
        )}
      </span>
    </div>
  );
}
