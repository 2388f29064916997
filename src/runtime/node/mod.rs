//! What other nodes call on this node, and what it does when the owners of shards change.

mod shards;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{
    cluster::{
        cluster::Cluster,
        peers::{Ask, FeedEnd, News, PlayerStreams, Question, Reply},
    },
    lifecycle::ticks,
    lobby::{listing::LobbyWatch, peer_rows::PeerList, row::RowFilter},
    outcome::{RoomError, StreamEnd},
    player::player::Player,
    room::{host::RoomHost, presence::check_presence, rooms::Rooms},
    session::Sessions,
    watch::{feed::FollowedRoom, turns::remind_elsewhere},
};
use crate::{
    room::{Command, Issuer, PlayerId, RoomId, SeatSetting, Seq},
    store::{NodeId, Ownership, PlayerKey, Shard},
};

/// Accounts read at a time.
const ACCOUNTS: usize = 500;

/// The interval at which accounts and bans are read again. News of a log-out can be lost with a link, or come just before this node learns
/// of the player; to write a ban or to read it afterwards may have failed.
pub(super) const ACCOUNTS_INTERVAL: Duration = Duration::from_secs(60);

/// A node of a cluster. Clones are handles to the same one.
#[derive(Clone)]
pub struct Node {
    pub(super) rooms: Rooms,
    pub(super) sessions: Sessions,
    pub(super) cluster: Arc<Cluster>,
}

impl Node {
    fn host(&self) -> &RoomHost {
        &self.rooms.host
    }

    /// Executes a request of another node.
    pub async fn answer(&self, ask: Ask) -> Reply {
        let host = self.host();
        if !self.cluster.serves(ask.room) {
            return Reply::Elsewhere(self.cluster.owner(ask.room));
        }
        if let Question::Command(issuer, command) = &ask.what
            && let Err(error) = self.prepare(*issuer, command).await
        {
            return Reply::Refused(error);
        }
        match host.answer(ask).await {
            // Its next owner does it.
            Reply::Refused(RoomError::Draining) => Reply::Elsewhere(None),
            answer => answer,
        }
    }

    /// Looks up the players of a command, and notes the call.
    async fn prepare(&self, issuer: Issuer, command: &Command) -> Result<(), RoomError> {
        let host = self.host();
        if let Command::SetSeat(_, SeatSetting::Reserved(guest)) = command {
            host.player(guest.id).await?;
        }
        match issuer {
            Issuer::Player(player) => {
                let player = host.player(player).await?.ok_or(RoomError::PlayerNotFound)?;
                player.note_call_elsewhere();
                Ok(())
            }
            Issuer::Admin => Ok(()),
            Issuer::Server => Err(RoomError::PlayerNotFound),
        }
    }

    /// Follows a room for another node, from its current state or from the event after `after` on.
    ///
    /// # Errors
    /// When the room is not here, or cannot be followed.
    pub async fn follow(&self, room: RoomId, after: Option<Seq>) -> Result<FollowedRoom, FeedEnd> {
        FollowedRoom::new(self.host(), room, after).await
    }

    /// Watches the rooms of this node in the list of rooms, for another node.
    #[must_use]
    pub fn list(&self) -> LobbyWatch {
        self.host().lobby.watch_own(RowFilter::default())
    }

    /// The rooms of another node in the list of rooms, as long as it sends them.
    #[must_use]
    pub fn peer_list(&self, node: NodeId) -> PeerList {
        PeerList::new(&self.host().lobby.peers, node)
    }

    /// Takes note of what another node tells.
    pub fn receive_news(&self, from: NodeId, news: News) {
        let players = &self.host().context.players;
        match news {
            News::Streams(players) => {
                players.into_iter().for_each(|(player, streams)| self.attach(player, from, streams));
            }
            News::Notice(player, notice) => {
                if let Some(player) = players.get(player) {
                    player.inbox.send(notice);
                }
            }
            News::Account(player) => {
                let (node, accounts) = (self.clone(), players.get(player).into_iter().collect());
                let lifecycle = &self.host().context.lifecycle;
                let stop = lifecycle.stop.clone();
                lifecycle.spawn(async move { stop.run_until_cancelled(node.read_accounts(accounts)).await });
            }
            News::LoggedOut(player) => {
                if let Some(player) = players.get(player) {
                    self.forget(player);
                }
            }
            News::Bans => {
                let (sessions, lifecycle) = (self.sessions.clone(), &self.host().context.lifecycle);
                let stop = lifecycle.stop.clone();
                lifecycle.spawn(async move { stop.run_until_cancelled(sessions.read_bans_again()).await });
            }
        }
    }

    /// There is a link to a node now.
    pub fn linked(&self, node: NodeId) {
        let host = self.host();
        let players = &host.context.players;
        players.announce_all(node);
        // Turns and notices for the streams there were lost before: those streams may be known by the link from there.
        let there = players.attached.with_turns(node).into_iter().filter_map(|player| players.get(player));
        there.for_each(|player| remind_elsewhere(host, &player));
    }

    /// There is a link from another node now.
    pub fn linked_by(&self) {
        // News of accounts may have been lost with an earlier link.
        self.cluster.linked_by.notify_one();
    }

    /// Reads the accounts of copies and all bans again, regularly and after each new link from another node, until the server stops.
    pub(super) async fn read_accounts_regularly(self) {
        let context = &self.host().context;
        let mut ticks = ticks(ACCOUNTS_INTERVAL);
        loop {
            tokio::select! {
                biased;
                () = context.lifecycle.stop.cancelled() => return,
                _ = ticks.tick() => {}
                () = self.cluster.linked_by.notified() => {}
            }
            let read = async {
                self.read_accounts(context.players.copies()).await;
                self.sessions.read_bans_again().await;
            };
            context.lifecycle.stop.run_until_cancelled(read).await;
        }
    }

    /// There is no link from a node any longer: its players count as absent until it, or they, are back.
    pub fn unlinked(&self, node: NodeId) {
        let host = self.host();
        for player in host.context.players.attached.remove(node) {
            if let Some(player) = host.context.players.get(player) {
                check_presence(host, &player, player.rooms());
            }
        }
    }

    /// Records owners of shards, as the store has them. Rooms of shards that this node has lost end here, and their
    /// watchers follow them.
    pub fn learn(&self, owners: impl IntoIterator<Item = Ownership>) {
        let lost = self.cluster.learn(owners);
        if !lost.is_empty() {
            let lost: BTreeSet<_> = lost.into_iter().collect();
            self.release(|room| lost.contains(&Shard::of(room)));
        }
    }

    /// Rejoins with a new number, after this node was declared dead: without rooms, and with the streams of its players.
    pub fn rejoin_as(&self, node: NodeId) {
        self.cluster.rejoin_as(node);
        self.release(|_| true);
    }

    fn release(&self, has_moved: impl Fn(RoomId) -> bool) {
        let context = &self.host().context;
        context.registry.release(&has_moved);
        context.players.release(&has_moved);
    }

    fn attach(&self, player: PlayerId, from: NodeId, streams: PlayerStreams) {
        let host = self.host();
        let before = host.context.players.attach(player, from, streams);
        let Some(player) = host.context.players.get(player) else { return };
        if before.present && !streams.present {
            player.note_end_elsewhere();
        }
        if before.present != streams.present {
            check_presence(host, &player, player.rooms());
        }
        if streams.turns.is_some() && streams.turns != before.turns {
            remind_elsewhere(host, &player);
        }
    }

    /// Reads accounts again that may have changed at other nodes. One that changes here meanwhile stays as it is.
    async fn read_accounts(&self, accounts: Vec<Arc<Player>>) {
        let context = &self.host().context;
        let players = &context.players;
        for accounts in accounts.chunks(ACCOUNTS) {
            let tokens: Vec<_> = accounts.iter().map(|player| player.token_hash().0).collect();
            let ids = accounts.iter().map(|player| player.id()).collect();
            let stored = match context.player_store.find_all(ids).await {
                Ok(stored) => stored,
                // They are read again soon.
                Err(error) => return tracing::warn!(%error, "accounts could not be read again"),
            };
            let mut stored: BTreeMap<_, _> = stored.into_iter().map(|stored| (stored.profile.id, stored)).collect();
            for (player, token) in accounts.iter().zip(tokens) {
                let id = player.id();
                if !players.get(id).is_some_and(|known| Arc::ptr_eq(&known, player)) || player.token_hash().0 != token {
                    continue;
                }
                match stored.remove(&id) {
                    Some(stored) => drop(players.adopt(stored)),
                    // Not for one whose row is damaged.
                    None if matches!(context.player_store.find(PlayerKey::Id(id)).await, Ok(None)) => {
                        self.forget(Arc::clone(player));
                    }
                    None => {}
                }
            }
        }
    }

    /// A player has logged out at another node, and leaves the rooms of this one.
    fn forget(&self, player: Arc<Player>) {
        let host = self.host().clone();
        let context = Arc::clone(&host.context);
        context.players.revoke(&player);
        context.lifecycle.spawn(async move {
            for room in player.rooms() {
                // If that fails, the room's grace ends.
                let _ = host.command(room, Issuer::Player(player.id()), Command::Leave).await;
            }
            player.end_streams(StreamEnd::LoggedOut);
            host.context.players.announce(&player);
            host.context.players.remove(&player);
            check_presence(&host, &player, player.rooms());
        });
    }
}
