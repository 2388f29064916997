import type { ComponentChildren } from "preact";
import { text } from "../../text/text";

interface PasswordFormProps {
  /** Whether another password was entered before. */
  wrong?: boolean;
  enter: (password: string, form: FormData) => void;
  /** Further fields. */
  children?: ComponentChildren;
}

/** Asks for the password of a room. */
export function PasswordForm({ wrong = false, enter, children }: PasswordFormProps) {
  const { create, refusal, room } = text.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    enter(String(form.get("password")), form);
  };
  return (
    <form class="panel centered" onSubmit={submit}>
      <h1>{room.password}</h1>
      {children}
      <label class="field">
        <span>{create.password}</span>
        <input type="password" name="password" required autoComplete="off" autofocus />
        {wrong && <span role="alert">{refusal.BAD_PASSWORD}</span>}
      </label>
      <button class="primary">{room.enter}</button>
    </form>
  );
}
