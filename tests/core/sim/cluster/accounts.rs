//! Accounts that change at one node while another one reads them.

use std::{sync::Arc, time::Duration};

use reversi::runtime::{BearerToken, RandomSource, Token};
use tokio::time::sleep;

use super::{
    connection::StoreFault,
    world::{World, log_in, two_nodes},
};
use crate::sim::{event_log::Log, plan::Plan};

const SECOND: Duration = Duration::from_secs(1);

/// The second node has read the account, and gets the answer after the news of the change.
#[test]
fn a_token_that_is_no_longer_valid_is_not_accepted_by_a_node_that_read_it_before() {
    for logs_out in [true, false] {
        World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
            let [first, second] = two_nodes(&world).await;
            let (ada, token) = log_in(&first, "Ada").await;
            let connection = Arc::clone(&world.living()[1].connection);
            let new = Token::generate(&RandomSource::seeded(7));
            let change = async {
                sleep(SECOND).await;
                let sessions = &first.runtime.sessions;
                let changed = if logs_out {
                    sessions.log_out(&ada, true).await
                } else {
                    sessions.replace_token(&ada, &new).await
                };
                changed.expect("a change");
            };
            let reads = second.runtime.sessions.bearer(&token);
            let (_, (), read) = tokio::join!(connection.fail_for(StoreFault::AnswersHeld, 5 * SECOND), change, reads);
            let is_known =
                async |token: BearerToken| second.runtime.sessions.bearer(&token).await.expect("a store").is_some();
            assert!(read.expect("a store").is_none() && !is_known((&token).into()).await);
            assert_eq!(is_known((&new).into()).await, !logs_out);
            // Each is valid where the token is that it was made of.
            assert!(!is_known(token.play_token().into()).await);
            assert_eq!(is_known(new.play_token().into()).await, !logs_out);
        });
    }
}
