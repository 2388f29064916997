//! The server's address and its TLS options.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::client::Trust;

pub(in crate::cli) const DEFAULT: &str = "http://127.0.0.1:50051";

/// The heading in `--help` of the options that concern the connection.
pub(in crate::cli) const CONNECTION: &str = "Connection";

/// Options for reaching the server. Subcommands of a command have them too.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = CONNECTION)]
pub(in crate::cli) struct Address {
    /// The server to connect to. Several that share their players are separated by commas: when one fails, the next one
    /// is used.
    #[arg(long, global = true, env = "REVERSI_SERVER", default_value = DEFAULT, value_name = "URL_OR_HOST:PORT")]
    pub(in crate::cli) server: String,
    /// For https://, the authority to trust (certificates in PEM) instead of the system's.
    #[arg(long, global = true, env = "REVERSI_TLS_CA", value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The certificate to show to a server that asks for one, in PEM.
    #[arg(long, global = true, env = "REVERSI_TLS_CLIENT_CERT", value_name = "FILE", requires = "tls_client_key")]
    tls_client_cert: Option<PathBuf>,
    /// The key of that certificate, in PEM.
    #[arg(long, global = true, env = "REVERSI_TLS_CLIENT_KEY", value_name = "FILE", requires = "tls_client_cert")]
    tls_client_key: Option<PathBuf>,
}

impl Address {
    /// The URLs of the servers, separated by commas.
    pub(in crate::cli) fn urls(&self) -> String {
        self.server.split(',').map(|server| url(server.trim())).collect::<Vec<_>>().join(",")
    }

    /// Reads the certificates that the options name.
    pub(in crate::cli) fn trust(&self) -> anyhow::Result<Trust> {
        let identity = match (&self.tls_client_cert, &self.tls_client_key) {
            (Some(chain), Some(key)) => Some((read(chain)?, read(key)?)),
            _ => None,
        };
        Ok(Trust { authority: self.tls_ca.as_deref().map(read).transpose()?, identity })
    }

    pub(in crate::cli) fn non_default(&self) -> Option<&str> {
        (self.server != DEFAULT).then_some(&self.server)
    }
}

impl Default for Address {
    fn default() -> Self {
        Self { server: DEFAULT.to_owned(), tls_ca: None, tls_client_cert: None, tls_client_key: None }
    }
}

/// The URL of a server; `HOST:PORT` gets the scheme `http`.
pub(in crate::cli) fn url(server: &str) -> String {
    let port = server.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_some() && !server.contains("://") { format!("http://{server}") } else { server.to_owned() }
}

pub(in crate::cli) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_may_be_left_out() {
        for (typed, meant) in [
            ("127.0.0.1:50171", "http://127.0.0.1:50171"),
            ("localhost:1", "http://localhost:1"),
            ("[::1]:50051", "http://[::1]:50051"),
            ("http://there:1", "http://there:1"),
            ("https://there:1", "https://there:1"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(url(typed), meant);
        }
        let several = Address { server: "a:1, https://b:2".into(), ..Address::default() };
        assert_eq!(several.urls(), "http://a:1,https://b:2");
    }
}
