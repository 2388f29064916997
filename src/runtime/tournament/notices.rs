//! What entrants are told.

use crate::{
    room::{LeaveReason, Participant},
    runtime::player::{
        directory::Players,
        notice::{Notice, TournamentNews},
    },
    tournament::{EntrantId, Event, Fact, Forfeiter, Outcome, Stage, Standing, Tournament, standings},
};

/// Tells the entrants whom an event concerns. An entrant who has left may be none any more after the event.
pub(super) fn send(players: &Players, before: &Tournament, tournament: &Tournament, event: &Event) {
    let send = |entrant: EntrantId, news: TournamentNews| {
        let found = tournament.entrants().get(&entrant).or_else(|| before.entrants().get(&entrant));
        if let Some(player) = found.and_then(|entrant| entrant.who.id()) {
            players.send(player, Notice::Tournament { tournament: tournament.id(), news });
        }
    };
    match &event.fact {
        Fact::Paired { stage, round, meetings } => {
            let who = |id: EntrantId| tournament.entrants().get(&id).map(|entrant| entrant.who.clone());
            for pairing in meetings {
                let sides = [Some(pairing.first), pairing.second];
                for (side, opponent) in [(sides[0], sides[1]), (sides[1], sides[0])] {
                    let Some(side) = side else { continue };
                    let opponent: Option<Participant> = opponent.and_then(who);
                    let (playoff, round) = (*stage == Stage::Playoff, *round);
                    let (meeting, room) = (pairing.number, pairing.room);
                    send(side, TournamentNews::Paired { playoff, round, meeting, room, opponent });
                }
            }
        }
        Fact::Finished { number, outcome } => {
            let Some((meeting, loses)) = tournament.meeting(*number).zip(forfeits(outcome)) else { return };
            for (side, lost) in meeting.sides().zip(loses) {
                send(side, TournamentNews::Forfeited { meeting: *number, lost });
            }
        }
        Fact::Adjudicated { number, outcome, adjudication } => {
            let Some(meeting) = tournament.meeting(*number) else { return };
            let won = forfeits(outcome).map_or([None; 2], |loses| loses.map(|lost| Some(!lost)));
            for (side, won) in meeting.sides().zip(won) {
                send(side, TournamentNews::Decided { meeting: *number, won, why: adjudication.why.to_string() });
            }
        }
        Fact::Left { entrant, reason } => {
            send(*entrant, TournamentNews::Left { excluded: *reason == LeaveReason::Banned });
        }
        Fact::PutAside { entrant, put_aside, meetings } => {
            send(*entrant, TournamentNews::PutAside { put_aside: *put_aside, meetings: meetings.clone() });
        }
        Fact::Ended(ending) => {
            let rows = standings(tournament);
            let entrants = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            let has_left = |row: &Standing| {
                let entrant = tournament.entrants().get(&row.entrant);
                entrant.is_some_and(|entrant| entrant.left == Some(LeaveReason::Left))
            };
            for row in rows.into_iter().filter(|row| !has_left(row)) {
                send(row.entrant, TournamentNews::Ended { ending: *ending, rank: row.rank, entrants });
            }
        }
        Fact::Created(_)
        | Fact::Configured(_)
        | Fact::Joined { .. }
        | Fact::PresenceChanged { .. }
        | Fact::Started
        | Fact::Paused
        | Fact::Resumed
        | Fact::ClockCredited { .. } => {}
    }
}

/// Which sides get no points for a meeting that was not played. None for one that was played, or is void.
fn forfeits(outcome: &Outcome) -> Option<[bool; 2]> {
    match outcome {
        Outcome::Forfeit { by: Forfeiter::First, .. } => Some([true, false]),
        Outcome::Forfeit { by: Forfeiter::Second, .. } => Some([false, true]),
        Outcome::Forfeit { by: Forfeiter::Both, .. } => Some([true, true]),
        Outcome::Played { .. } | Outcome::Void => None,
    }
}
