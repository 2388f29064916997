import { text } from "../../text/text";

/** Asks for the password of a room. */
export function PasswordForm({ enter }: { enter: (password: string) => void }) {
  const { create, room } = text.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter(String(new FormData(event.currentTarget as HTMLFormElement).get("password")));
  };
  return (
    <form class="panel centered" onSubmit={submit}>
      <h1>{room.password}</h1>
      <label class="field">
        <span>{create.password}</span>
        <input type="password" name="password" required autoComplete="off" autofocus />
      </label>
      <button class="primary">{room.enter}</button>
    </form>
  );
}
