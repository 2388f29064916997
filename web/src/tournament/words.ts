import { instant, milliseconds } from "../game/clock";
import {
  EntrantState,
  type Meeting,
  MeetingState,
  type Standing,
  type Tournament,
  TournamentPhase,
  type TournamentSettings,
} from "../gen/reversi/v1/tournament_pb";
import { type Opponents, PlayerKind } from "../gen/reversi/v1/types_pb";
import { timeText } from "../room/time_control";
import type { Texts } from "../text/en";

/** The format in words, such as "Swiss, 7 rounds". */
export function formatText(texts: Texts, settings: TournamentSettings): string {
  const playoff = settings.playoff > 0 ? texts.tournament.playoff(settings.playoff) : "";
  return [roundsText(texts, settings), playoff].filter(Boolean).join(", ");
}

function roundsText(texts: Texts, { format, playoff }: TournamentSettings): string {
  const { tournament } = texts;
  switch (format.case) {
    case "swiss":
      // There may be a play-off only.
      return format.value.rounds > 0 || playoff === 0 ? tournament.swiss(format.value.rounds) : "";
    case "allPlayAll":
      return format.value.challengerIds.length > 0
        ? tournament.gauntlet(format.value.challengerIds.length)
        : tournament.allPlayAll(format.value.cycles);
    case "arena":
      return format.value.duration && !isPool(format)
        ? tournament.arena(timeText(texts, format.value.duration))
        : tournament.pool;
    default:
      return "";
  }
}

/** Whether it is an arena without an end, which the server keeps. */
export function isPool(format: TournamentSettings["format"] | undefined): boolean {
  return format?.case === "arena" && !(format.value.duration && milliseconds(format.value.duration) > 0);
}

/** Who may join, such as "For people, rating at least 1400". */
export function admitsText({ tournament, invitation }: Texts, admits: Opponents | undefined): string {
  const { kinds = [], minRating = 0, maxRating = 0 } = admits ?? {};
  const [people, bots] = [kinds.includes(PlayerKind.HUMAN), kinds.includes(PlayerKind.BOT)];
  const who = people === bots ? tournament.peopleAndBots : people ? tournament.people : tournament.bots;
  if (minRating === 0 && maxRating === 0) return who;
  const [least, most] = [String(minRating), String(maxRating)];
  const range = maxRating === 0 ? invitation.atLeast(least) : invitation.atMost(most);
  return `${who}, ${tournament.ratings(minRating > 0 && maxRating > 0 ? invitation.between(least, most) : range)}`;
}

/** The phase in words, with the round; `time` writes a time in milliseconds. */
export function phaseText(texts: Texts, of: Tournament, time: (at: number) => string): string {
  const { phase: words } = texts.tournament;
  switch (of.phase) {
    case TournamentPhase.OPEN:
      return of.settings?.startsAt ? words.starts(time(instant(of.settings.startsAt))) : words.open;
    case TournamentPhase.RUNNING:
      return runningText(texts, of, time);
    case TournamentPhase.PAUSED:
      return words.paused;
    case TournamentPhase.PLAYOFF:
      return words.playoff(of.round);
    case TournamentPhase.COMPLETED:
      return words.completed;
    case TournamentPhase.STOPPED:
      return words.stopped;
    case TournamentPhase.CANCELLED:
      return words.cancelled[of.cancelReason];
    default:
      return "";
  }
}

function runningText({ tournament: { phase } }: Texts, of: Tournament, time: (at: number) => string): string {
  const { round, rounds, startedAt, settings } = of;
  const lasts = settings?.format.case === "arena" ? settings.format.value.duration : undefined;
  if (lasts && startedAt && !isPool(settings?.format))
    return phase.until(time(instant(startedAt) + milliseconds(lasts)));
  return round > 0 && rounds > 0 ? phase.round(round, rounds) : phase.running;
}

export function isOver({ phase }: Pick<Tournament, "phase">): boolean {
  return phase >= TournamentPhase.COMPLETED;
}

/** Whether somebody may still join: not after the start of an all-play-all, nor in the play-off. */
export function isJoinable({ phase, settings }: Tournament): boolean {
  if (phase === TournamentPhase.OPEN) return true;
  const goesOn = phase === TournamentPhase.RUNNING || phase === TournamentPhase.PAUSED;
  return goesOn && settings?.format.case !== "allPlayAll";
}

/** Points in halves, as "7½". */
export function pointsText(halfPoints: number): string {
  const whole = Math.floor(halfPoints / 2);
  if (halfPoints % 2 === 0) return String(whole);
  return whole === 0 ? "½" : `${whole}½`;
}

/** Elo and the half-width of its interval, as "+35 ± 120"; empty without games. */
export function eloText({ elo }: Pick<Standing, "elo">): string {
  return elo ? `${signed(elo.elo, boundedText)} ± ${boundedText(elo.error)}` : "";
}

/** The log-likelihood ratio of a challenger's test and its bounds, as "LLR +1.20 (−2.94, +2.94)"; empty without a test. */
export function sprtText({ sprt }: Pick<Standing, "sprt">): string {
  if (!sprt) return "";
  const [llr, lower, upper] = [sprt.llr, sprt.lowerBound, sprt.upperBound].map((value) =>
    signed(value, (size) => size.toFixed(2)),
  );
  return `LLR ${llr} (${lower}, ${upper})`;
}

function signed(value: number, text: (size: number) => string): string {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${text(Math.abs(value))}`;
}

/** The server sends the greatest number for what has no bound, as after wins only. */
const UNBOUNDED = 2 ** 31 - 1;

function boundedText(value: number): string {
  return value < UNBOUNDED ? String(value) : "∞";
}

/** The state of an entrant in words; empty for one who takes part. */
export function entrantStateText({ tournament }: Texts, of: Standing, time: (at: number) => string): string {
  switch (of.state) {
    case EntrantState.AWAY:
      return tournament.away;
    case EntrantState.PUT_ASIDE:
      return tournament.putAside(
        of.putAsideUntil ? time(instant(of.putAsideUntil)) : "",
        tournament.fault[of.putAsideFor],
      );
    case EntrantState.LEFT:
      return tournament.left;
    case EntrantState.EXCLUDED:
      return tournament.excluded;
    default:
      return "";
  }
}

/** Whether the points of a meeting are known, and there are any. */
export function hasPoints({ state }: Pick<Meeting, "state">): boolean {
  return state === MeetingState.PLAYED || state === MeetingState.FORFEITED;
}

/** The ids of the games of a meeting that was played. Both sides together have 64 discs in each. */
export function gamesOf({ state, roomId, firstDiscs, secondDiscs }: Meeting): string[] {
  if (state !== MeetingState.PLAYED) return [];
  return Array.from({ length: Math.round((firstDiscs + secondDiscs) / 64) }, (_, at) => `${roomId}-${at + 1}`);
}
