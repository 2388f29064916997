import { useState } from "preact/hooks";
import { attempt } from "../state/call";
import { expired, lastName, logIn, logInAsGuest, resume } from "../state/session";
import { START } from "../game/board";
import { text } from "../text/text";
import { BoardGrid } from "../ui/board/board_grid";

/** Log-in by name or as a guest. */
export function LogInScreen() {
  const { logIn: texts, claim, game } = text.value;
  const [busy, setBusy] = useState(false);
  const enter = async (call: () => Promise<void>) => {
    setBusy(true);
    await attempt(call);
    setBusy(false);
  };
  const submit = (field: string, call: (value: string) => Promise<void>) => (event: SubmitEvent) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget as HTMLFormElement).get(field);
    void enter(() => call(String(value).trim()));
  };
  return (
    <div class="log-in">
      <section>
        <h1>{texts.title}</h1>
        <p class="lead">{texts.lead}</p>
        {expired.value && <p class="note">{texts.expired}</p>}
        <form class="panel" onSubmit={submit("name", logIn)}>
          <label class="field">
            <span>{texts.name}</span>
            <input
              name="name"
              required
              maxLength={24}
              autoComplete="nickname"
              autofocus
              defaultValue={lastName.value}
            />
          </label>
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
      </section>
      <div class="log-in-board">
        <BoardGrid board={START} label={game.board} />
      </div>
    </div>
  );
}
