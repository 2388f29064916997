//! `reversi nodes`: the servers that use one database.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tokio::time::{Instant, sleep};

use super::{
    say,
    storage::StoreLocation,
    terminal::progress::Progress,
    text::table::{line, widths},
};
use crate::store::{NodeId, NodeRow, NodeTable};

/// The longest wait for a connection to the database.
const PATIENCE: Duration = Duration::from_secs(10);

/// The interval of looks at a server that ends.
const LOOK: Duration = Duration::from_millis(200);

/// A server that ends renews its lease until then, four times a second.
const SILENCE: Duration = Duration::from_millis(1_500);

/// A server that has not renewed its lease for this time does not read the request.
const UNRESPONSIVE: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi nodes --store postgres://reversi@db/reversi            the servers, and what each has\n  \
    reversi nodes drain 7 --store postgres://reversi@db/reversi    end one of them, without a break for its rooms\n\n\
    A server renews its lease four times a second; one that has not for some seconds has ended or lost the database. The \
    command only reads, but for `drain`, and may run at any time. Roles: `rooms` shares \
    the rooms with others, `active` has all of them alone, `standby` waits to take over, and `command` is one such as \
    `reversi import`.")]
pub(super) struct Args {
    /// The database of the servers: postgres://USER:PASSWORD@HOST/DATABASE.
    #[arg(long, global = true, env = "REVERSI_STORE", value_name = "URL", hide_env_values = true)]
    store: Option<StoreLocation>,
    #[command(subcommand)]
    command: Option<NodesCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum NodesCommand {
    /// End a server as SIGTERM does: it gives its rooms to the others, ends its streams, and exits. Waits until it is
    /// gone.
    Drain {
        /// Its number, as `reversi nodes` shows it.
        #[arg(value_name = "ID")]
        node: i64,
        /// Seconds to wait for its end; at least 10 more than its --drain.
        #[arg(long, env = "REVERSI_NODES_WAIT", value_name = "SECONDS", default_value_t = 60)]
        wait: u32,
    },
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let url = match args.store {
        Some(StoreLocation::Database(url)) => url,
        Some(StoreLocation::Folder(folder)) => {
            bail!("{} is no database; only servers with --store postgres://... share one", folder.display())
        }
        None => bail!("--store is missing: the database of the servers, as postgres://USER:PASSWORD@HOST/DATABASE"),
    };
    let table = NodeTable::open(&url, PATIENCE).await.context("cannot read the servers of that database")?;
    match args.command {
        None => list(&table).await,
        Some(NodesCommand::Drain { node, wait }) => drain(&table, NodeId(node), Duration::from_secs(wait.into())).await,
    }
}

const HEADINGS: [&str; 7] = ["NODE", "ADDRESS", "ROLE", "RENEWED", "SHARDS", "ROOMS", "DRAINS"];

async fn list(table: &NodeTable) -> anyhow::Result<()> {
    let nodes = table.nodes().await?;
    let widths = widths(&HEADINGS, nodes.iter().map(cells));
    say(line(&HEADINGS, widths));
    nodes.iter().for_each(|node| say(line(&cells(node), widths)));
    if nodes.is_empty() {
        say("no server uses that database; `reversi serve --store URL` starts one");
    }
    Ok(())
}

fn cells(node: &NodeRow) -> [String; 7] {
    [
        node.id.to_string(),
        node.address.clone().unwrap_or_else(|| place(node)),
        role(node).to_owned(),
        format!("{:.1} s ago", node.renewed.as_secs_f64()),
        node.shards.to_string(),
        node.rooms.to_string(),
        if node.is_draining { "yes" } else { "no" }.to_owned(),
    ]
}

/// Where a node is that serves no others.
fn place(node: &NodeRow) -> String {
    match (node.listens.as_deref().unwrap_or("-"), node.host.as_str()) {
        (listens, "") => listens.to_owned(),
        (listens, host) => format!("{listens} on {host}"),
    }
}

fn role(node: &NodeRow) -> &'static str {
    match (&node.address, &node.listens) {
        (Some(_), _) => "rooms",
        (None, None) => "command",
        (None, Some(_)) if node.shards > 0 => "active",
        (None, Some(_)) => "standby",
    }
}

/// Asks a server to end, and waits until it has.
async fn drain(table: &NodeTable, id: NodeId, wait: Duration) -> anyhow::Result<()> {
    let Some(node) = find(table, id).await? else { bail!("there is no node {id}; `reversi nodes` lists them") };
    ensure!(node.listens.is_some(), "node {id} is a command, which ends by itself");
    // If it has ended since, that is found below.
    table.ask_to_end(id).await?;
    let progress = Progress::of_phases();
    let ended = ended(table, id, wait, &progress).await;
    progress.finish_and_clear();
    ended?;
    say(format_args!("node {id} has ended"));
    Ok(())
}

async fn ended(table: &NodeTable, id: NodeId, wait: Duration, progress: &Progress) -> anyhow::Result<()> {
    let end = Instant::now() + wait;
    let mut renewed = Duration::ZERO;
    while let Some(node) = find(table, id).await? {
        renewed = node.renewed;
        progress.wait_for(format!("node {id} ends; it has {} shards and {} rooms", node.shards, node.rooms));
        if Instant::now() >= end {
            ensure!(
                node.renewed < UNRESPONSIVE,
                "node {id} has not renewed its lease for {} seconds, and no other server has removed it yet; it \
                 is frozen, or does not reach the database: end its process, and start another server if none runs",
                node.renewed.as_secs()
            );
            bail!(
                "node {id} has not ended after {} seconds; it is still asked to, see `reversi nodes`",
                wait.as_secs()
            );
        }
        sleep(LOOK).await;
    }
    ensure!(
        renewed < SILENCE,
        "node {id} was declared dead, as it had not renewed its lease; if its process still runs, `reversi nodes` shows it with \
         another number"
    );
    Ok(())
}

async fn find(table: &NodeTable, id: NodeId) -> anyhow::Result<Option<NodeRow>> {
    Ok(table.nodes().await?.into_iter().find(|node| node.id == id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_where_a_node_is_and_what_it_does() {
        let rooms = NodeRow {
            id: NodeId(7),
            host: "10.0.0.5".to_owned(),
            listens: Some("0.0.0.0:50051".to_owned()),
            address: Some("http://10.0.0.5:50053".to_owned()),
            is_draining: true,
            renewed: Duration::from_millis(120),
            shards: 2_048,
            rooms: 12,
        };
        assert_eq!(cells(&rooms), ["7", "http://10.0.0.5:50053", "rooms", "0.1 s ago", "2048", "12", "yes"]);
        let active = NodeRow { address: None, is_draining: false, ..rooms.clone() };
        let expected = ["7", "0.0.0.0:50051 on 10.0.0.5", "active", "0.1 s ago", "2048", "12", "no"];
        assert_eq!(cells(&active), expected);
        assert_eq!(role(&NodeRow { shards: 0, ..active.clone() }), "standby");
        assert_eq!(role(&NodeRow { listens: None, ..active }), "command");
    }
}
