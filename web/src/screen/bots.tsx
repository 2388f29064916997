import { useEffect, useRef, useState } from "preact/hooks";
import { addBot, botStates, botTokens, MOST_BOTS, removeBot, watchBots } from "../state/bots/bots";
import { readPasted } from "../state/bots/pasted";
import { announce } from "../state/notice";
import { text } from "../text/text";
import { BotPanel } from "../ui/profile/bot_panel";

/** Makes a play token; see `reversi name --help`. */
const COMMAND = "reversi name --keep FILE play-token";

/** For the author of bots: what each does, and what went wrong. */
export function BotsScreen() {
  const { bots } = text.value;
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  useEffect(watchBots, []);
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    if (!field.current) return;
    const pasted = readPasted(field.current.value, location.hostname);
    const found = typeof pasted === "string" ? bots[pasted] : whyNot(pasted.token);
    setProblem(found);
    if (found || typeof pasted === "string") return field.current.focus();
    field.current.value = "";
    addBot(pasted.token);
  };
  const whyNot = (token: string) => {
    if (botTokens.value.includes(token)) return bots.known;
    return botTokens.value.length >= MOST_BOTS ? bots.full(MOST_BOTS) : "";
  };
  // The button that had the focus is gone.
  const remove = (token: string) => {
    removeBot(token);
    announce(bots.removed);
    field.current?.focus();
  };
  return (
    <div class="rooms">
      <h1>{bots.title}</h1>
      <form class="panel" onSubmit={add}>
        <p>{bots.why}</p>
        <p class="muted">
          {bots.limited} <code>{COMMAND}</code>
        </p>
        <p class="muted">{bots.kept(MOST_BOTS)}</p>
        <label class="field">
          <span>{bots.token}</span>
          {/* Hidden as a password is: who reads a token can play as the bot. */}
          <input
            ref={field}
            type="password"
            required
            autoComplete="off"
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? "bot-problem" : undefined}
          />
        </label>
        {problem && (
          <p id="bot-problem" class="field-error" role="alert">
            {problem}
          </p>
        )}
        <button class="primary">{bots.add}</button>
      </form>
      {botTokens.value.length === 0 && <p class="muted">{bots.none}</p>}
      {botTokens.value.map((token) => (
        <BotPanel key={token} state={botStates.value.get(token)} remove={() => remove(token)} />
      ))}
    </div>
  );
}
