//! The socket of the server, by the option `--listen`.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use anyhow::Context as _;
use tokio::net::{TcpListener, TcpSocket};

#[cfg(unix)]
use super::unix_socket::UnixSocket;
use crate::cli::UsageError;
use crate::grpc::ServerSocket;

/// The listen backlog. Many bots may connect at once: with the usual 128 most would have to retry a second later.
const BACKLOG: u32 = 4_096;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListenAddress {
    /// A host and a port.
    Tcp(String),
    /// A UNIX socket at this path.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err("it needs a path, as unix:/run/reversi/socket".to_owned()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => host_and_port(text).map(Self::Tcp),
        }
    }
}

/// A bound socket.
pub(super) struct Listening {
    pub(super) socket: ServerSocket,
    pub(super) address: BoundAddress,
    /// Removes the file of the UNIX socket when it is dropped.
    #[cfg(unix)]
    _file: Option<super::unix_socket::SocketFile>,
}

/// Where clients reach the server.
#[derive(Clone, Debug)]
pub(super) enum BoundAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Listening {
    /// Listens; fails if `private` and an address is not loopback.
    pub(super) async fn bind(listen: &ListenAddress, private: bool) -> anyhow::Result<Self> {
        match listen {
            ListenAddress::Tcp(host) => {
                let socket = bind("--listen", host, private).await?;
                let address = BoundAddress::Tcp(socket.local_addr()?);
                Ok(Self {
                    socket: socket.into(),
                    address,
                    #[cfg(unix)]
                    _file: None,
                })
            }
            #[cfg(unix)]
            ListenAddress::Unix(path) => {
                let UnixSocket { socket, file } = UnixSocket::bind(path)?;
                Ok(Self { socket: socket.into(), address: BoundAddress::Unix(path.clone()), _file: Some(file) })
            }
            #[cfg(not(unix))]
            ListenAddress::Unix(_) => anyhow::bail!("this system has no UNIX sockets"),
        }
    }
}

impl BoundAddress {
    /// The IP address, if it has one.
    pub(super) fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(address) => Some(address.ip()),
            Self::Unix(_) => None,
        }
    }

    /// The URL for clients on this machine; none if the server listens on other addresses only.
    pub(super) fn local_url(&self, scheme: &str) -> Option<String> {
        match self {
            Self::Tcp(address) => address.ip().is_loopback().then(|| format!("{scheme}://{address}")),
            Self::Unix(_) => Some(self.to_string()),
        }
    }
}

impl fmt::Display for BoundAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Listens at the address of an option; fails if `private` and an address is not loopback. Of a name's addresses IPv4 is
/// tried first, as in the clients' default.
pub(super) async fn bind(option: &str, listen: &str, private: bool) -> anyhow::Result<TcpListener> {
    let found =
        tokio::net::lookup_host(listen).await.with_context(|| format!("cannot resolve the host of {listen}"))?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    if private && !addresses.iter().all(|address| address.ip().is_loopback()) {
        anyhow::bail!(UsageError(format!(
            "{listen} is open to other machines, and without TLS anyone on the network path can read tokens and passwords; \
             give --tls-cert FILE and --tls-key FILE, or --insecure if a proxy in front speaks TLS or the network is private"
        )));
    }
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let mut listening = Err(std::io::ErrorKind::AddrNotAvailable.into());
    for address in addresses {
        listening = listen_on(address);
        if listening.is_ok() {
            break;
        }
    }
    listening.with_context(|| {
        format!("cannot listen on {listen}; does something listen there? `{option} 127.0.0.1:0` takes a free port")
    })
}

fn listen_on(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let another process take over the port.
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

pub(super) fn host_and_port(text: &str) -> Result<String, String> {
    let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok());
    match (text.rsplit_once(':'), port) {
        (Some((host, _)), Some(_)) if !host.is_empty() => Ok(text.to_owned()),
        (_, port) => Err(format!("it needs a host and a port, as 127.0.0.1:{}", port.unwrap_or(50051))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_tls_only_this_machine_is_served_unless_more_is_asked_for() {
        let error = bind("--listen", "0.0.0.0:0", true).await.unwrap_err().to_string();
        assert!(error.contains("open to other machines") && error.contains("--insecure"), "{error}");
        for (address, private) in [("127.0.0.1:0", true), ("0.0.0.0:0", false)] {
            bind("--listen", address, private).await.unwrap();
        }
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_refused_by_the_name_of_its_option() {
        let first = bind("--node-listen", "127.0.0.1:0", false).await.unwrap();
        let taken = first.local_addr().unwrap().to_string();
        let error = bind("--node-listen", &taken, false).await.unwrap_err().to_string();
        assert!(error.contains(&taken) && error.contains("`--node-listen 127.0.0.1:0`"), "{error}");
    }

    #[test]
    fn a_listen_address_is_a_host_and_a_port() {
        for good in ["127.0.0.1:0", "localhost:50172", "[::1]:50051"] {
            assert_eq!(host_and_port(good), Ok(good.to_owned()));
        }
        for (bad, example) in [("50171", "127.0.0.1:50171"), (":7", "127.0.0.1:7"), ("localhost", "127.0.0.1:50051")] {
            assert_eq!(host_and_port(bad), Err(format!("it needs a host and a port, as {example}")));
        }
        assert_eq!("unix:/run/x".parse(), Ok(ListenAddress::Unix("/run/x".into())));
        assert!("unix:".parse::<ListenAddress>().is_err());
    }
}
