import { retry } from "../../api/retry";
import { tournaments } from "../../api/tournaments";
import { EntrantState, type Standing, type Tournament } from "../../gen/reversi/v1/tournament_pb";
import { session } from "../../state/session";
import { attemptInTournament } from "../../state/tournament/attempt";
import { text } from "../../text/text";
import { isJoinable } from "../../tournament/words";
import { ConfirmButton } from "../control/confirm_button";
import { PasswordField, useWrongPasswords } from "../room/password_form";

interface EntryProps {
  tournament: Tournament;
  standings: readonly Standing[];
}

/** How to take part, and how to leave. */
export function EntryPanel({ tournament, standings }: EntryProps) {
  const texts = text.value.tournament;
  const { tournamentId } = tournament;
  const own = standings.find(({ who }) => isPlayer(who?.participant, session.value?.playerId));
  if (own?.state === EntrantState.EXCLUDED) return <section class="panel">{texts.mayNotJoin}</section>;
  if (!own || own.state === EntrantState.LEFT) return isJoinable(tournament) ? <JoinForm of={tournament} /> : null;
  const leave = () => void attemptInTournament(() => retry(() => tournaments.leaveTournament({ tournamentId })));
  return (
    <section class="panel">
      <p>{texts.takesPart}</p>
      <div class="buttons">
        <ConfirmButton ask={texts.leaveSure} run={leave}>
          {texts.leave}
        </ConfirmButton>
      </div>
    </section>
  );
}

function isPlayer(who: NonNullable<Standing["who"]>["participant"] | undefined, playerId: string | undefined): boolean {
  return who?.case === "player" && who.value.playerId === playerId;
}

function JoinForm({ of: { tournamentId, hasPassword } }: { of: Tournament }) {
  const texts = text.value.tournament;
  const { wrong, isShown } = useWrongPasswords();
  const join = (event: SubmitEvent) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget as HTMLFormElement).get("password") ?? "");
    void attemptInTournament(() => retry(() => tournaments.joinTournament({ tournamentId, password })), {
      words: { WRONG_PHASE: texts.tooLate },
      isShown,
    });
  };
  return (
    <form class="panel" onSubmit={join}>
      {hasPassword && <PasswordField wrong={wrong} />}
      <button class="primary">{texts.join}</button>
    </form>
  );
}
