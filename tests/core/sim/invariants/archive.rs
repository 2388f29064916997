//! Every finished game is in the archive as it was played, and the statistics of all players follow from those games.

use std::collections::BTreeMap;

use reversi::{
    room::{Fact, GameId, Participant, PlayerId, RatingChange},
    rules::Color,
    store::Results,
};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Action, Outcome, SimEvent},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut counts: BTreeMap<PlayerId, Results> = BTreeMap::new();
    for (id, room_history) in &history.rooms {
        for (before, event) in room_history.steps() {
            let Fact::GameEnded(end) = &event.fact else { continue };
            let game = before.running().ok_or_else(|| format!("{id}: {event:?} ends no game"))?;
            let name = GameId { room: *id, number: game.number };
            let record = history.archived(name).ok_or_else(|| format!("{name} is not in the archive"))?;
            let same = record.end == *end && record.plies == game.plies && record.ended == event.at;
            ensure(same, || format!("{name} is archived as {record:?}"))?;
            let says = Color::ALL.into_iter().all(|side| match record.rating_changes[side] {
                Some(RatingChange::Rated { .. }) => record.rated && end.counts(),
                Some(RatingChange::Unrated(_)) => true,
                None => false,
            });
            ensure(says, || format!("{name} does not say what it did to the ratings: {record:?}"))?;
            for side in Color::ALL {
                if let Participant::Player(player) = &record.players[side]
                    && end.counts()
                {
                    let stats = counts.entry(player.id).or_default();
                    match end.winner {
                        Some(winner) if winner == side => stats.won += 1,
                        Some(_) => stats.lost += 1,
                        None => stats.drawn += 1,
                    }
                }
            }
        }
    }
    if history.removes_idle_players {
        // Statistics are kept only for players that the server knows.
        return Ok(());
    }
    let logging_out = logging_out(history);
    for (player, stats) in counts.into_iter().filter(|(player, _)| !logging_out.contains(player)) {
        let kept = history.player_stats(player).total();
        ensure(kept == stats, || format!("{player} has {kept:?}, and played {stats:?}"))?;
    }
    Ok(())
}

/// The players that asked to log out, whether or not it succeeded.
fn logging_out(history: &RecordedHistory) -> Vec<PlayerId> {
    let mut current: BTreeMap<usize, PlayerId> = BTreeMap::new();
    let mut logging_out = Vec::new();
    for entry in &history.entries {
        match &entry.what {
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(player) } => {
                current.insert(history.call(*call).0, *player);
            }
            SimEvent::Requested { client, action: Action::LogOut, .. } => logging_out.extend(current.get(client)),
            _ => {}
        }
    }
    logging_out
}
