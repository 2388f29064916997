//! The stream of a link that sends asks and news, and receives replies.

use std::collections::HashMap;

use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use super::link::{Asker, SentAsk};
use crate::{
    proto::cluster::{ExchangeRequest, ExchangeResponse, exchange_request::Kind},
    runtime::News,
};

enum Next {
    Ask(SentAsk),
    News(News),
}

/// Sends asks and news, and passes replies to their askers, until the stream ends. Fails if the stream does.
pub(super) async fn exchange(
    mut asks: mpsc::Receiver<SentAsk>,
    mut news: mpsc::Receiver<News>,
    requests: mpsc::Sender<ExchangeRequest>,
    mut responses: Streaming<ExchangeResponse>,
) -> Result<(), Status> {
    let mut askers = HashMap::<u64, Asker>::new();
    let mut last = 0;
    loop {
        tokio::select! {
            next = next(&requests, &mut asks, &mut news) => {
                let Some((slot, next)) = next else { return Ok(()) };
                slot.send(match next {
                    Next::News(news) => news.into(),
                    Next::Ask(SentAsk { mut ask, mut asker }) => {
                        last += 1;
                        (ask.id, asker.sent) = (last, true);
                        askers.insert(last, asker);
                        ExchangeRequest { kind: Some(Kind::Ask(ask)) }
                    }
                });
            }
            response = responses.message() => {
                let Some(response) = response? else { return Ok(()) };
                let Some(asker) = askers.remove(&response.id) else { continue };
                match response.read() {
                    Ok(reply) => asker.answer(reply),
                    Err(error) => tracing::warn!(%error, "a reply of another node cannot be read"),
                }
            }
        }
    }
}

/// The next ask or news, with a place in the stream; none once the stream or both queues are closed. Cancel safe.
async fn next<'a>(
    requests: &'a mpsc::Sender<ExchangeRequest>,
    asks: &mut mpsc::Receiver<SentAsk>,
    news: &mut mpsc::Receiver<News>,
) -> Option<(mpsc::Permit<'a, ExchangeRequest>, Next)> {
    let slot = requests.reserve().await.ok()?;
    // `select!` chooses at random, so that many news do not hold up asks.
    let next = tokio::select! {
        Some(ask) = asks.recv() => Next::Ask(ask),
        Some(news) = news.recv() => Next::News(news),
        else => return None,
    };
    Some((slot, next))
}
