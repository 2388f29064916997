//! The certificates of a server, for clients and for other servers: when they expire, and their replacement.

use std::time::Duration;

use crate::{
    grpc::{NodeTls, Tls},
    room::Timestamp,
    runtime::{Clock, server_metrics},
};

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A certificate that expires sooner is warned of.
const WARNED: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The TLS of both ports, where it is on.
pub(super) struct Certificates {
    pub(super) public: Option<Tls>,
    pub(super) node: Option<NodeTls>,
}

impl Certificates {
    /// Uses those of `new` for new connections.
    pub(super) fn replace(&self, new: &Self) {
        let public = replaced(self.public.as_ref(), new.public.as_ref(), Tls::replace);
        let node = replaced(self.node.as_ref(), new.node.as_ref(), NodeTls::replace);
        if !(public && node) {
            tracing::warn!("TLS is switched on or off only by a restart");
        }
    }

    /// Sets the metrics, and warns of a certificate that expires soon.
    pub(super) fn check(&self) {
        let public = self.public.as_ref().and_then(Tls::expires);
        let node = self.node.as_ref().and_then(NodeTls::expires);
        for (certificate, expires) in [("public", public), ("node", node)] {
            let Some(expires) = expires else { continue };
            server_metrics::certificate_expires(certificate, expires);
            if let Some(when) = warning(expires, Clock::of_process().now()) {
                tracing::warn!(certificate, "a certificate {when}; replace its files, and send SIGHUP");
            }
        }
    }
}

/// Replaces the present TLS by the new one. False if only one of them is on.
fn replaced<T>(present: Option<&T>, new: Option<&T>, replace: impl FnOnce(&T, &T)) -> bool {
    match (present, new) {
        (Some(present), Some(new)) => replace(present, new),
        (None, None) => {}
        _ => return false,
    }
    true
}

fn warning(expires: Timestamp, now: Timestamp) -> Option<String> {
    let left = expires.since(now);
    match left.as_secs() / DAY.as_secs() {
        _ if expires <= now => Some("has expired".to_owned()),
        _ if left > WARNED => None,
        0 => Some("expires within a day".to_owned()),
        days => Some(format!("expires in {days} days")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_warned_of_for_its_last_fourteen_days() {
        let now = Timestamp(1_000_000_000);
        let warned = |left: Duration| warning(now.after(left), now);
        assert_eq!(warned(WARNED + Duration::from_secs(1)), None);
        assert_eq!(warned(WARNED).as_deref(), Some("expires in 14 days"));
        assert_eq!(warned(DAY / 2).as_deref(), Some("expires within a day"));
        assert_eq!(warned(Duration::ZERO).as_deref(), Some("has expired"));
        assert_eq!(warning(now, now.after(DAY)).as_deref(), Some("has expired"));
    }
}
