//! The players with streams on other nodes of a cluster, as told by those nodes.
//!
//! Each node knows all of them, not only those in its rooms: a room that moves then finds its players at once, and an
//! invitation reaches a player who is in no room. One entry takes under 250 bytes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use dashmap::{DashMap, Entry};
use foldhash::fast::RandomState;

use crate::{room::PlayerId, runtime::cluster::peers::PlayerStreams, store::NodeId};

#[derive(Default)]
pub(crate) struct Attached {
    players: DashMap<PlayerId, Vec<(NodeId, PlayerStreams)>, RandomState>,
    /// At least their number. While it is 0, a notice is delivered without a lookup.
    count: AtomicUsize,
    /// What nodes said over an earlier link, and not yet again over the present one.
    unconfirmed: Mutex<BTreeMap<NodeId, BTreeSet<PlayerId>>>,
}

impl Attached {
    /// Replaces the streams of a player on a node, and returns the earlier ones. A stream of turns replaces older ones on
    /// all nodes.
    pub(crate) fn set(&self, player: PlayerId, node: NodeId, mut streams: PlayerStreams) -> PlayerStreams {
        let mut entry = match self.players.entry(player) {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(_) if !streams.present => return PlayerStreams::default(),
            Entry::Vacant(entry) => {
                self.count.fetch_add(1, SeqCst);
                entry.insert_entry(Vec::with_capacity(1))
            }
        };
        let nodes = entry.get_mut();
        let before = nodes.iter().position(|(at, _)| *at == node).map(|index| nodes.swap_remove(index).1);
        if streams.present {
            // The news of their ends may never come.
            let newest = nodes.iter().filter_map(|(_, other)| other.turns).chain(streams.turns).max();
            for known in nodes.iter_mut().map(|(_, other)| other).chain([&mut streams]) {
                known.turns = known.turns.filter(|_| known.turns == newest);
            }
            nodes.push((node, streams));
        } else if nodes.is_empty() {
            entry.remove();
            self.count.fetch_sub(1, SeqCst);
        }
        before.unwrap_or_default()
    }

    /// Call when there is a link from a node, which tells all of its players again. Until it has, its earlier ones stay.
    pub(crate) fn await_confirmation(&self, node: NodeId) {
        let known = self.at(node, |_| true).into_iter().collect();
        self.unconfirmed().insert(node, known);
    }

    /// Call with each player of whom a node tells.
    pub(crate) fn confirm(&self, player: PlayerId, node: NodeId) {
        if let Some(players) = self.unconfirmed().get_mut(&node) {
            players.remove(&player);
        }
    }

    /// Call when a node has told of all its players: forgets those that it had and has no more. Returns them.
    pub(crate) fn remove_unconfirmed(&self, node: NodeId) -> Vec<PlayerId> {
        let gone: Vec<_> = self.unconfirmed().remove(&node).into_iter().flatten().collect();
        for player in &gone {
            self.set(*player, node, PlayerStreams::default());
        }
        gone
    }

    /// Forgets the streams on a node, and returns the players who had any there.
    pub(crate) fn remove(&self, node: NodeId) -> Vec<PlayerId> {
        self.unconfirmed().remove(&node);
        let players = self.at(node, |_| true);
        for player in &players {
            self.set(*player, node, PlayerStreams::default());
        }
        players
    }

    /// The players with a stream of turns on a node.
    pub(crate) fn with_turns(&self, node: NodeId) -> Vec<PlayerId> {
        self.at(node, |streams| streams.turns.is_some())
    }

    fn unconfirmed(&self) -> MutexGuard<'_, BTreeMap<NodeId, BTreeSet<PlayerId>>> {
        self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, node: NodeId, wanted: impl Fn(&PlayerStreams) -> bool) -> Vec<PlayerId> {
        let has = |nodes: &[(NodeId, PlayerStreams)]| nodes.iter().any(|(at, streams)| *at == node && wanted(streams));
        let mut players: Vec<_> = self.players.iter().filter(|entry| has(entry)).map(|entry| *entry.key()).collect();
        // The map's order differs between processes.
        players.sort_unstable();
        players
    }

    /// All players with a stream on another node, in any order.
    pub(crate) fn present(&self) -> Vec<PlayerId> {
        self.players.iter().map(|entry| *entry.key()).collect()
    }

    pub(crate) fn is_present(&self, player: PlayerId) -> bool {
        self.players.contains_key(&player)
    }

    /// The player's newest stream of turns on another node: its number and node.
    pub(crate) fn turns(&self, player: PlayerId) -> Option<(i64, NodeId)> {
        if self.count.load(SeqCst) == 0 {
            return None;
        }
        self.players.get(&player)?.iter().filter_map(|(node, streams)| Some((streams.turns?, *node))).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: PlayerStreams = PlayerStreams { present: true, turns: None };

    #[test]
    fn a_stream_of_turns_replaces_older_ones_on_all_nodes() {
        let (attached, ada, [node, other]) = (Attached::default(), PlayerId::from_random(1), [2, 3].map(NodeId));
        attached.set(ada, node, PlayerStreams { turns: Some(7), ..HERE });
        attached.set(ada, other, PlayerStreams { turns: Some(8), ..HERE });
        assert_eq!(attached.turns(ada), Some((8, other)));
        attached.set(ada, other, HERE);
        assert!(attached.turns(ada).is_none() && attached.is_present(ada));
    }

    #[test]
    fn players_of_a_node_stay_until_it_says_over_its_next_link_that_they_are_gone() {
        let (attached, node, other) = (Attached::default(), NodeId(2), NodeId(3));
        let [ada, bea, eve] = [1, 2, 3].map(PlayerId::from_random);
        for (player, at) in [(ada, node), (bea, node), (eve, other)] {
            attached.set(player, at, HERE);
        }
        // It has told of one when this link breaks, too.
        for _ in 0..2 {
            attached.await_confirmation(node);
            attached.confirm(ada, node);
        }
        assert!([ada, bea, eve].iter().all(|player| attached.is_present(*player)));
        assert_eq!(attached.remove_unconfirmed(node), [bea]);
        assert!(attached.is_present(ada) && !attached.is_present(bea) && attached.is_present(eve));
        assert_eq!(attached.remove_unconfirmed(node), [], "they were removed before");
    }
}
