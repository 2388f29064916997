//! `reversi nodes`: the servers that use one database.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, bail, ensure};
use tokio::time::{Instant, sleep};

use super::{
    UsageError, say,
    storage::StoreLocation,
    terminal::progress::Progress,
    text::table::{line, widths},
};
use crate::store::{NodeId, NodeRow, NodeStatus, NodeTable};

/// The longest wait for a connection to the database.
const PATIENCE: Duration = Duration::from_secs(10);

/// The interval of looks at a server that ends.
const LOOK: Duration = Duration::from_millis(200);

/// A server that ends renews its lease until then, four times a second.
const SILENCE: Duration = Duration::from_millis(1_500);

/// A server that has not renewed its lease for this time does not read the request.
const UNRESPONSIVE: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples, with the database in REVERSI_STORE:\n  \
    reversi nodes          the servers, with their state\n  \
    reversi nodes drain 7  end one of them, without a break for its rooms\n\n\
    A server renews its lease four times a second; one that has not for some seconds has ended or lost the database. The \
    command only reads, but for `drain`, and may run at any time. SERVES: whether it serves clients; one that shares the \
    rooms does while it is linked with a majority of them and its clock is right. CLOCK: how far it is ahead of the \
    database's. LINKS: of those that share the rooms, the servers that it does not reach, or that do not reach it. Roles: \
    `rooms` shares the rooms with others, `active` has all of them alone, `standby` waits to take over, and `command` is \
    one such as `reversi import`.")]
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
        #[arg(long, value_name = "SECONDS", default_value_t = 60)]
        wait: u32,
    },
}

pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let url = match args.store {
        Some(StoreLocation::Database(url)) => url,
        Some(StoreLocation::Folder(folder)) => {
            let folder = folder.display();
            bail!(UsageError(format!("{folder} is no database; only servers with --store postgres://... share one")))
        }
        None => {
            let missing = "--store is missing: the database of the servers, as postgres://USER:PASSWORD@HOST/DATABASE";
            bail!(UsageError(missing.to_owned()))
        }
    };
    let table = NodeTable::open(&url, PATIENCE).await.context("cannot read the servers of that database")?;
    match args.command {
        None => list(&table).await,
        Some(NodesCommand::Drain { node, wait }) => drain(&table, NodeId(node), Duration::from_secs(wait.into())).await,
    }
}

const HEADINGS: [&str; 11] =
    ["NODE", "ADDRESS", "ROLE", "VERSION", "RENEWED", "CLOCK", "SERVES", "LINKS", "SHARDS", "ROOMS", "DRAINS"];

async fn list(table: &NodeTable) -> anyhow::Result<()> {
    let nodes = table.nodes().await?;
    let rows: Vec<_> = nodes.iter().map(|node| cells(node, &nodes)).collect();
    let widths = widths(&HEADINGS, rows.iter().cloned());
    say(line(&HEADINGS, widths));
    rows.iter().for_each(|row| say(line(row, widths)));
    if nodes.is_empty() {
        say("no server uses that database; `reversi serve --store URL` starts one");
    }
    Ok(())
}

fn cells(node: &NodeRow, all: &[NodeRow]) -> [String; 11] {
    let status = |text: fn(&NodeStatus) -> String| node.status.as_ref().map_or_else(|| "-".to_owned(), text);
    [
        node.id.to_string(),
        node.address.clone().unwrap_or_else(|| place(node)),
        role(node).to_owned(),
        status(|status| status.version.clone()),
        format!("{:.1} s ago", node.renewed.as_secs_f64()),
        node.status.as_ref().and_then(|status| status.ahead).map_or_else(|| "-".to_owned(), clock),
        status(|status| if status.is_serving { "yes" } else { "no" }.to_owned()),
        if node.address.is_some() && node.status.is_some() { links(node.id, all) } else { "-".to_owned() },
        node.shards.to_string(),
        node.rooms.to_string(),
        if node.is_draining { "yes" } else { "no" }.to_owned(),
    ]
}

/// How far a clock is ahead of the database's.
fn clock(micros: i64) -> String {
    let sign = if micros < 0 { '-' } else { '+' };
    format!("{sign}{:.1} s", Duration::from_micros(micros.unsigned_abs()).as_secs_f64())
}

/// The links of a node, in both directions: `all`, or the nodes with which it has none, as `not 3, 5 for 12 s`.
fn links(node: NodeId, all: &[NodeRow]) -> String {
    let rows = all.iter().filter_map(|row| Some((row.id, row.status.as_ref()?)));
    let unreached = rows.flat_map(|(of, status)| status.unreached.iter().map(move |(peer, time)| (of, *peer, *time)));
    let is_live = |id: NodeId| all.iter().any(|row| row.id == id);
    let missing: BTreeMap<NodeId, Duration> = unreached
        .filter_map(|(of, peer, time)| match (of == node, peer == node) {
            (true, _) => Some((peer, time)),
            (_, true) => Some((of, time)),
            _ => None,
        })
        .filter(|(other, _)| is_live(*other))
        .fold(BTreeMap::new(), |mut longest, (other, time)| {
            let known = longest.entry(other).or_insert(time);
            *known = time.max(*known);
            longest
        });
    let Some(longest) = missing.values().max() else { return "all".to_owned() };
    let nodes: Vec<_> = missing.keys().map(ToString::to_string).collect();
    format!("not {} for {} s", nodes.join(", "), longest.as_secs())
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
            status: Some(NodeStatus {
                version: "1.2.3".to_owned(),
                is_serving: true,
                ahead: Some(-2_340_000),
                unreached: Vec::new(),
            }),
            shards: 2_048,
            rooms: 12,
        };
        let expected =
            ["7", "http://10.0.0.5:50053", "rooms", "1.2.3", "0.1 s ago", "-2.3 s", "yes", "all", "2048", "12", "yes"];
        assert_eq!(cells(&rooms, std::slice::from_ref(&rooms)), expected);
        let active = NodeRow { address: None, is_draining: false, ..rooms.clone() };
        let expected = [
            "7",
            "0.0.0.0:50051 on 10.0.0.5",
            "active",
            "1.2.3",
            "0.1 s ago",
            "-2.3 s",
            "yes",
            "-",
            "2048",
            "12",
            "no",
        ];
        assert_eq!(cells(&active, std::slice::from_ref(&active)), expected);
        assert_eq!(role(&NodeRow { shards: 0, ..active.clone() }), "standby");
        let command = NodeRow { listens: None, status: None, ..active };
        let expected = ["7", "- on 10.0.0.5", "command", "-", "0.1 s ago", "-", "-", "-", "2048", "12", "no"];
        assert_eq!(cells(&command, std::slice::from_ref(&command)), expected);
    }
    #[test]
    fn links_are_missing_in_either_direction() {
        let node = |id, unreached: &[(i64, u64)]| NodeRow {
            id: NodeId(id),
            host: String::new(),
            listens: Some(String::new()),
            address: Some(String::new()),
            is_draining: false,
            renewed: Duration::ZERO,
            status: Some(NodeStatus {
                version: String::new(),
                is_serving: true,
                ahead: None,
                unreached: unreached.iter().map(|(peer, time)| (NodeId(*peer), Duration::from_secs(*time))).collect(),
            }),
            shards: 0,
            rooms: 0,
        };
        let all = [node(1, &[(2, 5), (9, 60)]), node(2, &[(1, 7)]), node(3, &[(1, 6)]), node(4, &[])];
        let links = [1, 2, 3, 4].map(|id| links(NodeId(id), &all));
        assert_eq!(links, ["not 2, 3 for 7 s", "not 1 for 7 s", "not 1 for 6 s", "all"]);
    }
}
