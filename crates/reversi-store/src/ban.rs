//! Bans of names and networks.

use std::{fmt, net::IpAddr};

use ipnet::IpNet;
use reversi_room::{BanReason, DisplayName, Timestamp};
use thiserror::Error;

use super::damage::ReadError;

/// A ban by an administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// Who is banned.
    pub subject: BanSubject,
    /// Shown to the banned player.
    pub reason: Option<BanReason>,
    /// When it began.
    pub since: Timestamp,
    /// When it ends; never if none.
    pub until: Option<Timestamp>,
}

impl Ban {
    /// True if the ban has not ended.
    #[must_use]
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    pub(super) fn reason(&self) -> &str {
        self.reason.as_ref().map_or("", BanReason::as_str)
    }
}

/// Who is banned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BanSubject {
    /// The players with a name that looks like this one.
    Name(DisplayName),
    /// The clients of a network.
    Network(IpNet),
}

/// Why a network cannot be banned.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BadNetwork {
    /// It cannot be read.
    #[error("must be an address, such as 192.0.2.7, or a network, such as 192.0.2.0/24")]
    Malformed,
    /// It is broader than /8 for IPv4 or /16 for IPv6, and may have too many people who have done nothing.
    #[error("must be no broader than /8 for IPv4 and /16 for IPv6")]
    TooBroad,
    /// It has a loopback address, so the operator may be locked out.
    #[error("must have no loopback address, from which the operator calls")]
    Loopback,
}

impl BanSubject {
    /// The longest prefix of IPv6 that tells clients apart: the same as for limits.
    const IPV6_PREFIX: u8 = 56;

    /// Parses a network, or a single address. An IPv6 network smaller than a /56 is widened to it.
    ///
    /// # Errors
    /// If the text is neither, or the network may not be banned.
    pub fn parse_network(text: &str) -> Result<Self, BadNetwork> {
        let address = || text.parse::<IpAddr>().map(|address| address.to_canonical().into());
        let network: IpNet = text.parse().or_else(|_| address()).map_err(|_| BadNetwork::Malformed)?;
        let (least, most) = if network.addr().is_ipv4() { (8, 32) } else { (16, Self::IPV6_PREFIX) };
        if network.prefix_len() < least {
            return Err(BadNetwork::TooBroad);
        }
        let length = network.prefix_len().min(most);
        let network = IpNet::new(network.addr(), length).map_err(|_| BadNetwork::Malformed)?.trunc();
        let loopback = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
        if network.addr().is_loopback() || loopback.iter().any(|address| network.contains(address)) {
            return Err(BadNetwork::Loopback);
        }
        Ok(Self::Network(network))
    }
}

/// As stored and logged, after a word for its kind: a name may look like a network.
impl fmt::Display for BanSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "name {name}"),
            Self::Network(network) => write!(f, "network {network}"),
        }
    }
}

/// Reads a stored ban.
pub(super) fn read(subject: &str, reason: &str, since: i64, until: Option<i64>) -> Result<Ban, ReadError> {
    let subject = match subject.split_once(' ') {
        Some(("name", name)) => BanSubject::Name(DisplayName::from_stored(name)?),
        Some(("network", network)) => BanSubject::parse_network(network)?,
        _ => return Err("neither a name nor a network".into()),
    };
    let reason = if reason.is_empty() { None } else { Some(BanReason::from_stored(reason)?) };
    Ok(Ban { subject, reason, since: Timestamp(since), until: until.map(Timestamp) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_bounded_and_keeps_the_operator() {
        let parsed = |text| BanSubject::parse_network(text).map(|network| network.to_string());
        for (text, network) in [
            ("192.0.2.7", "192.0.2.7/32"),
            ("192.0.2.7/24", "192.0.2.0/24"),
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("::ffff:192.0.2.7", "192.0.2.7/32"),
            ("2001:db8:1:2ff::1", "2001:db8:1:200::/56"),
            ("2001:db8::/16", "2001::/16"),
        ] {
            assert_eq!(parsed(text), Ok(format!("network {network}")), "{text}");
        }
        for text in ["", "ada", "192.0.2.7/33", "192.0.2.7:80"] {
            assert_eq!(parsed(text), Err(BadNetwork::Malformed), "{text}");
        }
        for text in ["0.0.0.0/0", "10.0.0.0/7", "2001::/15"] {
            assert_eq!(parsed(text), Err(BadNetwork::TooBroad), "{text}");
        }
        for text in ["127.0.0.1", "127.3.0.0/16", "127.0.0.0/8", "::1", "::/16", "::ffff:127.0.0.1"] {
            assert_eq!(parsed(text), Err(BadNetwork::Loopback), "{text}");
        }
    }
}
