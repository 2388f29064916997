//! A command that cannot be repeated is executed at most once: no player says more than its client has sent.

use std::collections::BTreeMap;

use reversi::room::{Command, Fact, PlayerId};

use crate::sim::{
    event_log::{Action, LogEntry, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut sent, mut said) = (BTreeMap::<usize, u32>::new(), BTreeMap::<PlayerId, u32>::new());
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::Requested { client, action: Action::Command(_, Command::Chat(_)), .. } => {
                *sent.entry(*client).or_default() += 1;
            }
            SimEvent::Written { events, .. } => {
                for event in events {
                    if let Fact::ChatPosted { from, .. } = &event.fact {
                        *said.entry(from.id).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }
    for (client, sent) in sent {
        let by_client = said.iter().filter(|(player, _)| history.was_player(client, **player));
        let lines: u32 = by_client.map(|(_, lines)| lines).sum();
        ensure(lines <= sent, || format!("p{client} has said {lines} lines, and sent {sent}"))?;
    }
    Ok(())
}
