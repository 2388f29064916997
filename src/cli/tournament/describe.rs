//! Tournaments, standings and meetings as text.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    cli::text::{
        date::date,
        duration::Span,
        tournament::{cancelled, fault, has_ended, name, phase, points},
    },
    client::{
        Ai, PlayerKind,
        v1::{self, EntrantState, MeetingState, tournament_settings::Format},
    },
};

pub(super) const TOURNAMENTS: [&str; 6] = ["TOURNAMENT", "NAME", "FORMAT", "ENTRANTS", "PHASE", "CREATED"];

pub(super) const STANDINGS: [&str; 9] = ["RANK", "ENTRANT", "NAME", "POINTS", "W-D-L", "ELO", "BQ", "DISCS", "STATE"];

pub(super) const MEETINGS: [&str; 5] = ["MEETING", "ROUND", "ENTRANTS", "RESULT", "ROOM"];

/// The cells of a list of tournaments.
pub(super) fn tournament(tournament: &v1::Tournament) -> [String; 6] {
    let settings = tournament.settings.clone().unwrap_or_default();
    [
        tournament.tournament_id.clone(),
        settings.name.clone(),
        format(&settings),
        format!("{} of {}", tournament.entrants, settings.max_entrants),
        progress(tournament),
        date(time(tournament.created_at)),
    ]
}

fn format(settings: &v1::TournamentSettings) -> String {
    let format = match &settings.format {
        Some(Format::Swiss(swiss)) if swiss.rounds == 0 => "knockout".to_owned(),
        Some(Format::Swiss(swiss)) if swiss.rounds == 1 => "Swiss, 1 round".to_owned(),
        Some(Format::Swiss(swiss)) => format!("Swiss, {} rounds", swiss.rounds),
        Some(Format::AllPlayAll(all)) => {
            let kind = match all.challenger_ids.len() {
                0 => "all play all".to_owned(),
                1 => "gauntlet of 1 challenger".to_owned(),
                count => format!("gauntlet of {count} challengers"),
            };
            if all.cycles > 1 { format!("{kind}, {} times", all.cycles) } else { kind }
        }
        Some(Format::Arena(arena)) if is_endless(arena) => "pool".to_owned(),
        Some(Format::Arena(arena)) => format!("arena, {}", span(arena.duration)),
        None => "unknown".to_owned(),
    };
    match settings.playoff {
        0 => format,
        best => format!("{format}, play-off of {best}"),
    }
}

/// The phase, and how much is played.
pub(super) fn progress(tournament: &v1::Tournament) -> String {
    let (phase_now, v1::Tournament { round, rounds, .. }) = (tournament.phase(), tournament);
    let named = phase(phase_now);
    let starts_at = tournament.settings.as_ref().and_then(|settings| settings.starts_at);
    match phase_now {
        v1::TournamentPhase::Cancelled => cancelled(tournament.cancel_reason()).to_owned(),
        v1::TournamentPhase::Open if starts_at.is_some() => format!("{named}, starts at {}", date(time(starts_at))),
        v1::TournamentPhase::Running | v1::TournamentPhase::Paused if *rounds > 0 && *round > 0 => {
            format!("{named}, round {round} of {rounds}")
        }
        _ => named.to_owned(),
    }
}

/// A tournament with its settings, a line each.
pub(super) fn details(tournament: &v1::Tournament, organiser: &str) -> Vec<String> {
    let settings = tournament.settings.clone().unwrap_or_default();
    let game = settings.game.clone().unwrap_or_default();
    let rated = if game.rated { "rated" } else { "unrated" };
    let games = if game.games == 1 { "1 game".to_owned() } else { format!("{} games", game.games) };
    let mut lines = vec![
        format!("{} ({})", settings.name, tournament.tournament_id),
        format!("  format: {}", format(&settings)),
        format!("  a meeting: {games}, {rated}, {}", clock(&game)),
        format!("  organiser: {organiser}"),
        format!("  open to: {}", admits(&settings, tournament.has_password)),
        format!("  entrants: {} of {}", tournament.entrants, settings.max_entrants),
        format!("  meetings: {} of {} are finished", tournament.finished, tournament.meetings),
        format!(
            "  at most {} meetings at a time; a meeting waits {} for its entrants",
            settings.max_running,
            span(settings.no_show)
        ),
        format!("  phase: {}", progress(tournament)),
    ];
    let delay = spectator_delay(&settings);
    let filler = settings.fills_bye.and_then(|ai| Ai::try_from(ai).ok());
    lines.extend(filler.map(|ai| format!("  in place of a bye: AI {ai}")));
    lines.extend(settings.sprt.map(|test| {
        format!(
            "  a challenger plays until its difference to all opponents is accepted as {} or {} Elo",
            test.elo0, test.elo1
        )
    }));
    lines.extend(delay.map(|delay| format!("  delay for spectators: {delay}")));
    lines
}

/// The delay for spectators, if there is one.
pub(in crate::cli) fn spectator_delay(settings: &v1::TournamentSettings) -> Option<String> {
    let delay = settings.game.as_ref()?.spectator_delay.filter(|delay| (delay.seconds, delay.nanos) != (0, 0));
    delay.map(|delay| span(Some(delay)))
}

fn clock(game: &v1::RoomSettings) -> String {
    let limit = game.move_limit.filter(|limit| (limit.seconds, limit.nanos) != (0, 0));
    let for_move = limit.map(|limit| format!("{} for a move", span(Some(limit))));
    let increment = game.increment.unwrap_or_default();
    let total = game.total_time.map(|total| match (increment.seconds, increment.nanos) {
        (0, 0) => format!("{} for a side", span(Some(total))),
        _ => format!("{} for a side and {} more for each move", span(Some(total)), span(Some(increment))),
    });
    let parts: Vec<_> = total.into_iter().chain(for_move).collect();
    parts.join(", ")
}

fn admits(settings: &v1::TournamentSettings, has_password: bool) -> String {
    let admits = settings.admits.clone().unwrap_or_default();
    let kinds: Vec<_> = admits.kinds().collect();
    let kinds = match (kinds.contains(&PlayerKind::Human), kinds.contains(&PlayerKind::Bot)) {
        (true, false) => "people",
        (false, true) => "bots",
        _ => "people and bots",
    };
    let ratings = match (admits.min_rating, admits.max_rating) {
        (0, 0) => String::new(),
        (least, 0) => format!(" with a rating of at least {least}"),
        (0, most) => format!(" with a rating of at most {most}"),
        (least, most) => format!(" with a rating of {least} to {most}"),
    };
    format!("{kinds}{ratings}{}", if has_password { ", by a password" } else { "" })
}

/// The cells of the standings.
pub(super) fn standing(row: &v1::Standing) -> [String; 9] {
    let elo = row.elo.map_or_else(
        || "-".to_owned(),
        |elo| match elo.error {
            // All its games were won, or all lost.
            i32::MAX => format!("{:+} ± ∞", elo.elo),
            error => format!("{:+} ± {error}", elo.elo),
        },
    );
    [
        row.rank.to_string(),
        row.entrant.to_string(),
        name(row.who.as_ref()),
        points(row.half_points),
        format!("{}-{}-{}", row.wins, row.draws, row.losses),
        elo,
        row.brightwell.to_string(),
        row.discs.to_string(),
        entrant_state(row),
    ]
}

/// With the test of a challenger.
fn entrant_state(row: &v1::Standing) -> String {
    let test = row.sprt.map(|test| {
        let verdict = match test.verdict() {
            v1::SprtVerdict::Unspecified => "",
            v1::SprtVerdict::Elo0 => ": the lower difference is accepted",
            v1::SprtVerdict::Elo1 => ": the higher difference is accepted",
        };
        format!(", LLR {:+.2} ({:.2} to {:.2}){verdict}", test.llr, test.lower_bound, test.upper_bound)
    });
    let state = match row.state() {
        EntrantState::In => "in".to_owned(),
        EntrantState::Away => "away".to_owned(),
        EntrantState::PutAside => {
            format!("put aside until {}: {}", date(time(row.put_aside_until)), fault(row.put_aside_for()))
        }
        EntrantState::Left => "left".to_owned(),
        EntrantState::Excluded => "excluded".to_owned(),
        EntrantState::Unspecified => "unknown".to_owned(),
    };
    state + &test.unwrap_or_default()
}

/// The names of the entrants by their numbers.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<i32, String>);

impl Names {
    pub(super) fn of(standings: &[v1::Standing]) -> Self {
        Self(standings.iter().map(|row| (row.entrant, name(row.who.as_ref()))).collect())
    }

    fn get(&self, entrant: i32) -> String {
        self.0.get(&entrant).cloned().unwrap_or_else(|| format!("entrant {entrant}"))
    }

    /// The cells of a list of meetings.
    pub(super) fn meeting(&self, meeting: &v1::Meeting) -> [String; 5] {
        let entrants = match meeting.second {
            0 => self.get(meeting.first),
            second => format!("{} - {}", self.get(meeting.first), self.get(second)),
        };
        let round = if meeting.playoff { format!("play-off {}", meeting.round) } else { meeting.round.to_string() };
        [meeting.number.to_string(), round, entrants, result(meeting), meeting.room_id.clone()]
    }

    /// A meeting in a line.
    pub(super) fn line(&self, meeting: &v1::Meeting) -> String {
        let [number, _, entrants, result, _] = self.meeting(meeting);
        format!("meeting {number}: {entrants}: {result}")
    }
}

pub(super) fn is_finished(meeting: &v1::Meeting) -> bool {
    match meeting.state() {
        MeetingState::Played | MeetingState::Forfeited | MeetingState::Void | MeetingState::Bye => true,
        MeetingState::Waiting | MeetingState::Running | MeetingState::Unspecified => false,
    }
}

/// The state of a meeting, or how it ended.
fn result(meeting: &v1::Meeting) -> String {
    let score = || format!("{} : {}", points(meeting.first_half_points), points(meeting.second_half_points));
    let result = match meeting.state() {
        MeetingState::Waiting => "waiting".to_owned(),
        MeetingState::Running => "running".to_owned(),
        MeetingState::Played => format!("{}, {}-{} discs", score(), meeting.first_discs, meeting.second_discs),
        MeetingState::Forfeited => format!("{} by forfeit", score()),
        MeetingState::Void => "void".to_owned(),
        MeetingState::Bye => format!("{} by a bye", points(meeting.first_half_points)),
        MeetingState::Unspecified => "unknown".to_owned(),
    };
    match &meeting.decision {
        Some(decision) => format!("{result} (decided: {})", decision.why),
        None => result,
    }
}

pub(super) fn is_pool(settings: &v1::TournamentSettings) -> bool {
    matches!(&settings.format, Some(Format::Arena(arena)) if is_endless(arena))
}

/// Whether it is a pool.
fn is_endless(arena: &v1::Arena) -> bool {
    arena.duration.is_none_or(|lasts| lasts.seconds == 0)
}

/// The round of a meeting, as the line that begins it; none in an arena.
pub(super) fn round(of: &v1::Tournament, playoff: bool, round: i32) -> Option<String> {
    let format = of.settings.as_ref().and_then(|settings| settings.format.as_ref());
    match format {
        _ if playoff => Some(format!("play-off, round {round}")),
        Some(Format::Arena(_)) | None => None,
        Some(Format::Swiss(_) | Format::AllPlayAll(_)) => Some(format!("round {round} of {}", of.rounds)),
    }
}

/// A tournament in a line.
pub(in crate::cli) fn headline(of: &v1::Tournament) -> String {
    let settings = of.settings.as_ref();
    let name = settings.map(|settings| settings.name.as_str()).unwrap_or_default();
    let played = if of.started_at.is_none() {
        if of.entrants == 1 { "1 entrant".to_owned() } else { format!("{} entrants", of.entrants) }
    } else {
        format!("{} of {} meetings finished", of.finished, of.meetings)
    };
    let lasts = settings.and_then(|settings| match settings.format {
        Some(Format::Arena(arena)) if !has_ended(of.phase()) && !is_endless(&arena) => arena.duration,
        _ => None,
    });
    let until = time(of.started_at).zip(lasts.and_then(|lasts| Duration::try_from(lasts).ok()));
    let until = until.and_then(|(start, lasts)| start.checked_add(lasts));
    let until = until.map(|until| format!(", until {}", date(Some(until)))).unwrap_or_default();
    let delay = settings.and_then(spectator_delay).filter(|_| of.started_at.is_some());
    let delay = delay.map(|delay| format!("; all but the organiser see it {delay} later")).unwrap_or_default();
    format!("{name} ({}): {}{until}; {played}{delay}", of.tournament_id, progress(of))
}

fn time(time: Option<prost_types::Timestamp>) -> Option<std::time::SystemTime> {
    time.and_then(|time| time.try_into().ok())
}

fn span(span: Option<prost_types::Duration>) -> String {
    let span = span.and_then(|span| Duration::try_from(span).ok());
    Span(span.unwrap_or_default()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standings_are_rows_with_half_points() {
        let elo = |error| Some(v1::EntrantElo { elo: 35, error, superiority: 60 });
        let mut row = v1::Standing {
            rank: 2,
            entrant: 7,
            half_points: 15,
            wins: 7,
            draws: 1,
            losses: 2,
            brightwell: 300,
            discs: 320,
            state: EntrantState::Away.into(),
            elo: elo(90),
            ..Default::default()
        };
        assert_eq!(standing(&row), ["2", "7", "?", "7½", "7-1-2", "+35 ± 90", "300", "320", "away"]);
        (row.elo, row.state) = (elo(i32::MAX), EntrantState::PutAside.into());
        row.put_aside_for = v1::EntrantFault::Absence.into();
        row.put_aside_until = Some(prost_types::Timestamp { seconds: 1_767_348_000, nanos: 0 });
        assert_eq!(standing(&row)[5..9], ["+35 ± ∞", "300", "320", "put aside until 2026-01-02T10:00:00Z: absence"]);
    }

    #[test]
    fn meetings_say_their_outcome_and_who_decided_it() {
        let names = Names(BTreeMap::from([(1, "Ada".to_owned()), (2, "Bea".to_owned())]));
        let meeting = |state: MeetingState| v1::Meeting {
            number: 5,
            round: 2,
            state: state.into(),
            first: 1,
            second: if state == MeetingState::Bye { 0 } else { 3 },
            first_half_points: 3,
            second_half_points: 1,
            first_discs: 70,
            second_discs: 58,
            ..Default::default()
        };
        for (state, line) in [
            (MeetingState::Waiting, "meeting 5: Ada - entrant 3: waiting"),
            (MeetingState::Played, "meeting 5: Ada - entrant 3: 1½ : ½, 70-58 discs"),
            (MeetingState::Forfeited, "meeting 5: Ada - entrant 3: 1½ : ½ by forfeit"),
            (MeetingState::Void, "meeting 5: Ada - entrant 3: void"),
            (MeetingState::Bye, "meeting 5: Ada: 1½ by a bye"),
        ] {
            assert_eq!(names.line(&meeting(state)), line);
        }
        let decision = v1::MeetingDecision { player_id: String::new(), why: "agreed".into() };
        let decided = v1::Meeting { decision: Some(decision), playoff: true, ..meeting(MeetingState::Void) };
        assert_eq!(names.meeting(&decided)[1..4], ["play-off 2", "Ada - entrant 3", "void (decided: agreed)"]);
    }

    #[test]
    fn a_tournament_is_described_with_its_format() {
        let settings = |format| v1::TournamentSettings { format: Some(format), ..Default::default() };
        let all = |cycles, challenger: &[&str]| {
            let challenger_ids = challenger.iter().map(|&id| id.to_owned()).collect();
            settings(Format::AllPlayAll(v1::AllPlayAll { cycles, challenger_ids }))
        };
        let swiss = |rounds| settings(Format::Swiss(v1::Swiss { rounds }));
        let duration = Some(prost_types::Duration { seconds: 7_200, nanos: 0 });
        for (settings, text) in [
            (v1::TournamentSettings { playoff: 4, ..swiss(5) }, "Swiss, 5 rounds, play-off of 4"),
            (v1::TournamentSettings { playoff: 8, ..swiss(0) }, "knockout, play-off of 8"),
            (all(1, &[]), "all play all"),
            (all(3, &["p"]), "gauntlet of 1 challenger, 3 times"),
            (settings(Format::Arena(v1::Arena { duration })), "arena, 2h"),
            (settings(Format::Arena(v1::Arena { duration: None })), "pool"),
        ] {
            assert_eq!(format(&settings), text);
        }
    }
}
