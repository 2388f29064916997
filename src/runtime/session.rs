//! Log-in and log-out.

use std::{cmp::Reverse, sync::Arc};

use super::{
    cluster::peers::News,
    lifecycle::Lifecycle,
    limit::{
        client_address::{ClientAddress, Resource},
        limits::STORE_RETRY,
    },
    outcome::{RoomError, StreamEnd},
    player::{
        bans::are_alike,
        directory::LogInError,
        expiry::{remove_idle, remove_longest_idle_guest},
        player::Player,
        token::{BearerToken, Token},
    },
    room::{actor::ActorContext, host::RoomHost, presence::check_presence},
};
use crate::{
    room::{
        Availability, Command, DisplayName, EngineVersion, Issuer, Phase, PlayerId, PlayerKind, Profile, Rejection,
        Timestamp,
    },
    store::{Archive, Ban, BanSubject, PlayerKey, PlayerStore, StoreError, StoredPlayer},
};

/// The most bans of names and networks. Each process keeps them in memory, and reads all of them after a change.
const BANS: usize = 1_000;

/// One in this many of all places for players: a network with more guests makes room first, with 1,000 of 100,000.
const LARGE_NETWORK: usize = 100;

/// Logs players in and out. Clones are handles to the same server.
#[derive(Clone)]
pub struct Sessions {
    pub(super) host: RoomHost,
    pub(super) player_store: Arc<dyn PlayerStore>,
    pub(super) archive: Arc<dyn Archive>,
}

impl Sessions {
    /// Logs in a new player with a free name. The player is visible once it is stored, and counts for `address`.
    /// `seats` is the number of seats that a bot wants. On a full server, an idle guest is removed to make room.
    ///
    /// # Errors
    /// When the name is taken, reserved or banned, a bot wants too many seats, the server or the address is full, the
    /// server is shutting down, or the store is unavailable.
    pub async fn log_in(
        &self,
        name: DisplayName,
        kind: PlayerKind,
        seats: u16,
        engine_version: Option<EngineVersion>,
        address: Option<Arc<ClientAddress>>,
    ) -> Result<(Arc<Player>, Token), LogInError> {
        let lifecycle = &self.host.context.lifecycle;
        lifecycle.require_running()?;
        let this = self.clone();
        let log_in = async move {
            let ActorContext { players, lifecycle, .. } = &*this.host.context;
            let acquire =
                |address: &Arc<ClientAddress>| address.acquire(Resource::Players).ok_or(LogInError::AddressFull);
            // Held until the player itself counts for the address.
            let _place = address.as_ref().map(acquire).transpose()?;
            let (enrolled, token) = loop {
                match players.reserve(name.clone(), kind, seats, engine_version.clone()) {
                    Err(LogInError::Full) => this.make_room().await?,
                    reserved => break reserved?,
                }
            };
            let put = this.player_store.put_player(enrolled.clone()).await;
            if let Ok(false) = put {
                players.release_name(&enrolled.profile);
                return Err(LogInError::NameTaken);
            }
            if let Err(unavailable) = put {
                players.release_name(&enrolled.profile);
                // It may still have been written.
                let undo = undo_log_in(Arc::clone(&this.player_store), enrolled.profile.id, lifecycle.clone());
                lifecycle.spawn(undo);
                return Err(RoomError::from(unavailable).into());
            }
            let player = players.admit(enrolled);
            if let Some(address) = &address {
                players.set_home(&player, address);
            }
            Ok((player, token))
        };
        lifecycle.run_to_end(log_in).await
    }

    /// Removes a guest from a full server: one of the network with the most guests, if these are a large part of all
    /// players; otherwise the longest idle guest; otherwise one of any network with several guests. A guest who is
    /// playing stays.
    async fn make_room(&self) -> Result<(), LogInError> {
        let context = &self.host.context;
        let large = (context.limits.get().players / LARGE_NETWORK).max(1);
        if self.remove_guest_of_largest_network(large).await? {
            return Ok(());
        }
        match remove_longest_idle_guest(&context.players, &*self.player_store).await {
            Err(LogInError::Full) if self.remove_guest_of_largest_network(1).await? => Ok(()),
            removed => removed,
        }
    }

    /// Removes a guest of the network with the most guests, if it has more than `most`. False if there is none to
    /// remove.
    async fn remove_guest_of_largest_network(&self, most: usize) -> Result<bool, LogInError> {
        let players = &self.host.context.players;
        for guest in players.guests_of_largest_network(most) {
            let _changing = guest.changing.lock().await;
            if !guest.is_guest() || guest.is_logged_out() || guest.is_replaced() || self.plays(&guest).await {
                continue;
            }
            let now = self.host.context.clock.now();
            if !remove_idle(players, &*self.player_store, &guest, now).await.map_err(RoomError::from)? {
                self.remove(&guest, true).await?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// True if a player has a seat in a running game or series, or if the store or a room does not answer.
    async fn plays(&self, player: &Player) -> bool {
        let Ok(places) = self.player_store.room_places(player.id()).await else { return true };
        let on_peers = places.into_iter().filter(|place| place.seated).map(|place| place.room);
        for room in player.seats().into_iter().chain(on_peers) {
            match self.host.snapshot(room).await {
                Ok(snapshot) if snapshot.room.phase() != Phase::Playing => {}
                Err(RoomError::Rejected(Rejection::RoomNotFound)) => {}
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }

    /// True if a token that belongs to no player here is wrong. Otherwise the store must be asked.
    #[must_use]
    pub fn knows_all_tokens(&self) -> bool {
        !self.host.context.cluster.shares_store()
    }

    /// The player of a token, on whichever node it has logged in.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn bearer(&self, token: impl Into<BearerToken>) -> Result<Option<Arc<Player>>, RoomError> {
        let token = &token.into();
        let players = &self.host.context.players;
        let known = players.bearer(token);
        if known.is_some() || self.knows_all_tokens() {
            return Ok(known);
        }
        // Twice, as this node may be forgetting a player who is idle here.
        for _ in 0..2 {
            let changes = players.account_changes();
            let Some(found) = self.find_stored(token).await? else { break };
            let player = players.adopt(found, changes);
            if players.bearer(token).is_none() {
                // It was known here by another token, or has changed meanwhile.
                self.read_account(player.id()).await?;
            }
            let entered = players.bearer(token);
            if entered.is_some() {
                return Ok(entered);
            }
        }
        Ok(None)
    }

    async fn find_stored(&self, token: &BearerToken) -> Result<Option<StoredPlayer>, StoreError> {
        for hash in token.hashes() {
            let found = self.player_store.find(PlayerKey::Token(hash.0)).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Reads the account of a player who is known here again, and applies what another node has changed. No other
    /// change is made here meanwhile, so that an earlier state is never applied after a later one.
    pub(super) async fn read_account(&self, player: PlayerId) -> Result<(), StoreError> {
        let players = &self.host.context.players;
        let Some(known) = players.get(player) else { return Ok(()) };
        let _changing = known.changing.lock().await;
        let stored = self.player_store.find(PlayerKey::Id(player)).await?;
        // It may have been replaced, or have logged out.
        let Some(known) = players.get(player).filter(|known| !known.is_logged_out()) else { return Ok(()) };
        match stored {
            Some(stored) => drop(players.change_account(&known, &stored)),
            None => self.forget(known),
        }
        Ok(())
    }

    /// Removes a player who was logged out on another node, from the rooms of this node, too.
    pub(super) fn forget(&self, player: Arc<Player>) {
        let host = self.host.clone();
        let context = Arc::clone(&host.context);
        context.players.revoke(&player);
        context.lifecycle.spawn(async move {
            for room in player.rooms() {
                // If this fails, the player's grace in the room starts below.
                let _ = host.command(room, Issuer::Player(player.id()), Command::Leave).await;
            }
            player.end_streams(StreamEnd::LoggedOut);
            host.context.players.announce(&player);
            host.context.players.remove(&player);
            check_presence(&host, &player, player.rooms());
        });
    }

    /// Leaves every room and ends the streams. Revokes the token and frees the name, unless the name is claimed and
    /// `give_up_name` is not set.
    ///
    /// # Errors
    /// When the store is unavailable (the player may have been removed), or a room could not be left.
    pub async fn log_out(&self, player: &Arc<Player>, give_up_name: bool) -> Result<(), RoomError> {
        let (this, player) = (self.clone(), Arc::clone(player));
        let removal = async move {
            let _changing = player.changing.lock().await;
            if player.is_replaced() { Err(RoomError::TokenReplaced) } else { this.remove(&player, give_up_name).await }
        };
        self.host.context.lifecycle.run_to_end(removal).await
    }

    /// As [`Sessions::log_out`], whatever token the player has.
    ///
    /// # Errors
    /// As for [`Sessions::log_out`], and when there is no such player.
    pub async fn log_out_as_admin(&self, player: PlayerId, give_up_name: bool) -> Result<(), RoomError> {
        let this = self.clone();
        let removal = async move {
            let players = &this.host.context.players;
            let account = players.get(player).ok_or(RoomError::PlayerNotFound)?;
            let _changing = account.changing.lock().await;
            let player = players.get(player).ok_or(RoomError::PlayerNotFound)?;
            this.remove(&player, give_up_name).await
        };
        self.host.context.lifecycle.run_to_end(removal).await
    }

    /// Keeps the player's name and token until [`Limits::claimed_idle`](super::Limits) after the last use.
    ///
    /// # Errors
    /// When too many names are claimed, the store is unavailable, or the player has logged out.
    pub async fn claim_name(&self, player: &Arc<Player>) -> Result<(), RoomError> {
        if !player.is_claimed() && !self.host.context.players.may_claim() {
            return Err(RoomError::QuotaNames);
        }
        self.change_account(player, |stored| StoredPlayer { claimed: true, ..stored }).await
    }

    /// Replaces the player's token by one that must be random, and ends what was opened with the old one, on all nodes.
    /// If several calls replace the same token, the one that is stored first succeeds.
    ///
    /// # Errors
    /// When the store is unavailable, the player has logged out, or the token was replaced meanwhile.
    pub async fn replace_token(&self, player: &Arc<Player>, token: &Token) -> Result<(), RoomError> {
        let token = token.hash().0;
        self.change_account(player, move |stored| StoredPlayer { token, ..stored }).await
    }

    /// Sets which invitations the player accepts.
    ///
    /// # Errors
    /// When the store is unavailable, the player has logged out, or the token was replaced meanwhile.
    pub async fn set_availability(&self, player: &Arc<Player>, accepted: Availability) -> Result<(), RoomError> {
        self.change_account(player, move |stored| StoredPlayer { availability: Some(accepted), ..stored }).await
    }

    /// Sets the version of a bot's engine. If it had another one, its rating becomes provisional.
    ///
    /// # Errors
    /// When the store is unavailable, the player has logged out, or the token was replaced meanwhile.
    pub async fn set_engine_version(
        &self,
        player: &Arc<Player>,
        engine_version: Option<EngineVersion>,
    ) -> Result<(), RoomError> {
        let change = |stored: StoredPlayer| {
            let profile = Profile { engine_version, ..stored.profile };
            StoredPlayer { profile, ..stored }
        };
        self.change_account(player, change).await
    }

    async fn change_account(
        &self,
        player: &Arc<Player>,
        change: impl FnOnce(StoredPlayer) -> StoredPlayer + Send + 'static,
    ) -> Result<(), RoomError> {
        let (this, player) = (self.clone(), Arc::clone(player));
        let changed = async move {
            let _changing = player.changing.lock().await;
            if player.is_logged_out() {
                return Err(RoomError::PlayerNotFound);
            }
            if player.is_replaced() {
                return Err(RoomError::TokenReplaced);
            }
            let before = if this.knows_all_tokens() {
                player.stored()
            } else {
                // Another node may have changed it since it was read here.
                let stored = this.player_store.find(PlayerKey::Id(player.id())).await?;
                stored.ok_or(RoomError::PlayerNotFound)?
            };
            if before.token != player.token_hash().0 {
                return Err(RoomError::TokenReplaced);
            }
            let after = change(before.clone());
            if after != before {
                let has_new_engine = after.profile.engine_version != before.profile.engine_version;
                if has_new_engine && before.profile.engine_version.is_some() {
                    // Before the version is stored, so that a repeat after a failure does it, too.
                    this.archive.make_provisional(player.id()).await?;
                }
                if !this.player_store.change_account(after.clone(), before).await? {
                    // It has changed on another node.
                    let found = this.player_store.find(PlayerKey::Id(player.id())).await?;
                    return Err(if found.is_some() { RoomError::TokenReplaced } else { RoomError::PlayerNotFound });
                }
                let players = &this.host.context.players;
                let player = players.change_account(&player, &after);
                players.tell_account(&player);
            }
            Ok(())
        };
        self.host.context.lifecycle.run_to_end(changed).await
    }

    /// Bans a name or a network on all nodes. Replaces earlier bans of the network, or of names that look like the
    /// name, and ends the streams of all players with such names. False if the maximum number of bans is reached.
    ///
    /// # Errors
    /// When the store is unavailable; the ban may be stored, and is then in force within a minute.
    pub async fn add_ban(&self, ban: Ban) -> Result<bool, RoomError> {
        let this = self.clone();
        let added = async move {
            let mut bans = this.bans().await?;
            bans.retain(|other| other.subject != ban.subject);
            let (alike, others): (Vec<_>, Vec<_>) =
                bans.into_iter().partition(|other| are_alike(&other.subject, &ban.subject));
            let is_added = others.len() < BANS;
            if is_added {
                let now = ban.since;
                this.player_store.put_ban(ban, now).await?;
                this.end_bans(&alike, now).await?;
            }
            Ok(is_added)
        };
        self.host.context.lifecycle.run_to_end(added).await
    }

    /// The bans in force, the newest first.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn bans(&self) -> Result<Vec<Ban>, RoomError> {
        let mut bans = self.player_store.bans().await?;
        bans.retain(|ban| ban.is_in_force(self.host.context.clock.now()));
        bans.sort_by_key(|ban| (Reverse(ban.since), ban.subject.to_string()));
        Ok(bans)
    }

    /// Ends the ban of a network, or the bans of all names that look like the name, and returns them.
    ///
    /// # Errors
    /// When the store is unavailable. Some bans may have ended.
    pub async fn remove_bans(&self, subject: BanSubject) -> Result<Vec<Ban>, RoomError> {
        let this = self.clone();
        let removed = async move {
            let (mut bans, now) = (this.bans().await?, this.host.context.clock.now());
            bans.retain(|ban| are_alike(&ban.subject, &subject));
            this.end_bans(&bans, now).await.map(|()| bans)
        };
        self.host.context.lifecycle.run_to_end(removed).await
    }

    /// Ends these bans, if any, and tells all nodes that bans have changed.
    async fn end_bans(&self, bans: &[Ban], now: Timestamp) -> Result<(), RoomError> {
        for ban in bans {
            self.player_store.put_ban(Ban { until: Some(now), ..ban.clone() }, now).await?;
        }
        self.host.context.cluster.tell_all(&News::Bans);
        Ok(self.read_bans().await?)
    }

    /// Reads the bans from the store, and ends the streams of players whose names are banned. All streams check for
    /// bans of addresses themselves.
    pub(super) async fn read_bans(&self) -> Result<(), StoreError> {
        let players = &self.host.context.players;
        let _reading = players.bans.reading.lock().await;
        players.bans.set(self.player_store.bans().await?);
        for player in players.all() {
            if player.streams.is_any_open() && players.bans.check(Some(&player), None).run().is_err() {
                let _changing = player.changing.lock().await;
                if !player.is_replaced() && !player.is_logged_out() {
                    players.replace(&player, player.token_hash(), StreamEnd::Banned);
                }
            }
        }
        Ok(())
    }

    /// As [`Sessions::read_bans`]. A failure is only logged, because the bans are read again soon.
    pub(super) async fn read_bans_again(&self) {
        if let Err(error) = self.read_bans().await {
            tracing::warn!(%error, "bans could not be read again");
        }
    }

    /// Logs a player out. Call while `changing` of the player is locked.
    async fn remove(&self, player: &Arc<Player>, give_up_name: bool) -> Result<(), RoomError> {
        if player.is_logged_out() {
            return Ok(());
        }
        let players = &self.host.context.players;
        let keeps_name = player.is_claimed() && !give_up_name;
        if keeps_name {
            player.quota.close();
        } else {
            self.player_store.remove_player(player.id()).await?;
            players.revoke(player);
        }
        let mut outcome = Ok(());
        for room in player.rooms() {
            let left = match self.host.command(room, Issuer::Player(player.id()), Command::Leave).await {
                Ok(_) | Err(RoomError::Rejected(Rejection::RoomNotFound)) => Ok(()),
                Err(error) => Err(error),
            };
            outcome = outcome.and(left);
        }
        if keeps_name && outcome.is_err() {
            player.quota.reopen();
            // Streams that were opened meanwhile were not counted.
            players.announce(player);
            return outcome;
        }
        // After leaving, so that rooms do not see a lost connection first.
        player.end_streams(StreamEnd::LoggedOut);
        if keeps_name {
            players.renew(player);
        } else {
            players.remove(player);
        }
        players.announce(player);
        players.tell_log_out(player.id());
        // Starts the grace in rooms that could not be left.
        check_presence(&self.host, player, player.rooms());
        outcome
    }
}

/// Removes the player of a failed log-in from the store. Retries while the store is unavailable, because the name is
/// free already.
async fn undo_log_in(player_store: Arc<dyn PlayerStore>, player: PlayerId, lifecycle: Lifecycle) {
    while player_store.remove_player(player).await.is_err_and(|error| error.is_fault()) {
        tokio::select! {
            biased;
            () = lifecycle.stop.cancelled() => return,
            () = tokio::time::sleep(STORE_RETRY) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use bytes::Bytes;

    use super::*;
    use crate::{
        room::AiSpec,
        runtime::{ClientAddresses, Limits, Opponent, Parts, Runtime, Turns, node::ACCOUNTS_INTERVAL},
        store::{MemoryStore, Store},
    };

    struct Server {
        runtime: Runtime,
        addresses: ClientAddresses,
    }

    impl Server {
        async fn with_places(players: usize) -> Self {
            let limits = Limits { players, ..Limits::default() };
            let store = Store::of(MemoryStore::default());
            let parts = Parts { limits, ai_threads: Some(0), ..Parts::new(store, |_, _| Bytes::new()) };
            Self { runtime: Runtime::start(parts).await.unwrap(), addresses: ClientAddresses::new(limits) }
        }

        /// A guest with a stream.
        async fn log_in(&self, name: &str, address: &str) -> Result<(Arc<Player>, Turns), LogInError> {
            let (name, address) = (DisplayName::parse(name).unwrap(), address.parse::<IpAddr>().unwrap());
            let address = Some(self.addresses.entry(address));
            let (player, _) = self.runtime.sessions.log_in(name, PlayerKind::Human, 0, None, address).await?;
            let turns = self.runtime.streams.turns(&player).await.unwrap();
            Ok((player, turns))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn guests_of_the_largest_network_make_room_with_open_streams_but_not_those_who_play() {
        let server = Server::with_places(6).await;
        let (idle, turns) = server.log_in("idle", "192.0.2.9").await.unwrap();
        drop(turns);
        tokio::time::advance(Limits::default().guest_idle).await;
        let mut flood = Vec::new();
        for number in 1..=4 {
            let address = format!("2001:db8:1:{number}00::1");
            flood.push(server.log_in(&format!("flood {number}"), &address).await.unwrap());
        }
        let ada = server.log_in("Ada", "192.0.2.1").await.unwrap();
        let ai = Opponent::Ai(AiSpec { kind: "random".into(), level: Some(1), seed: Some(7) });
        let games = &server.runtime.rooms;
        games.quick_start(&flood[0].0, ai, None, None, None).await.unwrap();
        let mut stay = vec![ada];
        for number in 1..=3 {
            stay.push(server.log_in(&format!("new {number}"), &format!("198.51.{number}.1")).await.unwrap());
        }
        assert!(stay.iter().all(|(player, _)| !player.is_logged_out()));
        assert!(!idle.is_logged_out(), "the large network first");
        let logged_out: Vec<_> = flood.iter().map(|(player, _)| player.is_logged_out()).collect();
        assert_eq!(logged_out, [false, true, true, true], "one plays");
        assert_eq!(flood[1].0.stream_end(), Some(StreamEnd::LoggedOut));
        stay.push(server.log_in("Cyd", "203.0.112.1").await.unwrap());
        assert!(idle.is_logged_out());
        let full = server.log_in("Bea", "203.0.113.1").await.err();
        assert_eq!(full, Some(LogInError::Full), "no network has two guests");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stored_ban_whose_write_seemed_to_fail_comes_into_force() {
        let server = Server::with_places(6).await;
        let (eve, _turns) = server.log_in("Eve", "192.0.2.1").await.unwrap();
        let (subject, since) = (BanSubject::Name(eve.name.clone()), server.runtime.clock().now());
        let ban = Ban { subject, reason: None, since, until: None };
        server.runtime.sessions.player_store.put_ban(ban, since).await.unwrap();
        assert_eq!(eve.stream_end(), None);
        tokio::time::sleep(ACCOUNTS_INTERVAL * 2).await;
        assert_eq!(eve.stream_end(), Some(StreamEnd::Banned));
    }
}
