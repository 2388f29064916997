import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ALL_GAMES } from "../../record_filter";
import { address } from "../../route";
import { hasNotifications, notifications, setNotifications } from "../../state/browser_notification";
import { showLanguage } from "../../state/page/language";
import { navigate } from "../../state/location";
import { notify } from "../../state/notice";
import { animation, hints, sound } from "../../state/preference";
import { logOut, losesByLogOut, session } from "../../state/session";
import { attempt } from "../../state/call";
import { type Language, language, LANGUAGES, text } from "../../text/text";
import { Appearance } from "./appearance";
import { ConfirmButton } from "../control/confirm_button";

/** The menu: player, language and preferences. */
export function Menu() {
  const { menu } = text.value;
  const player = session.value;
  return (
    <>
      <button type="button" class="quiet menu-button" popovertarget="menu">
        <span class="visually-hidden">{menu.settings}</span>
        {player && <span class="player-name">{player.name}</span>}
        <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
          <path d="M3 5.500h14M3 10h14M3 14.500h14" stroke="currentColor" stroke-width="1.800" stroke-linecap="round" />
        </svg>
      </button>
      <div id="menu" popover="auto" class="menu" role="region" aria-label={menu.settings}>
        {player && (
          <>
            <p class="muted">{menu.you(player.name)}</p>
            <a href={address({ screen: "player", playerId: player.playerId })} onClick={close}>
              {menu.history}
            </a>
            <a href={address({ screen: "bots" })} onClick={close}>
              {text.value.bots.title}
            </a>
          </>
        )}
        <a href={address({ screen: "rules" })} onClick={close}>
          {text.value.rules.title}
        </a>
        <a href={address({ screen: "tournaments" })} onClick={close}>
          {text.value.tournament.title}
        </a>
        <a href={address({ screen: "records", filter: ALL_GAMES })} onClick={close}>
          {text.value.archive.finished}
        </a>
        <a href={address({ screen: "explore", moves: "" })} onClick={close}>
          {text.value.archive.openings}
        </a>
        <a href={address({ screen: "analysis", start: "", moves: "" })} onClick={close}>
          {text.value.analysis.title}
        </a>
        <Languages />
        <Appearance />
        <Preference of={sound} label={menu.sound} />
        {hasNotifications && <Notifications />}
        <Preference of={animation} label={menu.animation} />
        <Preference of={hints} label={menu.hints} />
        {player && (
          <ConfirmButton
            ask={menu.logOutSure}
            needed={losesByLogOut}
            run={() => (close(), navigate({ screen: "home" }), void attempt(logOut))}
          >
            {menu.logOut}
          </ConfirmButton>
        )}
      </div>
    </>
  );
}

function close(): void {
  document.getElementById("menu")?.hidePopover();
}

function Languages() {
  const { menu, connection } = text.value;
  const [loading, setLoading] = useState(false);
  const choose = async (select: HTMLSelectElement) => {
    setLoading(true);
    await showLanguage(select.value as Language);
    setLoading(false);
    select.value = language.value;
  };
  return (
    <label class="field">
      <span>{menu.language}</span>
      <select value={language.value} disabled={loading} onChange={(event) => void choose(event.currentTarget)}>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
      {loading && <span role="status">{connection.loading}</span>}
    </label>
  );
}

/** The browser asks the player when the box is checked, never before. */
function Notifications() {
  const { menu } = text.value;
  const set = async (box: HTMLInputElement) => {
    if (!(await setNotifications(box.checked))) notify(menu.notificationsRefused, { tone: "bad" });
    box.checked = notifications.value;
  };
  return (
    <label class="check">
      <input type="checkbox" checked={notifications.value} onChange={(event) => void set(event.currentTarget)} />
      <span>{menu.notifications}</span>
    </label>
  );
}

function Preference({ of, label }: { of: Signal<boolean>; label: string }) {
  return (
    <label class="check">
      <input type="checkbox" checked={of.value} onChange={(event) => (of.value = event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
