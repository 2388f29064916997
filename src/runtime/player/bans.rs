//! The bans in force: who is refused.

use std::{
    collections::{BTreeSet, HashMap},
    net::IpAddr,
    sync::Arc,
};

use arc_swap::ArcSwap;
use ipnet::IpNet;
use thiserror::Error;

use super::{confusable_names, player::Player};
use crate::{
    room::DisplayName,
    runtime::{limit::client_address::ClientAddress, server_clock::Clock},
    store::{Ban, BanSubject},
};

/// The refusal of a banned player or address.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("banned")]
pub struct Banned(pub Arc<Ban>);

/// The bans that are stored, as this process last read them.
#[derive(Default)]
pub struct Bans {
    list: ArcSwap<BanList>,
    clock: Clock,
    /// Held while the bans are read, so that an older list does not replace a newer one.
    pub(crate) reading: tokio::sync::Mutex<()>,
}

/// Maps of the bans, because each call looks them up.
#[derive(Default)]
struct BanList {
    /// By the skeletons of the names.
    names: HashMap<String, Arc<Ban>>,
    networks: HashMap<IpNet, Arc<Ban>>,
    /// The lengths of the networks' prefixes.
    lengths: BTreeSet<u8>,
}

impl Bans {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, ..Self::default() }
    }

    /// Replaces all bans.
    pub(crate) fn set(&self, mut bans: Vec<Ban>) {
        // Of two bans of the same subject, the one that ends last counts.
        bans.sort_by_key(|ban| (ban.until.is_none(), ban.until));
        let mut list = BanList::default();
        for ban in bans.into_iter().map(Arc::new) {
            match &ban.subject {
                BanSubject::Name(name) => {
                    list.names.extend(
                        confusable_names::skeletons(name.as_str()).map(|skeleton| (skeleton, Arc::clone(&ban))),
                    );
                }
                BanSubject::Network(network) => {
                    list.lengths.insert(network.prefix_len());
                    list.networks.insert(*network, Arc::clone(&ban));
                }
            }
        }
        self.list.store(Arc::new(list));
    }

    /// The check whether the player or the address of a call is banned.
    #[must_use]
    pub fn check(self: &Arc<Self>, player: Option<&Arc<Player>>, address: Option<&Arc<ClientAddress>>) -> BanCheck {
        BanCheck { bans: Arc::clone(self), player: player.cloned(), address: address.cloned() }
    }

    /// Fails if a name is banned.
    pub(crate) fn require_name(&self, name: &DisplayName) -> Result<(), Banned> {
        self.require(|| Some(confusable_names::skeletons(name.as_str())), None)
    }

    /// Fails if a name with one of these skeletons, or an address, is banned.
    fn require<L: AsRef<[String]>>(
        &self,
        skeletons: impl FnOnce() -> Option<L>,
        address: Option<IpAddr>,
    ) -> Result<(), Banned> {
        let list = self.list.load();
        let skeletons = if list.names.is_empty() { None } else { skeletons() };
        let names = skeletons.iter().flat_map(AsRef::as_ref).filter_map(|skeleton| list.names.get(skeleton));
        let network = |length: &u8| list.networks.get(&IpNet::new(address?, *length).ok()?.trunc());
        let mut bans = names.chain(list.lengths.iter().filter_map(network));
        bans.find(|ban| ban.is_in_force(self.clock.now())).map_or(Ok(()), |ban| Err(Banned(Arc::clone(ban))))
    }
}

/// True if both are the same network, or names that look alike.
pub(crate) fn are_alike(one: &BanSubject, other: &BanSubject) -> bool {
    match (one, other) {
        (BanSubject::Name(one), BanSubject::Name(other)) => {
            let others = confusable_names::skeletons(other.as_str());
            confusable_names::skeletons(one.as_str()).iter().any(|skeleton| others.contains(skeleton))
        }
        _ => one == other,
    }
}

/// Checks whether the player or the address of a call is banned, when it begins and while its stream is open.
#[derive(Clone)]
pub struct BanCheck {
    bans: Arc<Bans>,
    player: Option<Arc<Player>>,
    address: Option<Arc<ClientAddress>>,
}

impl BanCheck {
    /// Fails if the player or the address is banned.
    ///
    /// # Errors
    /// The ban.
    pub fn run(&self) -> Result<(), Banned> {
        let skeletons = || self.player.as_ref().map(|player| player.name_skeletons());
        self.bans.require(skeletons, self.address.as_ref().map(|address| address.prefix().address()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn name(text: &str) -> BanSubject {
        BanSubject::Name(DisplayName::parse(text).unwrap())
    }

    fn network(text: &str) -> BanSubject {
        BanSubject::parse_network(text).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn names_that_look_alike_and_addresses_of_a_network_are_banned_until_the_ban_ends() {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let bans = Bans::default();
        let since = bans.clock.now();
        let ban = |subject, hours| {
            let until = (hours > 0).then(|| since.after(HOUR * hours));
            Ban { subject, reason: None, since, until }
        };
        let name_of = |text| bans.require_name(&DisplayName::parse(text).unwrap());
        let address = |text: &str| bans.require(|| None::<[String; 0]>, Some(text.parse().unwrap()));
        assert!(name_of("Paul").is_ok() && address("192.0.2.7").is_ok());
        bans.set(vec![
            ban(name("Paul"), 2),
            ban(name("PAUL"), 1),
            ban(name("Eve"), 0),
            ban(network("192.0.2.0/24"), 1),
            ban(network("192.0.0.0/16"), 2),
            ban(network("2001:db8:1:200::/56"), 0),
        ]);
        let banned = [name_of("Pau1"), name_of("eve"), address("192.0.2.7"), address("2001:db8:1:200::")];
        assert!(banned.iter().all(Result::is_err), "{banned:?}");
        assert!(name_of("Ada").is_ok() && address("192.1.2.7").is_ok() && address("2001:db8:1:300::").is_ok());
        tokio::time::advance(HOUR).await;
        assert!(name_of("Pau1").is_err() && address("192.0.2.7").is_err(), "by the longer ones");
        tokio::time::advance(HOUR).await;
        assert!(name_of("Pau1").is_ok() && name_of("Eve").is_err() && address("192.0.2.7").is_ok());
    }
}
