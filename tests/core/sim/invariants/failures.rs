//! No answer over gRPC is an error of the server, every refusal has a reason, and no connection breaks unless the
//! client cuts it or the server stops.

use std::{collections::BTreeMap, time::Duration};

use reversi::proto::v1::play_event::Event;
use tonic::Code;

use super::{CheckResult, ensure};
use crate::sim::{
    event_log::{LogEntry, Outcome, SimEvent},
    grpc::Failure,
    recorded_history::RecordedHistory,
};

/// Within this time after a cut a call may still go to the old connection.
const NOTICED: Duration = Duration::from_secs(1);

pub(super) fn check(history: &RecordedHistory) -> CheckResult {
    let mut cuts: BTreeMap<usize, Duration> = BTreeMap::new();
    // When each call and each stream began.
    let mut began: BTreeMap<u64, Duration> = BTreeMap::new();
    let mut stopping = false;
    for LogEntry { at, what } in &history.entries {
        let (client, number, failure) = match what {
            SimEvent::ServerBegan { .. } => {
                stopping = false;
                continue;
            }
            SimEvent::ServerStopping => {
                stopping = true;
                continue;
            }
            SimEvent::ConnectionCut { client } => {
                cuts.insert(*client, *at);
                continue;
            }
            SimEvent::Requested { call: number, .. }
            | SimEvent::TurnsOpened { stream: number, .. }
            | SimEvent::WatchStarted { watcher: number, .. } => {
                began.insert(*number, *at);
                continue;
            }
            SimEvent::PlayEventReceived { event, .. } => {
                if let Event::MoveRejected(rejected) = &**event {
                    ensure(!["", "INTERNAL"].contains(&&*rejected.reason), || format!("{rejected:?}"))?;
                }
                continue;
            }
            SimEvent::Answered { call, outcome: Outcome::Failed(failure) } => {
                (history.call(*call).0, Some(*call), failure)
            }
            SimEvent::StreamFailed { client, stream, failure } => (*client, *stream, failure),
            _ => continue,
        };
        match failure {
            Failure::Refused(code, reason) => {
                let named = !reason.is_empty() && !matches!(code, Code::Internal | Code::Unknown);
                ensure(named, || format!("p{client} was refused with {code:?} {reason:?}"))?;
            }
            Failure::Broken(_) => {
                let began = number.map_or(*at, |number| began[&number]);
                let cut = cuts.get(&client).is_some_and(|cut| *cut + NOTICED >= began);
                ensure(cut || stopping, || format!("at {at:?} the connection of p{client} broke by itself"))?;
            }
        }
    }
    Ok(())
}
