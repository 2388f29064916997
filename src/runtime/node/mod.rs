//! What other nodes call on this node, and what it does when shards move.

mod service;
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
    outcome::RoomError,
    player::player::Player,
    room::{host::RoomHost, message::Audience, presence::check_presence, rooms::Rooms},
    session::Sessions,
    tournament::tournaments::Tournaments,
    watch::{feed::FollowedRoom, turns::remind_at_peer},
};
use crate::{
    room::{Command, Issuer, PlayerId, RoomId, SeatSetting, Seq},
    store::{Assignment, NodeId, Shard, StoredPlayer},
};

/// Maximum number of accounts read at a time.
const ACCOUNTS: usize = 500;

/// The interval at which accounts and bans are read again. The news of a change may be lost with a link or arrive
/// before this node knows the player, and writing or reading a ban may have failed.
pub(super) const ACCOUNTS_INTERVAL: Duration = Duration::from_secs(60);

/// A node of a cluster. Clones are handles to the same node.
#[derive(Clone)]
pub struct Node {
    pub(super) rooms: Rooms,
    pub(super) sessions: Sessions,
    pub(super) tournaments: Tournaments,
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
            return Reply::Moved(self.cluster.node_of(ask.room));
        }
        if let Question::Command(issuer, command) = &ask.what
            && let Err(error) = self.prepare(*issuer, command).await
        {
            return Reply::Refused(error);
        }
        if let Question::Tournament(Some(player), _) = &ask.what
            && let Err(error) = host.player(*player).await
        {
            return Reply::Refused(error);
        }
        match host.answer(ask).await {
            // The next node of the room executes it.
            Reply::Refused(RoomError::Draining) => Reply::Moved(None),
            answer => answer,
        }
    }

    /// Loads the players of a command, and notes that the issuer has made a call on another node.
    async fn prepare(&self, issuer: Issuer, command: &Command) -> Result<(), RoomError> {
        let host = self.host();
        if let Command::SetSeat(_, SeatSetting::Reserved(guest) | SeatSetting::Invited { guest, .. }) = command {
            host.player(guest.id).await?;
        }
        match issuer {
            Issuer::Player(player) => {
                let player = host.player(player).await?.ok_or(RoomError::PlayerNotFound)?;
                player.streams.note_call();
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
    pub async fn follow(&self, room: RoomId, audience: Audience, after: Option<Seq>) -> Result<FollowedRoom, FeedEnd> {
        FollowedRoom::new(self.host(), room, audience, after).await
    }

    /// Watches the rooms of this node in the list of rooms, for another node.
    #[must_use]
    pub fn list(&self) -> LobbyWatch {
        self.host().lobby.watch_own(RowFilter::default())
    }

    /// Receives the rows of another node for the list of rooms. Drop it when that node no longer sends them.
    #[must_use]
    pub fn peer_list(&self, node: NodeId) -> PeerList {
        PeerList::new(&self.host().lobby.peers, node)
    }

    /// Applies news from another node.
    pub fn receive_news(&self, from: NodeId, news: News) {
        let players = &self.host().context.players;
        match news {
            News::Streams(players) if players.is_empty() => self.note_all_told(from),
            News::Streams(players) => {
                players.into_iter().for_each(|(player, streams)| self.attach(player, from, streams));
            }
            News::Notice(player, notice) => {
                if let Some(player) = players.get(player) {
                    player.problems.note_notice(self.host().context.clock, &notice);
                    player.streams.inbox.send(notice);
                }
            }
            News::Account(player) => {
                players.note_account_change();
                let (node, accounts) = (self.clone(), players.get(player).into_iter().collect());
                let lifecycle = &self.host().context.lifecycle;
                let stop = lifecycle.stop.clone();
                lifecycle.spawn(async move { stop.run_until_cancelled(node.read_accounts(accounts)).await });
            }
            News::ShardsGiven => self.cluster.given.notify_one(),
            News::ShardsServed(shards) => self.cluster.note_served(shards),
            News::Heartbeat { sent, received } => self.note_heartbeat(from, sent, received),
            News::LoggedOut(player) => {
                players.note_account_change();
                if let Some(player) = players.get(player) {
                    self.sessions.forget(player);
                }
            }
            News::Bans => {
                let (sessions, lifecycle) = (self.sessions.clone(), &self.host().context.lifecycle);
                let stop = lifecycle.stop.clone();
                lifecycle.spawn(async move { stop.run_until_cancelled(sessions.read_bans_again()).await });
            }
        }
    }

    /// Call when there is a link to a node.
    pub fn linked(&self, node: NodeId) {
        let host = self.host();
        let players = &host.context.players;
        players.announce_all(node);
        // The streams of players on that node may be known already, by the link from there. Turns and notices for them
        // were lost until now.
        let there = players.attached.with_turns(node).into_iter().filter_map(|player| players.get(player));
        there.for_each(|player| remind_at_peer(host, &player));
    }

    /// Reads all bans and the accounts of copied players again, every [`ACCOUNTS_INTERVAL`] and after each new link
    /// from another node, until the server stops.
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

    /// Records the nodes of shards, as read from the store. The rooms of shards that this node has lost end here; their
    /// watchers follow them on the new nodes.
    pub fn learn(&self, assignments: impl IntoIterator<Item = Assignment>) {
        let lost = self.cluster.learn(assignments);
        if !lost.is_empty() {
            let lost: BTreeSet<_> = lost.into_iter().collect();
            self.release(|shard| lost.contains(&shard));
        }
    }

    /// Continues as a new node, after this node was declared dead. Its rooms end here; the streams of its players stay
    /// open.
    pub fn rejoin_as(&self, node: NodeId) {
        self.cluster.rejoin_as(node);
        self.release(|_| true);
    }

    /// Ends the rooms and tournaments of shards here.
    fn release(&self, has_moved: impl Fn(Shard) -> bool) {
        let context = &self.host().context;
        context.tournaments.release(|tournament| has_moved(Shard::of_tournament(tournament)));
        let has_moved = |room: RoomId| has_moved(Shard::of(room));
        context.registry.release(has_moved);
        context.players.release(has_moved);
    }

    fn attach(&self, player: PlayerId, from: NodeId, streams: PlayerStreams) {
        let host = self.host();
        host.context.players.attached.confirm(player, from);
        let before = host.context.players.attach(player, from, streams);
        let Some(player) = host.context.players.get(player) else { return };
        if before.present && !streams.present {
            player.streams.note_end();
        }
        if before.present != streams.present {
            check_presence(host, &player, player.rooms());
        }
        if streams.turns.is_some() && streams.turns != before.turns {
            remind_at_peer(host, &player);
        }
    }

    /// Reads accounts again that other nodes may have changed.
    async fn read_accounts(&self, accounts: Vec<Arc<Player>>) {
        for accounts in accounts.chunks(ACCOUNTS) {
            let ids = accounts.iter().map(|player| player.id()).collect();
            let stored = match self.sessions.player_store.find_all(ids).await {
                Ok(stored) => stored,
                // They are read again soon.
                Err(error) => return tracing::warn!(%error, "accounts could not be read again"),
            };
            let stored: BTreeMap<_, _> = stored.into_iter().map(|stored| (stored.profile.id, stored)).collect();
            for player in accounts {
                let is_current = |stored: &StoredPlayer| {
                    let known = player.stored();
                    StoredPlayer { seen: known.seen, played: known.played, ..stored.clone() } == known
                };
                // A damaged row is missing, too, but its player is kept.
                if !stored.get(&player.id()).is_some_and(is_current)
                    && let Err(error) = self.sessions.read_account(player.id()).await
                {
                    tracing::debug!(%error, player = %player.id(), "an account could not be read again");
                }
            }
        }
    }
}
