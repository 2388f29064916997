//! Looks up the addresses of a host name.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    vec,
};

use hyper_util::client::legacy::connect::dns::Name;
use tokio::net::lookup_host;
use tonic::codegen::{BoxFuture, Service};

/// Looks names up again for each connection, and lets it begin at another address in each round. The others follow:
/// they are tried if the first cannot be reached.
#[derive(Clone, Debug)]
pub(super) struct AddressLookup {
    pub(super) round: usize,
    /// The number of addresses found.
    pub(super) found: Arc<AtomicUsize>,
}

impl Service<Name> for AddressLookup {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<Self::Response, io::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { round, found } = self.clone();
        Box::pin(async move {
            // The connection has the port.
            let addresses = in_round(lookup_host((name.as_str(), 0)).await?.collect(), round);
            found.store(addresses.len(), Ordering::Relaxed);
            Ok(addresses.into_iter())
        })
    }
}

fn in_round<T>(mut addresses: Vec<T>, round: usize) -> Vec<T> {
    let first = round.checked_rem(addresses.len()).unwrap_or_default();
    addresses.rotate_left(first);
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_begins_at_the_next_address() {
        let orders = [0, 1, 2, 3].map(|round| in_round(vec!['a', 'b', 'c'], round).into_iter().collect::<String>());
        assert_eq!(orders, ["abc", "bca", "cab", "abc"]);
        assert!(in_round(Vec::<char>::new(), 1).is_empty());
    }

    #[tokio::test]
    async fn the_addresses_of_a_name_are_counted() {
        let found = Arc::new(AtomicUsize::new(0));
        let mut lookup = AddressLookup { round: 0, found: Arc::clone(&found) };
        let addresses = lookup.call("localhost".parse().unwrap()).await.unwrap();
        assert_eq!(addresses.len(), found.load(Ordering::Relaxed));
        assert!(addresses.len() > 0);
    }
}
