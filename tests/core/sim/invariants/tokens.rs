//! A token is valid from the answer to the log-in until a log-out is requested, across restarts. After an acknowledged
//! log-out it stays invalid.

use std::collections::BTreeSet;

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{Action, LogEntry, Outcome, SimEvent},
    recorded_history::RecordedHistory,
};

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let (mut logged_in, mut logging_out, mut logged_out) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for LogEntry { what, .. } in &history.entries {
        match what {
            SimEvent::Answered { call, outcome: Outcome::LoggedIn(_) } => {
                let client = history.call(*call).0;
                logged_in.insert(client);
                logging_out.remove(&client);
                logged_out.remove(&client);
            }
            SimEvent::Requested { client, action: Action::LogOut, .. } => {
                logging_out.insert(*client);
            }
            SimEvent::Answered { call, outcome: Outcome::LoggedOut } => {
                logged_out.insert(history.call(*call).0);
            }
            SimEvent::TokenUsed { client, valid: false } => {
                let expected =
                    !logged_in.contains(client) || logging_out.contains(client) || history.removes_idle_players;
                ensure(expected, || format!("the token of p{client} is lost"))?;
            }
            SimEvent::TokenUsed { client, valid: true } => {
                ensure(!logged_out.contains(client), || format!("p{client} has logged out, but its token is valid"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
