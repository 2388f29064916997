//! A simulated watcher of a room, which reads fast or slowly and resumes after stopping.

use std::sync::Arc;

use reversi::{
    room::{RoomId, Seq, stored},
    runtime::{Player, Update, Watch},
};

use crate::sim::{
    dice::Dice,
    manner::abandoned,
    moment::{Seen, What},
    stage::SimServer,
};

/// Watches a room a few times, each time after the last event seen or with a new snapshot.
pub(crate) async fn follow(stage: Arc<SimServer>, player: Arc<Player>, who: usize, room: RoomId, mut dice: Dice) {
    let mut after = None;
    for _ in 0..1 + dice.below(3) {
        let watcher = stage.log.number();
        stage.log.note(What::Watched { watcher, who, room, after });
        match stage.runtime.streams.room(&player, room, stage.credentials(room), after).await {
            Ok(mut watch) => watch_for_a_while(&stage, watcher, &mut watch, &mut dice, &mut after).await,
            Err(_) => stage.log.note(What::Unwatched { watcher, end: None }),
        }
        if dice.percent(30) {
            after = None;
        }
        tokio::time::sleep(dice.millis(0..8_000)).await;
    }
}

async fn watch_for_a_while(
    stage: &SimServer,
    watcher: u64,
    watch: &mut Watch,
    dice: &mut Dice,
    after: &mut Option<Seq>,
) {
    let slow = dice.percent(30);
    let mut end = None;
    for _ in 0..dice.pick(&[3, 30, 300]) {
        if slow && dice.percent(10) {
            tokio::time::sleep(dice.millis(100..15_000)).await;
        }
        // Dropping the wait loses no event.
        let next = match abandoned(dice.below(3), watch.next()).await {
            Some(next) => next,
            None => watch.next().await,
        };
        let seen = match next {
            Ok(Update::Snapshot(snapshot)) => {
                *after = Some(snapshot.room.seq());
                Seen::Snapshot(snapshot.room)
            }
            Ok(Update::Event(bytes)) => {
                let event = stored::decode_event(&bytes).expect("an event as it was encoded");
                *after = Some(event.seq);
                Seen::Event(event)
            }
            Err(reason) => {
                end = Some(reason);
                break;
            }
        };
        stage.log.note(What::Saw { watcher, seen });
    }
    stage.log.note(What::Unwatched { watcher, end });
}
