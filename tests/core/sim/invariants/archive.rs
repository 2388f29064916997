//! Every finished game is in the archive as it was played, and the statistics of all players follow from those games.

use std::collections::BTreeMap;

use reversi::{
    room::{EndReason, Fact, GameId, Participant, PlayerId},
    rules::Color,
    store::Results,
};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Deed, Outcome, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let mut counts: BTreeMap<PlayerId, Results> = BTreeMap::new();
    for (id, past) in &evidence.pasts {
        for (before, event) in past.steps() {
            let Fact::GameEnded(end) = &event.fact else { continue };
            let game = before.running().ok_or_else(|| format!("{id}: {event:?} ends no game"))?;
            let name = GameId { room: *id, number: game.number };
            let record = evidence.archived(name).ok_or_else(|| format!("{name} is not in the archive"))?;
            let same = record.end == *end && record.plies == game.plies && record.ended == event.at;
            ensure(same, || format!("{name} is archived as {record:?}"))?;
            for side in Color::ALL {
                if let Participant::Player(player) = &record.players[side]
                    && !matches!(end.reason, EndReason::Aborted | EndReason::Server)
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
    if evidence.forgetful {
        // Statistics are kept only for players that the server knows.
        return Ok(());
    }
    let struck = struck(evidence);
    for (player, stats) in counts.into_iter().filter(|(player, _)| !struck.contains(player)) {
        let kept = evidence.standing(player).total();
        ensure(kept == stats, || format!("{player} has {kept:?}, and played {stats:?}"))?;
    }
    Ok(())
}

/// The players that asked to log out, whether or not it succeeded.
fn struck(evidence: &Evidence) -> Vec<PlayerId> {
    let mut current: BTreeMap<usize, PlayerId> = BTreeMap::new();
    let mut struck = Vec::new();
    for moment in &evidence.moments {
        match &moment.what {
            What::Answered { call, outcome: Outcome::In(player) } => {
                current.insert(evidence.call(*call).0, *player);
            }
            What::Asked { who, deed: Deed::LogOut, .. } => struck.extend(current.get(who)),
            _ => {}
        }
    }
    struck
}
