import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Refusal } from "../../api/refusal";
import { text } from "../../text/text";

interface PasswordFormProps {
  /** The number of wrong passwords that were entered before. */
  wrong: number;
  enter: (password: string, form: FormData) => void;
  /** Further fields. */
  children?: ComponentChildren;
}

/** Counts the refusals of wrong passwords, which are shown at the field. */
export function useWrongPasswords() {
  const [wrong, setWrong] = useState(0);
  const isShown = ({ reason }: Refusal) => {
    if (reason !== "BAD_PASSWORD") return false;
    setWrong((before) => before + 1);
    return true;
  };
  return { wrong, isShown };
}

/** Asks for the password of a room. */
export function PasswordForm({ wrong, enter, children }: PasswordFormProps) {
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
        {wrong > 0 && (
          <span key={wrong} role="alert">
            {refusal.BAD_PASSWORD}
          </span>
        )}
      </label>
      <button class="primary">{room.enter}</button>
    </form>
  );
}
