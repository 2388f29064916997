//! TLS between nodes: both sides have a certificate of one authority, and verify the other's.

use std::{fmt, time::Duration};

use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

use crate::grpc::transport::tls::{Tls, TlsError};

/// Time limit for a TLS handshake between two nodes.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The certificate and key of this node, and the authority of all nodes.
#[derive(Clone)]
pub struct NodeTls {
    pub(super) server: ServerTlsConfig,
    pub(super) client: ClientTlsConfig,
}

impl NodeTls {
    /// Reads a chain of certificates, the node's own first, its key, and the certificates of the authority, all in PEM.
    /// The node's certificate must be valid for the host of its address, for use as a server's and as a client's.
    ///
    /// # Errors
    /// If one of them cannot be read, or the key does not match the certificate.
    pub fn from_pem(chain: &[u8], key: &[u8], authority: &[u8]) -> Result<Self, TlsError> {
        // Finds what is wrong with the files now: tonic reads them later.
        Tls::from_pem(chain, key, Some(authority))?;
        let (identity, authority) = (Identity::from_pem(chain, key), Certificate::from_pem(authority));
        let server = ServerTlsConfig::new().identity(identity.clone()).client_ca_root(authority.clone());
        let client = ClientTlsConfig::new().identity(identity).ca_certificate(authority);
        Ok(Self { server: server.timeout(HANDSHAKE), client: client.timeout(HANDSHAKE) })
    }
}

impl fmt::Debug for NodeTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NodeTls(..)")
    }
}
