import { useState } from "preact/hooks";
import type { Refusal } from "../../api/refusal";
import { tournaments } from "../../api/tournaments";
import {
  type Tournament,
  TournamentControl,
  TournamentPhase,
  type TournamentSettings,
} from "../../gen/reversi/v1/tournament_pb";
import { type Ai, OPPONENTS } from "../../room/opponent";
import { notify } from "../../state/notice";
import { useServerInfo } from "../../state/server_info";
import { attemptInTournament } from "../../state/tournament/attempt";
import { text } from "../../text/text";
import { draftOf, fieldOf, settingsOf } from "../../tournament/draft";
import { isJoinable } from "../../tournament/words";
import { ConfirmButton } from "../control/confirm_button";
import { OpponentChoice } from "../lobby/opponent_choice";
import { TournamentForm } from "./tournament_form";

/** What the organiser of a tournament that is not over can do. */
export function OrganiserPanel({ tournament }: { tournament: Tournament }) {
  const texts = text.value.tournament;
  return (
    <section class="panel">
      <h2>{texts.manage}</h2>
      <Controls of={tournament} />
      {isJoinable(tournament) && <AiEntry tournamentId={tournament.tournamentId} />}
      {tournament.phase === TournamentPhase.OPEN && tournament.settings && (
        <SettingsForm tournamentId={tournament.tournamentId} settings={tournament.settings} />
      )}
    </section>
  );
}

function Controls({ of: { tournamentId, phase } }: { of: Tournament }) {
  const texts = text.value.tournament;
  const set = (control: TournamentControl) =>
    void attemptInTournament(() => tournaments.controlTournament({ tournamentId, control }), {
      ...(control === TournamentControl.START && { words: { WRONG_PHASE: texts.cannotStart } }),
    });
  const button = (control: TournamentControl, label: string) => (
    <button type="button" class="primary" onClick={() => set(control)}>
      {label}
    </button>
  );
  const isOpen = phase === TournamentPhase.OPEN;
  const isPaused = phase === TournamentPhase.PAUSED;
  return (
    <div class="buttons">
      {isOpen && button(TournamentControl.START, texts.start)}
      {isPaused && button(TournamentControl.RESUME, texts.resume)}
      {!isOpen && !isPaused && (
        <button type="button" onClick={() => set(TournamentControl.PAUSE)}>
          {texts.pause}
        </button>
      )}
      {!isOpen && (
        <ConfirmButton ask={texts.endSure} run={() => set(TournamentControl.END)}>
          {texts.end}
        </ConfirmButton>
      )}
      <ConfirmButton class="quiet" ask={texts.cancelSure} run={() => set(TournamentControl.CANCEL)}>
        {texts.cancel}
      </ConfirmButton>
    </div>
  );
}

/** Changes the settings. What is typed stays while others come and go. */
function SettingsForm({ tournamentId, settings }: { tournamentId: string; settings: TournamentSettings }) {
  const texts = text.value;
  const [draft, setDraft] = useState(() => draftOf(settings));
  const [refused, setRefused] = useState<Refusal | undefined>();
  useServerInfo();
  const isShown = (by: Refusal) => {
    if (!fieldOf(by.field)) return false;
    setRefused(by);
    return true;
  };
  const save = async (event: Event) => {
    event.preventDefault();
    setRefused(undefined);
    const request = { tournamentId, settings: settingsOf(draft, settings) };
    const answer = await attemptInTournament(() => tournaments.updateTournament(request), { isShown });
    if (answer) notify(texts.tournament.changed);
  };
  return (
    <details>
      <summary>{texts.tournament.change}</summary>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <TournamentForm draft={draft} change={setDraft} refused={refused} exists />
        <button class="primary">{texts.create.save}</button>
      </form>
    </details>
  );
}

/** Enters an AI. */
function AiEntry({ tournamentId }: { tournamentId: string }) {
  const texts = text.value.tournament;
  const [ai, setAi] = useState<Ai | undefined>(OPPONENTS[0]);
  const enter = () => {
    if (!ai) return;
    const change = { case: "enter" as const, value: ai };
    void attemptInTournament(() => tournaments.setEntrant({ tournamentId, change }));
  };
  return (
    <details>
      <summary>{texts.enterAi}</summary>
      <div class="stack">
        <OpponentChoice label={text.value.create.ai} value={ai} choose={setAi} />
        <button type="button" onClick={enter}>
          {texts.enter}
        </button>
      </div>
    </details>
  );
}
