//! Each move that a client sends on a `Play` stream is answered there: its turn closes, or it is refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use reversi::{proto::v1::play_event::Event, room::GameId};

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Action, LogEntry, SimEvent},
    recorded_history::RecordedHistory,
};

/// Within this time a move is answered, even if the disk delays it.
const ANSWER_TIME: Duration = Duration::from_secs(10);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    // The client of each stream, and the moves that it has sent in any way: only the first of a turn closes it.
    let (mut clients, mut sent) = (BTreeMap::new(), BTreeSet::new());
    let mut open: BTreeMap<(u64, GameId, u16), Duration> = BTreeMap::new();
    for LogEntry { at, what } in &history.entries {
        match what {
            SimEvent::ServerBegan { .. } => open.clear(),
            SimEvent::TurnsOpened { stream, client } => drop(clients.insert(*stream, *client)),
            SimEvent::TurnsClosed { stream, .. } => open.retain(|(of, ..), _| of != stream),
            SimEvent::Requested { client, action: Action::Play(game, ply, _), .. } => {
                sent.insert((*client, *game, *ply));
            }
            SimEvent::MoveSent { stream, game, ply, .. } => {
                let is_first = sent.insert((clients[stream], *game, *ply));
                open.extend(is_first.then_some(((*stream, *game, *ply), *at)));
            }
            SimEvent::PlayEventReceived { stream, event } => {
                let (game, ply) = match &**event {
                    Event::TurnClosed(turn) => (&turn.game_id, turn.ply),
                    Event::MoveRejected(rejected) => (&rejected.game_id, rejected.ply),
                    _ => continue,
                };
                let (game, ply) = (game.parse().expect("an id"), u16::try_from(ply).expect("a ply"));
                open.remove(&(*stream, game, ply));
            }
            _ => {}
        }
        let late = open.iter().find(|(_, sent)| **sent + ANSWER_TIME < *at);
        ensure(late.is_none(), || format!("at {at:?} not answered: {late:?}"))?;
    }
    Ok(())
}
