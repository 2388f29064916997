import { useRef } from "preact/hooks";
import { retry } from "../../api/retry";
import { tournaments } from "../../api/tournaments";
import { MeetingVerdict } from "../../gen/reversi/v1/tournament_pb";
import { attemptInTournament } from "../../state/tournament/attempt";
import { text } from "../../text/text";

interface DecisionProps {
  tournamentId: string;
  /** The number of the meeting. */
  number: number;
  /** Of the first and the second side. */
  names: readonly [string, string];
  decided: () => void;
}

/** The most characters of a reason. */
const MOST = 500;

/** By which the organiser decides a meeting; folded. */
export function DecisionForm({ tournamentId, number, names: [first, second], decided }: DecisionProps) {
  const texts = text.value.tournament;
  const details = useRef<HTMLDetailsElement>(null);
  const decide = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const request = { tournamentId, number, verdict: Number(form.get("verdict")), why: String(form.get("why")).trim() };
    const answer = await attemptInTournament(() => retry(() => tournaments.decideMeeting(request)));
    if (!answer) return;
    if (details.current) details.current.open = false;
    decided();
  };
  return (
    <details ref={details} class="decision">
      <summary>
        {texts.decide}
        <span class="visually-hidden">
          {" "}
          {first}, {second}
        </span>
      </summary>
      <form class="stack" onSubmit={(event) => void decide(event)}>
        <label class="field">
          <span>{texts.outcome}</span>
          <select name="verdict">
            <option value={MeetingVerdict.FIRST}>{texts.allPointsFor(first)}</option>
            <option value={MeetingVerdict.SECOND}>{texts.allPointsFor(second)}</option>
            <option value={MeetingVerdict.NEITHER}>{texts.noPoints}</option>
            <option value={MeetingVerdict.VOID}>{texts.voided}</option>
          </select>
        </label>
        <label class="field">
          <span>{texts.why}</span>
          <input name="why" required maxLength={MOST} />
        </label>
        <button>{texts.decide}</button>
      </form>
    </details>
  );
}
