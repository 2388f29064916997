import { useState } from "preact/hooks";
import { sessions } from "../../api/client";
import { attempt } from "../../state/call";
import { session } from "../../state/session";
import { useQuery } from "../../state/use_query";
import { text } from "../../text/text";

/** For the player: keeps the name for good, and shows the secret with which to come back from another browser. */
export function ClaimPanel() {
  const { claim: texts } = text.value;
  const { answer: me } = useQuery(() => sessions.getMe({}));
  const [claimedNow, setClaimedNow] = useState(false);
  const secret = session.value?.token;
  if (!me || !secret) return null;
  const claim = async () => {
    if (await attempt(() => sessions.claimName({}))) setClaimedNow(true);
  };
  if (!me.claimed && !claimedNow) {
    return (
      <section class="panel">
        <h2>{texts.title}</h2>
        <p class="muted">{me.stats?.played ? texts.why : texts.later}</p>
        <button type="button" disabled={!me.stats?.played} onClick={claim}>
          {texts.claim}
        </button>
      </section>
    );
  }
  return (
    <section class="panel">
      <h2>{texts.title}</h2>
      <p class="muted">{texts.claimed}</p>
      <details>
        <summary>{texts.secret}</summary>
        <input
          class="secret"
          readOnly
          aria-label={texts.secret}
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
        />
      </details>
    </section>
  );
}
