//! A request that cannot be repeated is executed at most once: no player says more than its client has sent, or creates
//! more rooms than it has asked for.

use std::collections::{BTreeMap, BTreeSet};

use reversi::room::{Command, Fact, PlayerId};

use crate::sim::{
    event_log::{Action, LogEntry, SimEvent},
    invariants::{CheckResult, ensure},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut sent, mut said) = (BTreeMap::<usize, u32>::new(), BTreeMap::<PlayerId, u32>::new());
    let (mut asked, mut created) = (sent.clone(), said.clone());
    // The log-ins of each client, with which its ids begin anew.
    let (mut log_ins, mut ids) = (sent.clone(), BTreeSet::new());
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::Requested { client, action: Action::Command(_, Command::Chat(_)), .. } => {
                *sent.entry(*client).or_default() += 1;
            }
            SimEvent::Requested { client, action: Action::LogIn, .. } => *log_ins.entry(*client).or_default() += 1,
            SimEvent::Requested { client, action: Action::Create(_, id) | Action::Quick(.., id), .. } => {
                let is_new = id.as_ref().is_none_or(|id| ids.insert((client, log_ins.get(client).copied(), id)));
                *asked.entry(*client).or_default() += u32::from(is_new);
            }
            SimEvent::Written { events, .. } => {
                for event in events {
                    match &event.fact {
                        Fact::ChatPosted { from, .. } => *said.entry(from.id).or_default() += 1,
                        Fact::Created(creation) => *created.entry(creation.owner.id).or_default() += 1,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let by_client = |client: usize, done: &BTreeMap<PlayerId, u32>| -> u32 {
        done.iter().filter(|(player, _)| history.was_player(client, **player)).map(|(_, count)| count).sum()
    };
    for (client, sent) in sent {
        let said = by_client(client, &said);
        ensure(said <= sent, || format!("p{client} has said {said} lines, and sent {sent}"))?;
    }
    for (client, asked) in asked {
        let created = by_client(client, &created);
        ensure(created <= asked, || format!("p{client} has created {created} rooms, and asked for {asked}"))?;
    }
    Ok(())
}
