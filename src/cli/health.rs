//! `reversi health`: asks whether a server works, for scripts and containers.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

use super::{
    connect::{
        login::{connect, explain_broken},
        server_address::Address,
    },
    say,
};
use crate::client::ClientError;

/// The longest wait for the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_help = "Ends with 0 if the server answers SERVING, otherwise with 1.")]
pub(super) struct Args {
    /// Ask about this service, such as `reversi.v1.GameService`, instead of the whole server.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "NAME")]
    service: String,
    #[command(flatten)]
    server: Address,
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let client = connect(&args.server).await?;
    let mut health = HealthClient::new(client.channel());
    let answer = tokio::time::timeout(TIMEOUT, health.check(HealthCheckRequest { service: args.service })).await;
    match answer.context("the server does not answer")? {
        Ok(answer) if answer.get_ref().status() == ServingStatus::Serving => {
            say("SERVING");
            Ok(())
        }
        Ok(answer) => bail!("the server answers {}", answer.get_ref().status().as_str_name()),
        Err(refusal) => match ClientError::from(refusal) {
            error @ ClientError::Broken(_) => Err(explain_broken(&client, error)),
            error => Err(error).context("the server refuses to answer"),
        },
    }
}
