//! Every player with an open stream is asked: no player loses on time without a turn request on the open stream. A
//! stream starts with the open turns.
//!
//! While the disk fails, a turn can end before it is announced, since the clocks keep running.

use std::{collections::BTreeMap, time::Duration};

use reversi::{
    room::{EndReason, Fact, GameId, PlayerId},
    runtime::Notice,
};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Moment, What},
};

/// Within this time a stream has received every open turn, even of a room that the disk delayed.
const PATIENCE: Duration = Duration::from_secs(6);

struct Stream {
    player: PlayerId,
    opened: Duration,
    asked: Vec<(GameId, u16)>,
}

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let mut streams: BTreeMap<u64, Stream> = BTreeMap::new();
    let mut current: BTreeMap<usize, PlayerId> = BTreeMap::new();
    // When the last storm ended.
    let mut storm = Duration::ZERO;
    for Moment { at, what } in &evidence.moments {
        match what {
            What::Began { .. } => streams.clear(),
            What::Storm(begins) => storm = if *begins { Duration::MAX } else { *at },
            What::Answered { call, outcome: crate::sim::moment::Outcome::In(player) } => {
                current.insert(evidence.call(*call).0, *player);
            }
            What::Opened { stream, who } => {
                let player = current[who];
                streams.retain(|_, older| older.player != player);
                streams.insert(*stream, Stream { player, opened: *at, asked: Vec::new() });
            }
            What::Told { stream, notice } => {
                let Some(stream) = streams.get_mut(stream) else { continue };
                if let Notice::TurnRequested(request) = notice {
                    stream.asked.push((request.game, request.ply));
                }
            }
            What::Closed { stream, .. } => {
                streams.remove(stream);
            }
            What::Wrote { room: id, events } => {
                for event in events {
                    let Fact::GameEnded(end) = &event.fact else { continue };
                    let Some(before) = evidence.pasts[id].rooms.get(event.seq.0 as usize - 2) else { continue };
                    let Some(game) = before.running().filter(|_| end.reason == EndReason::Timeout) else { continue };
                    let mover = game.turn().and_then(|side| before.seats()[side].occupant.player());
                    let turn = (GameId { room: *id, number: game.number }, game.ply());
                    let listens = streams.values().find(|stream| Some(stream.player) == mover);
                    if let Some(stream) =
                        listens.filter(|stream| *at >= stream.opened.max(storm).saturating_add(PATIENCE))
                    {
                        ensure(stream.asked.contains(&turn), || {
                            format!("{} lost {turn:?} on time, and was never asked", stream.player)
                        })?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}
