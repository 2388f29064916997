//! The certificates that a client trusts, and its own.

use tonic::transport::{Certificate, ClientTlsConfig, Identity};

/// The TLS certificates of a client. By default it trusts the system's authorities.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Certificates of the only trusted authorities, in PEM.
    pub authority: Option<Vec<u8>>,
    /// The client's own certificate chain and its key, both in PEM, for a server that requires one.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Trust {
    pub(super) fn config(&self) -> ClientTlsConfig {
        let config = ClientTlsConfig::new();
        let config = match &self.authority {
            Some(authority) => config.ca_certificate(Certificate::from_pem(authority)),
            None => config.with_native_roots(),
        };
        match &self.identity {
            Some((chain, key)) => config.identity(Identity::from_pem(chain, key)),
            None => config,
        }
    }
}
