//! TLS between nodes: both sides have a certificate of one authority, and verify the other's.

use std::{fmt, io, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use futures_util::stream;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_stream::Stream;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use crate::{
    grpc::transport::{
        listener::wait_after,
        tls::{Tls, TlsError},
    },
    room::Timestamp,
};

/// Time limit for a TLS handshake between two nodes.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Maximum number of handshakes at a time: more than there are nodes. Further connections wait in the kernel's queue.
const HANDSHAKES: usize = 64;

/// The certificate and key of this node, and the authority of all nodes. Clones share them, and they can be replaced
/// while the links are up.
#[derive(Clone)]
pub struct NodeTls {
    server: Tls,
    client: Arc<ArcSwap<ClientTlsConfig>>,
}

impl NodeTls {
    /// Reads a chain of certificates, the node's own first, its key, and the certificates of the authority, all in PEM.
    /// The node's certificate must be valid for the host of its address, for use as a server's and as a client's.
    ///
    /// # Errors
    /// If one of them cannot be read, or the key does not match the certificate.
    pub fn from_pem(chain: &[u8], key: &[u8], authority: &[u8]) -> Result<Self, TlsError> {
        // Finds what is wrong with the files now: tonic reads those of the client later.
        let server = Tls::from_pem(chain, key, Some(authority))?;
        let (identity, authority) = (Identity::from_pem(chain, key), Certificate::from_pem(authority));
        let client = ClientTlsConfig::new().identity(identity).ca_certificate(authority).timeout(HANDSHAKE);
        Ok(Self { server, client: Arc::new(ArcSwap::from_pointee(client)) })
    }

    /// Uses those of `other` for new links.
    pub fn replace(&self, other: &Self) {
        self.server.replace(&other.server);
        self.client.store(other.client.load_full());
    }

    /// When the node's certificate expires, if that can be read.
    #[must_use]
    pub fn expires(&self) -> Option<Timestamp> {
        self.server.expires()
    }

    /// For a connection to another node.
    pub(super) fn client(&self) -> ClientTlsConfig {
        ClientTlsConfig::clone(&self.client.load())
    }

    /// The connections of nodes with a certificate of the authority. The stream never ends and has no errors.
    pub(super) fn incoming(self, listener: TcpListener) -> impl Stream<Item = io::Result<TlsStream<TcpStream>>> {
        let handshakes = JoinSet::new();
        stream::unfold((self, listener, handshakes), async |(tls, listener, mut handshakes)| {
            let connection = loop {
                tokio::select! {
                    accepted = listener.accept(), if handshakes.len() < HANDSHAKES => match accepted {
                        Ok((stream, _)) => drop(handshakes.spawn(handshake(tls.server.acceptor(), stream))),
                        Err(error) => wait_after(&error).await,
                    },
                    Some(done) = handshakes.join_next() => if let Ok(Ok(connection)) = done {
                        break connection;
                    },
                }
            };
            Some((Ok(connection), (tls, listener, handshakes)))
        })
    }
}

async fn handshake(tls: TlsAcceptor, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
    stream.set_nodelay(true)?;
    timeout(HANDSHAKE, tls.accept(stream)).await?
}

impl fmt::Debug for NodeTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NodeTls(..)")
    }
}
