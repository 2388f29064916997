//! Players on several nodes: this node tells the others of the streams here, and finds players who are connected to
//! others.

use std::{
    sync::{
        Arc,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};

use dashmap::Entry;

use super::{directory::Players, notice::Notice, player::Player};
use crate::{
    room::PlayerId,
    runtime::{
        cluster::peers::{MAX_STREAMS, News, PlayerStreams},
        outcome::StreamEnd,
    },
    store::{NodeId, StoredPlayer},
};

impl Players {
    /// The player of a stored account, which another node has created. It is entered unless it is known here. If there
    /// were `changes` before it was read and there are others now, its token may not be valid, and is not entered.
    pub(crate) fn adopt(&self, enrolled: StoredPlayer, changes: u64) -> Arc<Player> {
        let slot = match self.by_id.entry(enrolled.profile.id) {
            Entry::Occupied(known) => return Arc::clone(known.get()),
            Entry::Vacant(slot) => slot,
        };
        // The stored time may be old, while the player is active on another node.
        let stored_seen = enrolled.seen;
        let enrolled = StoredPlayer { seen: self.clock.now(), ..enrolled };
        let player = Arc::new(Player::new(enrolled, self.clock, &self.limits.get()));
        player.streams.note_stored_seen(stored_seen);
        slot.insert(Arc::clone(&player));
        self.claimed.fetch_add(usize::from(player.is_claimed()), Relaxed);
        if self.account_changes() == changes {
            self.enter_token(&player);
        }
        self.by_name.entry(player.name.key()).or_insert(player.id());
        self.end_if_closed(&player);
        player
    }

    /// Makes a player known by its token, unless it has logged out, also meanwhile.
    pub(super) fn enter_token(&self, player: &Arc<Player>) {
        let key = player.token_hash().key();
        self.by_token.insert(key, Arc::clone(player));
        if player.is_logged_out() {
            self.by_token.remove(&key);
        }
    }

    pub(crate) fn note_account_change(&self) {
        self.account_changes.fetch_add(1, SeqCst);
    }

    /// Compare it before and after an account is read from the store: the news of a change of a player who is not known
    /// yet has no other effect.
    pub(crate) fn account_changes(&self) -> u64 {
        self.account_changes.load(SeqCst)
    }

    /// Ends what was opened for a player who has just become known, if no stream may be open now.
    pub(super) fn end_if_closed(&self, player: &Player) {
        if let Some(end) = self.lifecycle.stream_end() {
            player.end_streams(end);
            if self.lifecycle.stream_end().is_none() {
                // The node is back in service, and may have passed over this player.
                self.permit_streams();
            }
        }
    }

    /// Lets players open streams again whose streams have ended as [`StreamEnd::OutOfService`].
    pub(crate) fn permit_streams(&self) {
        let is_ended = |player: &Player| player.stream_end() == Some(StreamEnd::OutOfService);
        for ended in self.all().into_iter().filter(|player| is_ended(player)) {
            let again = Arc::new(ended.with_token(ended.token_hash()));
            let replace = |known: &mut Arc<Player>| {
                if Arc::ptr_eq(known, &ended) {
                    *known = Arc::clone(&again);
                }
            };
            if let Some(mut known) = self.by_id.get_mut(&ended.id()) {
                replace(&mut known);
            }
            if let Some(mut known) = self.by_token.get_mut(&ended.token_hash().key()) {
                replace(&mut known);
            }
            // It may have begun to drain meanwhile.
            self.end_if_closed(&again);
        }
        self.visitors.forget(is_ended);
    }

    /// The players whose accounts may change at other nodes.
    pub(crate) fn copies(&self) -> Vec<Arc<Player>> {
        if self.cluster.shares_store() { self.all() } else { Vec::new() }
    }

    /// True if a player has a stream on any node, or has called within `grace`. A player who is not known here has
    /// logged out, because the members of a room are looked up before it starts.
    pub(crate) fn is_present(&self, player: PlayerId, grace: Duration) -> bool {
        self.get(player).is_some_and(|player| {
            player.is_present(grace) || !player.is_logged_out() && self.attached.is_present(player.id())
        })
    }

    /// True if a player has a stream on any node.
    pub(crate) fn is_connected(&self, player: PlayerId) -> bool {
        self.get(player).is_some_and(|player| {
            !player.is_logged_out() && (player.streams.is_any_open() || self.attached.is_present(player.id()))
        })
    }

    /// Sends a notice of a room of this node to the player's stream of turns, or keeps it for the next one.
    pub(crate) fn send(&self, player: PlayerId, notice: Notice) {
        match self.get(player) {
            Some(player) => self.send_to(&player, notice),
            None => {
                if let Some(node) = self.newer_turns(player, 0) {
                    self.cluster.tell(node, News::Notice(player, notice));
                }
            }
        }
    }

    /// As [`Players::send`], for a player whom the caller knows.
    pub(crate) fn send_to(&self, player: &Player, notice: Notice) {
        player.problems.note_notice(self.clock, &notice);
        self.deliver(player, notice);
    }

    /// As [`Players::send_to`], of a notice that may have been kept for a while. Without a link to the node of the stream, it
    /// is kept here until there is one.
    pub(crate) fn deliver(&self, player: &Player, notice: Notice) {
        let Some(node) = self.newer_turns(player.id(), player.streams.turns_number()) else {
            return player.streams.inbox.send(notice);
        };
        let tell = |notice| self.cluster.tell(node, News::Notice(player.id(), notice));
        if self.cluster.is_linked(node) {
            return tell(notice);
        }
        player.streams.inbox.send(notice);
        if self.cluster.is_linked(node) {
            // It may have come up before the notice was kept.
            player.streams.inbox.take_missed().into_iter().for_each(tell);
        }
    }

    /// Whether the player's newest stream of turns is here, or the other node that has it.
    pub(crate) fn place(&self, player: PlayerId) -> (bool, Option<NodeId>) {
        let here = self.get(player).map_or(0, |player| player.streams.turns_number());
        let there = self.newer_turns(player, here);
        (here != 0 && there.is_none(), there)
    }

    /// Whether the player has a stream of turns, here or at another node.
    #[must_use]
    pub fn is_reading_turns(&self, player: PlayerId) -> bool {
        let (is_here, there) = self.place(player);
        is_here || there.is_some()
    }

    /// The node with a stream of turns that is newer than the one here.
    fn newer_turns(&self, player: PlayerId, here: i64) -> Option<NodeId> {
        let newest = self.attached.turns(player)?;
        (newest > (here, self.cluster.me())).then_some(newest.1)
    }

    /// The number of a new stream of turns. It is higher than all known ones and not below the store's time in
    /// microseconds, so that the newer of two streams wins even on nodes without a link, whose clocks may differ.
    pub(crate) fn next_turns_number(&self, player: &Player) -> i64 {
        let on_peers = self.attached.turns(player.id()).map_or(0, |(number, _)| number);
        let time = self.cluster.store_time(self.clock.now());
        time.0.max(on_peers.max(player.streams.turns_number()).saturating_add(1))
    }

    /// Tells the other nodes of the player's streams here, if they have changed.
    pub(crate) fn announce(&self, player: &Player) {
        self.tell_streams(player, &mut player.streams.told());
    }

    /// As [`Players::announce`], with what is told. It is locked, so that the last news is of the last change.
    pub(crate) fn tell_streams(&self, player: &Player, told: &mut PlayerStreams) {
        let streams = player.streams_here();
        if *told != streams && !player.is_visitor() {
            *told = streams;
            self.cluster.tell_all(&News::Streams(vec![(player.id(), streams)]));
        }
    }

    /// Tells a node of all streams here, and that these are all.
    pub(crate) fn announce_all(&self, node: NodeId) {
        for players in self.all().chunks(MAX_STREAMS) {
            // Locked until it is told, so that the last news is of the last change.
            let told: Vec<_> = players.iter().map(|player| (player.id(), player.streams.told())).collect();
            let told = told.iter().map(|(player, told)| (*player, **told));
            let present: Vec<_> = told.filter(|(_, streams)| streams.present).collect();
            if !present.is_empty() {
                self.cluster.tell(node, News::Streams(present));
            }
        }
        self.cluster.tell(node, News::Streams(Vec::new()));
    }

    pub(crate) fn tell_account(&self, player: &Player) {
        self.cluster.tell_all(&News::Account(player.id()));
    }

    pub(crate) fn tell_log_out(&self, player: PlayerId) {
        self.cluster.tell_all(&News::LoggedOut(player));
    }

    /// Records the streams of a player on another node, and returns the earlier ones there. Ends an older stream of
    /// turns here.
    pub(crate) fn attach(&self, player: PlayerId, node: NodeId, streams: PlayerStreams) -> PlayerStreams {
        let before = self.attached.set(player, node, streams);
        if let Some(known) = self.get(player) {
            self.supersede_older_turns(&known);
        }
        before
    }

    /// Ends the player's stream of turns here if another node has a newer one.
    pub(crate) fn supersede_older_turns(&self, player: &Player) {
        let here = player.streams.turns_number();
        if here != 0 && self.newer_turns(player.id(), here).is_some() {
            player.streams.inbox.supersede();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{RandomSource, Token},
    };

    #[test]
    fn a_new_token_of_a_player_who_has_logged_out_is_not_valid() {
        let players = Players::default();
        let (ada, _) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        players.revoke(&ada);
        let new = Token::generate(&RandomSource::default());
        players.change_account(&ada, &StoredPlayer { token: new.hash().0, ..ada.stored() });
        assert!(players.bearer(&new).is_none() && players.by_token.is_empty());
    }
}
