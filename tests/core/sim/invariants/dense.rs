//! A watcher gets every written event once and in order, starting from a snapshot or after the last event that it had.

use std::collections::BTreeMap;

use reversi::room::{RoomId, Seq};

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Seen, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let mut watchers: BTreeMap<u64, (RoomId, Option<Seq>)> = BTreeMap::new();
    for moment in &evidence.moments {
        match &moment.what {
            What::Watched { watcher, room, after, .. } => {
                watchers.insert(*watcher, (*room, *after));
            }
            What::Saw { watcher, seen } => {
                let Some((room, last)) = watchers.get_mut(watcher) else { continue };
                let past = evidence.past(*room)?;
                let (seq, same) = match seen {
                    Seen::Snapshot(seen) => {
                        ensure(last.is_none_or(|last| last <= seen.seq()), || format!("watcher {watcher} goes back"))?;
                        (seen.seq(), past.at(seen.seq()) == Some(&**seen))
                    }
                    Seen::Event(event) => {
                        let next = last.map(Seq::next);
                        ensure(next == Some(event.seq), || format!("watcher {watcher}: {event:?} behind {last:?}"))?;
                        (event.seq, past.event(event.seq) == Some(event))
                    }
                };
                ensure(same, || format!("watcher {watcher} of {room}: {seen:?} is not what was written"))?;
                *last = Some(seq);
            }
            _ => {}
        }
    }
    Ok(())
}
