import { useState } from "preact/hooks";
import { attempt } from "../../state/call";
import { expired, lastName, logIn, logInAsGuest, resume } from "../../state/session";
import { text } from "../../text/text";
import { useRefusedName, WhyRefused } from "./refused_name";

/** Log-in by name, as a guest, or by the secret of a kept name. */
export function LogInForm({ done = () => {} }: { done?: () => void }) {
  const { logIn: texts, claim } = text.value;
  const [busy, setBusy] = useState(false);
  const { refusedName, isShownFor } = useRefusedName();
  const enter = async (call: () => Promise<void>, name = "") => {
    setBusy(true);
    const entered = await attempt(async () => (await call(), true), isShownFor(name));
    setBusy(false);
    if (entered) done();
  };
  const submit = (field: string, call: (value: string) => Promise<void>) => (event: SubmitEvent) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get(field)).trim();
    void enter(() => call(value), value);
  };
  return (
    <>
      {expired.value && <p class="note">{texts.expired}</p>}
      <form class="panel" onSubmit={submit("name", logIn)}>
        <label class="field">
          <span>{texts.name}</span>
          <input name="name" required maxLength={24} autoComplete="nickname" autofocus defaultValue={lastName.value} />
        </label>
        <WhyRefused of={refusedName} />
        <button class="primary" disabled={busy}>
          {texts.enter}
        </button>
        <p class="or">{texts.or}</p>
        <button type="button" disabled={busy} onClick={() => enter(logInAsGuest)}>
          {texts.guest}
        </button>
      </form>
      <details class="panel">
        <summary>{texts.haveSecret}</summary>
        <form onSubmit={submit("secret", resume)}>
          <label class="field">
            <span>{claim.secret}</span>
            <input name="secret" required autoComplete="off" pattern=" *[0-9a-fA-F]{64} *" />
          </label>
          <button disabled={busy}>{texts.enter}</button>
        </form>
      </details>
    </>
  );
}
