//! Proxies that are trusted to give their clients' addresses: in a header of the PROXY protocol, version 2, before all
//! other bytes of a connection, or in the header `X-Forwarded-For` of each request. From any other peer the PROXY
//! header is refused as a malformed request, and `X-Forwarded-For` is ignored: anyone can send it.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    str::FromStr,
    sync::Arc,
};

use http::HeaderMap;
use ipnet::IpNet;
use ppp::v2::{Addresses, Command, Header};
use thiserror::Error;
use tokio::io::AsyncReadExt as _;

use super::server_socket::{ClientStream, PeerAddress, peek};

/// The length in bytes of a PROXY header without addresses.
const MIN_PROXY_HEADER: usize = 16;

/// The longest PROXY header in bytes: addresses are under 256, and the rest is for extensions.
const MAX_PROXY_HEADER: usize = 1024;

/// Maximum hops of `X-Forwarded-For` that are read, from the last one on.
const MAX_HOPS: usize = 16;

/// A trusted proxy, or a network of trusted proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustedProxy {
    /// The proxies with these addresses.
    Network(IpNet),
    /// Every peer on the UNIX socket.
    Unix,
}

/// A text that is not a [`TrustedProxy`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a trusted proxy is an address such as 10.0.0.7, a network such as 10.0.0.0/8, or unix")]
pub struct ParseTrustedProxyError;

impl FromStr for TrustedProxy {
    type Err = ParseTrustedProxyError;

    fn from_str(text: &str) -> Result<Self, ParseTrustedProxyError> {
        if text == "unix" {
            return Ok(Self::Unix);
        }
        let address = || text.parse::<IpAddr>().map(|address| address.to_canonical().into());
        text.parse().or_else(|_| address()).map(Self::Network).map_err(|_| ParseTrustedProxyError)
    }
}

/// All trusted proxies of a server.
#[derive(Clone, Debug)]
pub(crate) struct TrustedProxies(Arc<[TrustedProxy]>);

impl TrustedProxies {
    pub(crate) fn new(proxies: &[TrustedProxy]) -> Self {
        Self(proxies.into())
    }

    pub(crate) fn trusts(&self, peer: PeerAddress) -> bool {
        self.0.iter().any(|proxy| match (proxy, peer) {
            (TrustedProxy::Network(network), PeerAddress::Ip(address)) => network.contains(&address.to_canonical()),
            (TrustedProxy::Unix, PeerAddress::Unix) => true,
            _ => false,
        })
    }

    /// The client of a request from a trusted proxy: the last hop of `X-Forwarded-For` that is no trusted proxy itself.
    /// None if the last [`MAX_HOPS`] have no such hop, or a hop after it cannot be read.
    pub(crate) fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let lines: Vec<&str> =
            headers.get_all("x-forwarded-for").iter().map(|line| line.to_str().unwrap_or_default()).collect();
        for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')).take(MAX_HOPS) {
            let address = parse_hop(hop.trim())?;
            if !self.trusts(PeerAddress::Ip(address)) {
                return Some(address);
            }
        }
        None
    }
}

/// An address, with or without a port.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let address = || text.trim_matches(['[', ']']).parse().ok();
    text.parse::<SocketAddr>().ok().map(|address| address.ip()).or_else(address)
}

/// The party for which a trusted proxy opened a connection.
pub(crate) enum ProxiedPeer {
    /// For itself, such as a health check, or for the requests of many clients.
    Proxy,
    /// For one client.
    Client(IpAddr),
    /// For one client without an IP address. Its `X-Forwarded-For` is not from the proxy, and is ignored.
    UnknownClient,
}

/// Reads the PROXY header of a connection, if there is one. Fails if it is malformed or over [`MAX_PROXY_HEADER`].
pub(crate) async fn read_proxy_header(stream: &mut ClientStream) -> io::Result<ProxiedPeer> {
    let mut first = [0];
    // No request and no handshake of TLS begins with this byte.
    if peek(stream, &mut first).await? == 0 || first != [b'\r'] {
        return Ok(ProxiedPeer::Proxy);
    }
    let mut header = vec![0; MIN_PROXY_HEADER];
    stream.read_exact(&mut header).await?;
    let rest = usize::from(u16::from_be_bytes([header[14], header[15]]));
    if MIN_PROXY_HEADER + rest > MAX_PROXY_HEADER {
        return Err(io::ErrorKind::InvalidData.into());
    }
    header.resize(MIN_PROXY_HEADER + rest, 0);
    stream.read_exact(&mut header[MIN_PROXY_HEADER..]).await?;
    let header = Header::try_from(&*header).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok(match (header.command, header.addresses) {
        (Command::Local, _) => ProxiedPeer::Proxy,
        (Command::Proxy, Addresses::IPv4(addresses)) => ProxiedPeer::Client(addresses.source_address.into()),
        (Command::Proxy, Addresses::IPv6(addresses)) => ProxiedPeer::Client(addresses.source_address.into()),
        (Command::Proxy, _) => ProxiedPeer::UnknownClient,
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn proxies(names: &[&str]) -> TrustedProxies {
        TrustedProxies::new(&names.iter().map(|name| name.parse().unwrap()).collect::<Vec<_>>())
    }

    #[test]
    fn a_trusted_proxy_is_an_address_a_network_or_unix() {
        let trusted = proxies(&["10.0.0.7", "192.168.0.0/16", "2001:db8::/32"]);
        let trusts = |address: &str| trusted.trusts(PeerAddress::Ip(address.parse().unwrap()));
        assert!(["10.0.0.7", "192.168.3.4", "2001:db8::1", "::ffff:10.0.0.7"].into_iter().all(trusts));
        assert!(!["10.0.0.8", "127.0.0.1", "::1"].into_iter().any(trusts) && !trusted.trusts(PeerAddress::Unix));
        assert!(proxies(&["unix"]).trusts(PeerAddress::Unix));
        for bad in ["", "localhost", "10.0.0.0/33", "10.0.0.1:80"] {
            assert_eq!(bad.parse::<TrustedProxy>(), Err(ParseTrustedProxyError), "{bad}");
        }
    }

    #[test]
    fn the_client_is_the_last_hop_that_is_not_trusted() {
        let trusted = proxies(&["10.0.0.0/8"]);
        let client = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", HeaderValue::from_str(line).unwrap());
            }
            trusted.client(&headers).map(|address| address.to_string())
        };
        for (lines, expected) in [
            (&["203.0.113.9"][..], "203.0.113.9"),
            (&["198.51.100.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
            (&["198.51.100.1", "203.0.113.9", "10.0.0.2,10.0.0.3"], "203.0.113.9"),
            (&["203.0.113.9:4711"], "203.0.113.9"),
            (&["[2001:db8::1]:4711"], "2001:db8::1"),
            (&["[2001:db8::1]"], "2001:db8::1"),
        ] {
            assert_eq!(client(lines).as_deref(), Some(expected), "{lines:?}");
        }
        for lines in [&[][..], &["10.0.0.2"], &["unknown"], &["203.0.113.9, unknown"], &[""]] {
            assert_eq!(client(lines), None, "{lines:?}");
        }
        assert_eq!(client(&[&vec!["10.0.0.2"; 1_000].join(",")]), None);
    }
}
