import { useState } from "preact/hooks";
import { tournaments } from "../../api/tournaments";
import { type Meeting, MeetingState, type Standing, type Tournament } from "../../gen/reversi/v1/tournament_pb";
import { participantName } from "../../room/game_record";
import { address } from "../../route";
import { usePages } from "../../state/use_pages";
import { text } from "../../text/text";
import { gamesOf, hasPoints, pointsText } from "../../tournament/words";
import { DecisionForm } from "./decision_form";

interface MeetingsProps {
  tournament: Tournament;
  standings: readonly Standing[];
  meetings: readonly Meeting[];
  /** Whether the player may decide meetings. */
  organises: boolean;
}

/** The meetings of the last round, and all that run; the others are folded. */
export function MeetingsPanel(props: MeetingsProps) {
  const texts = text.value.tournament;
  const { tournament, meetings } = props;
  return (
    <section class="panel">
      <h2>{texts.meetings}</h2>
      {meetings.length === 0 && <p class="muted">{texts.noMeetings}</p>}
      <Rows {...props} decided={() => {}} />
      {tournament.meetings > meetings.length && <AllMeetings {...props} />}
    </section>
  );
}

/** All meetings, loaded when they are unfolded, and again after a decision. */
function AllMeetings(props: MeetingsProps) {
  const [open, setOpen] = useState(false);
  const [loaded, setLoaded] = useState(0);
  return (
    <details onToggle={(event) => event.target === event.currentTarget && setOpen(event.currentTarget.open)}>
      <summary>{text.value.tournament.allMeetings}</summary>
      {open && <Pages key={loaded} {...props} decided={() => setLoaded(loaded + 1)} />}
    </details>
  );
}

function Pages(props: MeetingsProps & { decided: () => void }) {
  const { archive, connection } = text.value;
  const { tournamentId } = props.tournament;
  const { entries, busy, more } = usePages(async (pageToken) => {
    const page = await tournaments.listMeetings({ tournamentId, pageSize: PAGE, pageToken });
    return { entries: page.meetings, next: page.nextPageToken };
  });
  return (
    <div class="stack">
      {!entries && !more && <p class="muted">{connection.loading}</p>}
      {entries && <Rows {...props} meetings={entries} />}
      {more && (
        <button type="button" disabled={busy} onClick={more}>
          {archive.more}
        </button>
      )}
    </div>
  );
}

/** Meetings a page. */
const PAGE = 50;

function Rows({ tournament, standings, meetings, organises, decided }: MeetingsProps & { decided: () => void }) {
  const names = new Map(standings.map(({ entrant, who }) => [entrant, participantName(text.value, who)]));
  const nameOf = (entrant: number) => names.get(entrant) ?? "";
  return (
    <ul class="tournament-rows">
      {meetings.map((one) => (
        <li key={one.number}>
          <Pairing of={one} first={nameOf(one.first)} second={nameOf(one.second)} />
          <Links of={one} first={nameOf(one.first)} second={nameOf(one.second)} />
          {organises && one.state !== MeetingState.BYE && (
            <DecisionForm
              tournamentId={tournament.tournamentId}
              number={one.number}
              names={[nameOf(one.first), nameOf(one.second)]}
              decided={decided}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

interface MeetingProps {
  of: Meeting;
  first: string;
  second: string;
}

function Pairing({ of, first, second }: MeetingProps) {
  const texts = text.value.tournament;
  const { decision } = of;
  return (
    <div class="row-main">
      <p class="meeting-sides">
        {first} {second && <span class="muted">{text.value.rooms.versus}</span>} {second}
        {hasPoints(of) && (
          <strong class="meeting-points">
            {pointsText(of.firstHalfPoints)}–{pointsText(of.secondHalfPoints)}
          </strong>
        )}
      </p>
      <p class="muted facts">
        <span>{of.playoff ? texts.phase.playoff(of.round) : texts.roundNumber(of.round)}</span>
        <span class={`tag${of.state === MeetingState.RUNNING ? " good" : ""}`}>{texts.meeting[of.state]}</span>
      </p>
      {decision && (
        <p class="hint">{decision.playerId ? texts.decided(decision.why) : texts.decidedByAdmin(decision.why)}</p>
      )}
    </div>
  );
}

/** To the room of a meeting that runs, and to the games of one that was played: its room may be closed. */
function Links({ of, first, second }: MeetingProps) {
  const texts = text.value.tournament;
  if (of.state === MeetingState.RUNNING) {
    const to = address({ screen: "room", roomId: of.roomId });
    return (
      <a class="button" href={to} aria-label={texts.watch(first, second)}>
        {text.value.rooms.watch}
      </a>
    );
  }
  const games = gamesOf(of);
  if (games.length === 0) return null;
  return (
    <p class="facts">
      {games.map((gameId, at) => (
        <a key={gameId} href={address({ screen: "game", gameId })} aria-label={texts.replay(at + 1, first, second)}>
          {texts.gameNumber(at + 1)}
        </a>
      ))}
    </p>
  );
}
