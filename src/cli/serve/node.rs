//! The options of a server that shares the rooms with others, and its part among them.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    super::connect::server_address,
    listening::{bind, host_and_port},
};
use crate::{
    cli::UsageError,
    grpc::{NodeLinks, NodeTls},
    runtime::{Node, NodeId, Peers, Runtime},
    store::ClusterStore,
};

/// The longest wait for the links of a server that starts.
const FIRST_LINKS: Duration = Duration::from_secs(5);

/// The longest wait for the end of connections of other servers.
const LINKS_END: Duration = Duration::from_secs(1);

/// Options that keep the data elsewhere than in a database. Each option of a database conflicts with them: clap does not
/// ask for `--store` where it would conflict with one that is given.
pub(super) const ELSEWHERE: [&str; 2] = ["data", "ephemeral"];

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Several servers")]
pub(super) struct NodeOptions {
    /// Where to listen for servers that share rooms.
    ///
    /// The rooms are shared with the other servers of the database that have this option.
    #[arg(long, env = "REVERSI_NODE_LISTEN", value_name = "HOST:PORT", requires = "store", conflicts_with_all = ELSEWHERE, value_parser = host_and_port)]
    node_listen: Option<String>,
    /// The URL under which the others reach that, as http://10.0.0.5:50061 [default: the address of --node-listen].
    #[arg(long, env = "REVERSI_ADVERTISE", value_name = "URL", hide_short_help = true, requires = "node_listen", conflicts_with_all = ELSEWHERE, value_parser = url)]
    advertise: Option<String>,
    /// The certificate that this server shows the others, in PEM: speak TLS with them, in both directions.
    #[arg(long, env = "REVERSI_NODE_CERT", value_name = "FILE", hide_short_help = true, requires_all = ["node_listen", "node_key", "node_ca"], conflicts_with_all = ELSEWHERE)]
    node_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM.
    #[arg(long, env = "REVERSI_NODE_KEY", value_name = "FILE", hide_short_help = true, requires = "node_cert", conflicts_with_all = ELSEWHERE)]
    node_key: Option<PathBuf>,
    /// The authority of the certificates of all these servers, in PEM.
    #[arg(long, env = "REVERSI_NODE_CA", value_name = "FILE", hide_short_help = true, requires = "node_cert", conflicts_with_all = ELSEWHERE)]
    node_ca: Option<PathBuf>,
}

/// Where this server listens for others.
pub(super) struct NodeSocket {
    listener: TcpListener,
    tls: Option<NodeTls>,
    /// Under which the others reach it.
    pub(super) url: String,
}

impl NodeOptions {
    /// Listens for other servers, if they share the rooms. Beyond loopback only with TLS, or if it is `insecure`.
    pub(super) async fn bind(&self, tls: Option<NodeTls>, insecure: bool) -> anyhow::Result<Option<NodeSocket>> {
        let Some(address) = &self.node_listen else { return Ok(None) };
        let listener = bind("--node-listen", address, false).await?;
        let bound = listener.local_addr()?;
        if tls.is_none() && !insecure && !bound.ip().is_loopback() {
            bail!(UsageError(format!(
                "{address} is open to other machines, and without TLS anyone on the network path can play for anyone; \
                 give --node-cert, --node-key and --node-ca, or --insecure if the network is private"
            )));
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        if self.advertise.is_none() && bound.ip().is_unspecified() {
            let port = bound.port();
            bail!(UsageError(format!("the others cannot reach {bound}; give --advertise {scheme}://ADDRESS:{port}")));
        }
        let url = self.advertise.clone().unwrap_or_else(|| format!("{scheme}://{bound}"));
        if !url.starts_with(&format!("{scheme}://")) {
            bail!(UsageError(format!(
                "--advertise {url} must begin with {scheme}://, as --node-cert is {}",
                if tls.is_some() { "given" } else { "not given" }
            )));
        }
        Ok(Some(NodeSocket { listener, tls, url }))
    }

    /// Reads the TLS files if given.
    pub(super) fn tls(&self) -> anyhow::Result<Option<NodeTls>> {
        let (Some(chain), Some(key), Some(authority)) = (&self.node_cert, &self.node_key, &self.node_ca) else {
            return Ok(None);
        };
        let [chain_pem, key_pem, authority_pem] = [chain, key, authority].map(|file| server_address::read(file));
        let tls = NodeTls::from_pem(&chain_pem?, &key_pem?, &authority_pem?);
        let [chain, key, authority] = [chain, key, authority].map(|file| file.display());
        let problem = || format!("TLS between servers is not possible with {chain}, {key} and {authority}");
        Ok(Some(tls.with_context(problem)?))
    }
}

/// A server among others that share the rooms.
pub(super) struct ClusterMember {
    store: Arc<dyn ClusterStore>,
    links: Arc<NodeLinks>,
    listener: TcpListener,
}

impl ClusterMember {
    /// The member, and what the runtime needs to know of it.
    pub(super) fn new(socket: NodeSocket, store: Arc<dyn ClusterStore>) -> (Self, (NodeId, Arc<dyn Peers>)) {
        let me = store.views().borrow().me;
        let links = NodeLinks::new(me, socket.tls);
        let peers: Arc<dyn Peers> = Arc::clone(&links) as _;
        (Self { store, links, listener: socket.listener }, (me, peers))
    }

    /// Links the node with the others, and serves its part of the rooms.
    pub(super) fn start(self, node: Node) -> RunningMember {
        let Self { store, links, listener } = self;
        let (mut tasks, end) = (JoinSet::new(), CancellationToken::new());
        let mut views = store.views();
        views.mark_changed();
        let (known, ended) = (Arc::clone(&links), end.clone());
        tasks.spawn(async move {
            // An error means that the node has left.
            while let Some(Ok(())) = ended.run_until_cancelled(views.changed()).await {
                let view = Arc::clone(&views.borrow_and_update());
                known.set_nodes(view.me, &view.others);
            }
            Ok(())
        });
        let (mut reached, told, ended) = (links.reached(), Arc::clone(&store), end.clone());
        reached.mark_changed();
        tasks.spawn(async move {
            while let Some(Ok(())) = ended.run_until_cancelled(reached.changed()).await {
                told.note_reached(reached.borrow_and_update().clone());
            }
            Ok(())
        });
        let served = links.serve(node.clone(), listener, end.clone());
        tasks.spawn(async move { Ok(served.await?) });
        let followed = Arc::clone(&store);
        tasks.spawn(async move {
            node.follow_views(followed).await;
            Ok(())
        });
        RunningMember { store: Some(store), tasks, end }
    }
}

/// The tasks of a server whose database others may use; none of one with a file.
#[derive(Default)]
pub(super) struct RunningMember {
    store: Option<Arc<dyn ClusterStore>>,
    tasks: JoinSet<anyhow::Result<()>>,
    end: CancellationToken,
}

impl RunningMember {
    /// A server that has all rooms of a database, until another one takes them over.
    pub(super) fn by_itself(node: Node, store: Arc<dyn ClusterStore>) -> Self {
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            node.follow_lease(store).await;
            Ok(())
        });
        Self { tasks, ..Self::default() }
    }

    /// Ends when one of the tasks fails.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        while let Some(ended) = self.tasks.join_next().await {
            match ended {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error,
                Err(error) => return error.into(),
            }
        }
        std::future::pending().await
    }

    /// Waits until the node may serve clients, once it is linked with the others; not for long, since it may be cut off.
    pub(super) async fn wait_for_service(&self, runtime: &Runtime) {
        let Some(store) = &self.store else { return };
        let (mut views, mut in_service) = (store.views(), runtime.in_service());
        let served = async {
            // An error means that the node has left.
            let _ = views.wait_for(|view| view.obstacle.is_none()).await;
            let _ = in_service.wait_for(|in_service| *in_service).await;
        };
        let _ = timeout(FIRST_LINKS, served).await;
    }

    /// Ends the links. The node must have left.
    pub(super) async fn end(self) {
        let Self { mut tasks, end, .. } = self;
        end.cancel();
        // A failure would not change anything any more, nor does a connection that stays open.
        let _ = timeout(LINKS_END, async { while tasks.join_next().await.is_some() {} }).await;
    }
}

/// Checks a URL with a host and a port.
fn url(text: &str) -> Result<String, String> {
    let address = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let address = address.ok_or_else(|| "it needs a URL, as http://10.0.0.5:50061".to_owned())?;
    host_and_port(address)?;
    Ok(text.to_owned())
}
