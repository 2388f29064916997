import { useState } from "preact/hooks";
import type { Refusal } from "../api/refusal";
import { tournaments } from "../api/tournaments";
import { replace } from "../state/location";
import { useServerInfo } from "../state/server_info";
import { attemptInTournament } from "../state/tournament/attempt";
import { text } from "../text/text";
import { fieldOf, FIRST_DRAFT, settingsOf } from "../tournament/draft";
import { TournamentForm } from "../ui/tournament/tournament_form";

/** The form for a new tournament. */
export function OrganiseScreen() {
  const { tournament } = text.value;
  const [draft, setDraft] = useState(FIRST_DRAFT);
  const [refused, setRefused] = useState<Refusal | undefined>();
  const [busy, setBusy] = useState(false);
  useServerInfo();
  const isShown = (by: Refusal) => {
    if (!fieldOf(by.field)) return false;
    setRefused(by);
    return true;
  };
  const create = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setRefused(undefined);
    const request = { settings: settingsOf(draft), password: draft.password };
    const answer = await attemptInTournament(() => tournaments.createTournament(request), { isShown });
    setBusy(false);
    if (answer?.tournament) replace({ screen: "tournament", tournamentId: answer.tournament.tournamentId });
  };
  return (
    <form class="create" onSubmit={(event) => void create(event)}>
      <h1>{tournament.organise}</h1>
      <TournamentForm draft={draft} change={setDraft} refused={refused} />
      <button class="primary large" disabled={busy}>
        {tournament.form.create}
      </button>
    </form>
  );
}
