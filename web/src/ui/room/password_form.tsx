import { useState } from "preact/hooks";
import type { Refusal } from "../../api/refusal";
import { text } from "../../text/text";

interface PasswordFormProps {
  /** The number of wrong passwords that were entered before. */
  wrong: number;
  enter: (password: string) => void;
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

/** The field "password", and below it that the last one was wrong. */
export function PasswordField({ wrong, autofocus = false }: { wrong: number; autofocus?: boolean }) {
  const { create, refusal } = text.value;
  return (
    <label class="field">
      <span>{create.password}</span>
      <input type="password" name="password" required autoComplete="off" autofocus={autofocus} />
      {wrong > 0 && (
        <span key={wrong} role="alert">
          {refusal.BAD_PASSWORD}
        </span>
      )}
    </label>
  );
}

/** Asks for the password of a room. */
export function PasswordForm({ wrong, enter }: PasswordFormProps) {
  const { room } = text.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    enter(String(form.get("password")));
  };
  return (
    <form class="panel centered" onSubmit={submit}>
      <h1>{room.password}</h1>
      <PasswordField wrong={wrong} autofocus />
      <button class="primary">{room.enter}</button>
    </form>
  );
}
