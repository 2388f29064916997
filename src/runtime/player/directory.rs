//! The players of the server, by id, by token and by name.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use dashmap::{DashMap, Entry};
use foldhash::fast::RandomState;
use thiserror::Error;

use super::{
    attached::Attached,
    bans::{Banned, Bans},
    confusable_names,
    guests::Guests,
    player::Player,
    quota::Place,
    rating_weight::Pairings,
    token::{BearerToken, Token, TokenHash},
    visitors::Visitors,
};
use crate::{
    room::{DisplayName, EngineVersion, GameRecord, Participant, PlayerId, PlayerKind, Profile, RoomId, Timestamp},
    rules::ByColor,
    runtime::{
        cluster::cluster::Cluster,
        lifecycle::Lifecycle,
        limit::{
            client_address::{ClientAddress, Prefix},
            in_force::LimitsInForce,
        },
        outcome::{RoomError, StreamEnd},
        random::RandomSource,
        server_clock::Clock,
    },
    store::{EndedGame, StoredPlayer},
};

/// Why a log-in is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LogInError {
    /// Another player has the name.
    #[error("the name is in use")]
    NameTaken,
    /// Another player has a name that looks the same.
    #[error("the name looks like that of another player")]
    NameAlike,
    /// A player with this name would pose as the server or as one of its AIs.
    #[error("the name is that of the server or of an AI")]
    NameReserved,
    /// The server has reached its limit of players, and no guest can be removed.
    #[error("the server is full")]
    Full,
    /// The name is banned.
    #[error(transparent)]
    Banned(#[from] Banned),
    /// The address has reached its limit of players.
    #[error("the address has too many players")]
    AddressFull,
    /// A bot requests more seats than the limit.
    #[error("a bot may hold at most {0} seats")]
    TooManySeats(u16),
    /// The server is shutting down, or the store is unavailable.
    #[error(transparent)]
    Closed(#[from] RoomError),
}

/// The players of the server.
#[derive(Default)]
pub struct Players {
    pub(super) by_id: DashMap<PlayerId, Arc<Player>, RandomState>,
    pub(super) by_token: DashMap<u64, Arc<Player>>,
    /// Names in use, and those reserved by log-ins that are not stored yet.
    pub(super) by_name: DashMap<String, PlayerId>,
    /// The skeletons of these names. A stored name that looks like one before it has no entry.
    by_skeleton: DashMap<String, PlayerId>,
    guests: Mutex<Guests>,
    /// Callers without a token. They are in none of the other maps.
    pub(super) visitors: Visitors,
    pairings: Pairings,
    /// Banned names and networks.
    pub bans: Arc<Bans>,
    /// Number of players who have claimed their names.
    pub(super) claimed: AtomicUsize,
    /// Number of log-outs and changes of accounts that this node has made or heard of.
    pub(super) account_changes: AtomicU64,
    /// Those with streams on other nodes.
    pub(crate) attached: Attached,
    pub(super) limits: LimitsInForce,
    pub(super) clock: Clock,
    random: RandomSource,
    admin: Option<TokenHash>,
    pub(super) lifecycle: Lifecycle,
    pub(super) cluster: Arc<Cluster>,
}

impl Players {
    pub(crate) fn new(
        limits: LimitsInForce,
        clock: Clock,
        random: RandomSource,
        admin: Option<&Token>,
        lifecycle: Lifecycle,
        cluster: Arc<Cluster>,
    ) -> Self {
        let (admin, bans) = (admin.map(Token::hash), Arc::new(Bans::new(clock)));
        Self { limits, clock, random, admin, bans, lifecycle, cluster, ..Self::default() }
    }

    /// The player of a token.
    #[must_use]
    pub fn bearer(&self, token: impl Into<BearerToken>) -> Option<Arc<Player>> {
        token.into().hashes().find_map(|hash| {
            let player = self.by_token.get(&hash.key())?;
            player.token_hash().is(&hash).then(|| Arc::clone(&player))
        })
    }

    /// True if it is the administrator's token.
    #[must_use]
    pub fn is_admin(&self, token: &Token) -> bool {
        self.admin.is_some_and(|admin| admin.is(&token.hash()))
    }

    /// The player of a name, in any case.
    #[must_use]
    pub fn named(&self, name: &DisplayName) -> Option<Arc<Player>> {
        let id = *self.by_name.get(&name.key())?;
        self.get(id)
    }

    /// The player of an id.
    #[must_use]
    pub fn get(&self, id: PlayerId) -> Option<Arc<Player>> {
        self.by_id.get(&id).map(|player| Arc::clone(&player))
    }

    pub(crate) fn count(&self) -> usize {
        self.by_id.len()
    }

    /// Reserves a name for a new player, who becomes visible in [`Players::admit`].
    pub(crate) fn reserve(
        &self,
        name: DisplayName,
        kind: PlayerKind,
        seats: u16,
        engine_version: Option<EngineVersion>,
    ) -> Result<(StoredPlayer, Token), LogInError> {
        if confusable_names::is_reserved(&name) {
            return Err(LogInError::NameReserved);
        }
        self.bans.require_name(&name)?;
        let limits = self.limits.get();
        if self.by_name.len() >= limits.players {
            return Err(LogInError::Full);
        }
        let seats = match kind {
            PlayerKind::Human => limits.seats_per_human,
            PlayerKind::Bot if seats > limits.seats_per_bot => {
                return Err(LogInError::TooManySeats(limits.seats_per_bot));
            }
            PlayerKind::Bot => seats.max(1),
        };
        let id = PlayerId::from_random(self.random.bits());
        match self.by_name.entry(name.key()) {
            Entry::Occupied(_) => return Err(LogInError::NameTaken),
            Entry::Vacant(free) => free.insert(id),
        };
        let profile = Profile { id, name, kind, engine_version };
        if !self.reserve_skeletons(&profile) {
            self.release_name(&profile);
            return Err(LogInError::NameAlike);
        }
        let token = Token::generate(&self.random);
        let (token_hash, seen) = (token.hash().0, self.clock.now());
        Ok((
            StoredPlayer { profile, seats, token: token_hash, seen, claimed: false, availability: None, played: false },
            token,
        ))
    }

    /// Makes a player with a reserved name visible.
    pub(crate) fn admit(&self, enrolled: StoredPlayer) -> Arc<Player> {
        let player = Arc::new(Player::new(enrolled, self.clock, &self.limits.get()));
        self.enter(Arc::clone(&player));
        player
    }

    fn enter(&self, player: Arc<Player>) {
        self.by_id.insert(player.id(), Arc::clone(&player));
        self.enter_token(&player);
        if player.is_guest() {
            self.file_guest(&player, player.last_use(self.clock.now()));
        }
        self.end_if_closed(&player);
    }

    /// Sets the address of a player who has just logged in.
    pub(crate) fn set_home(&self, player: &Player, address: &Arc<ClientAddress>) {
        player.set_home(address);
        self.file_guest(player, player.last_use(self.clock.now()));
    }

    pub(super) fn file_guest(&self, player: &Player, used: Timestamp) {
        let home = player.quota.home().and_then(|home| home.distinct_prefix());
        self.guests().insert(player.id(), used, home);
    }

    /// Whether no other name looks like this one.
    fn reserve_skeletons(&self, profile: &Profile) -> bool {
        let skeletons = confusable_names::skeletons(profile.name.as_str());
        skeletons.map(|skeleton| *self.by_skeleton.entry(skeleton).or_insert(profile.id) == profile.id) == [true, true]
    }

    pub(crate) fn release_name(&self, profile: &Profile) {
        for skeleton in confusable_names::skeletons(profile.name.as_str()) {
            self.by_skeleton.remove_if(&skeleton, |_, id| *id == profile.id);
        }
        self.by_name.remove_if(&profile.name.key(), |_, id| *id == profile.id);
    }

    /// Restores a stored player at start-up. It is present as after a call: no grace passes while the server is down.
    pub(crate) fn restore(&self, mut enrolled: StoredPlayer) {
        if !enrolled.claimed && !enrolled.played {
            // The stored time is less precise than the idle time of guests.
            enrolled.seen = self.clock.now();
        }
        match self.by_name.entry(enrolled.profile.name.key()) {
            Entry::Occupied(_) => tracing::error!(player = %enrolled.profile.id, "a name is registered twice"),
            Entry::Vacant(free) => {
                free.insert(enrolled.profile.id);
                // Names that are stored stay, also those that would be refused today.
                self.reserve_skeletons(&enrolled.profile);
                self.claimed.fetch_add(usize::from(enrolled.claimed), Relaxed);
                self.admit(enrolled);
            }
        }
    }

    /// True if another name may be claimed: at most half of all places are for claimed names, the rest is for guests.
    pub(crate) fn may_claim(&self) -> bool {
        self.claimed.load(Relaxed) < self.limits.get().players.div_ceil(2)
    }

    /// Takes over what has changed of a stored player. If the token is a new one, the player's streams
    /// end. Returns the player with the stored token.
    pub(crate) fn change_account(&self, player: &Arc<Player>, stored: &StoredPlayer) -> Arc<Player> {
        let token = TokenHash(stored.token);
        if stored.claimed && !player.is_claimed() {
            self.claimed.fetch_add(1, Relaxed);
        }
        player.set_stored(stored);
        if player.token_hash().0 == token.0 {
            self.enter_token(player);
            Arc::clone(player)
        } else {
            self.replace(player, token, StreamEnd::LoggedOut)
        }
    }

    /// Replaces a player by another `Player` of the same account with this token, which may be the old one. Ends the
    /// streams of the old one.
    pub(crate) fn replace(&self, player: &Player, token: TokenHash, end: StreamEnd) -> Arc<Player> {
        let (old, renewed) = (player.token_hash(), Arc::new(player.with_token(token)));
        // So that a stream of turns that is opening with the old token cannot end one of the new token.
        let told = player.streams.told();
        player.replace(end);
        drop(told);
        self.end_if_closed(&renewed);
        self.by_id.insert(renewed.id(), Arc::clone(&renewed));
        self.enter_token(&renewed);
        if old.key() != token.key() {
            self.by_token.remove(&old.key());
        }
        renewed
    }

    /// Replaces a player who has left every room by the same player without streams. The name stays taken.
    pub(crate) fn renew(&self, player: &Player) {
        self.enter(Arc::new(player.renewed(self.clock, &self.limits.get())));
    }

    /// A game that ends now, with its weight for ratings.
    pub(crate) fn weigh(&self, record: GameRecord) -> EndedGame {
        // Bots may have other engines than when they entered the room.
        let record = record.with_profiles(|profile| self.get(profile.id).map_or(profile, |player| player.profile()));
        let weight = self.pairings.note(&record, &self.homes(&record));
        if record.end.counts() {
            let players = record.players.iter().filter_map(|(_, player)| player.id());
            players.filter_map(|id| self.get(id)).for_each(|player| player.note_played());
        }
        EndedGame { record, weight }
    }

    /// Undoes [`Players::weigh`] for a game that could not be stored.
    pub(crate) fn unweigh(&self, game: &EndedGame) {
        self.pairings.forget(&game.record, &self.homes(&game.record));
    }

    /// The addresses of the players of a game, where they tell players apart.
    fn homes(&self, game: &GameRecord) -> ByColor<Option<Prefix>> {
        ByColor::from_fn(|side| match &game.players[side] {
            Participant::Player(profile) => self.get(profile.id)?.quota.home()?.distinct_prefix(),
            Participant::Ai(_) => None,
        })
    }

    /// Revokes the token; the name stays taken until [`Players::remove`].
    pub(crate) fn revoke(&self, player: &Player) {
        player.quota.close();
        self.note_account_change();
        self.by_token.remove(&player.token_hash().key());
    }

    /// Removes the player and frees the name.
    pub(crate) fn remove(&self, player: &Player) {
        self.revoke(player);
        self.guests().remove(player.id());
        if self.by_id.remove(&player.id()).is_some() {
            self.claimed.fetch_sub(usize::from(player.is_claimed()), Relaxed);
        }
        self.release_name(&player.profile());
    }

    /// Revokes the token of a player who was last in use before `before`. False if the player is not idle.
    pub(crate) fn revoke_idle(&self, player: &Player, before: Timestamp) -> bool {
        let idle = player.close_if_idle(before);
        if idle {
            self.by_token.remove(&player.token_hash().key());
        }
        idle
    }

    /// Removes the copy of a player who is idle here. It is found in the store when it calls again. False if the player
    /// is not idle.
    pub(super) fn forget_copy(&self, player: &Arc<Player>, before: Timestamp) -> bool {
        let idle = self.revoke_idle(player, before);
        if idle {
            // A stream may be opening now. Its client opens it again.
            player.end_streams(StreamEnd::Draining);
            self.remove(player);
        }
        idle
    }

    /// Undoes [`Players::revoke_idle`].
    pub(crate) fn reinstate(&self, player: &Arc<Player>) {
        player.quota.reopen();
        // It may have been replaced meanwhile, so that it can have streams again.
        let present = self.get(player.id()).filter(|known| known.token_hash().0 == player.token_hash().0);
        self.by_token.insert(player.token_hash().key(), present.unwrap_or_else(|| Arc::clone(player)));
    }

    /// The visitor of an address: the caller of all its calls without a token.
    pub(crate) fn visitor(&self, address: Option<&Arc<ClientAddress>>) -> Arc<Player> {
        let limits = self.limits.get();
        let new = || Player::visitor(PlayerId::from_random(self.random.bits()), address, self.clock, &limits);
        let visitor = self.visitors.of(address.map(|address| address.prefix()), limits.addresses, new);
        self.end_if_closed(&visitor);
        visitor
    }

    pub(crate) fn forget_unused_visitors(&self, before: Timestamp) {
        self.visitors.forget_unused(before);
    }

    /// Ends all streams.
    pub(crate) fn end_streams(&self, end: StreamEnd) {
        self.all().iter().chain(&self.visitors.all()).for_each(|player| player.end_streams(end));
    }

    /// Players who were last in use more than `step` after the stored time, with the time of that use.
    pub(crate) fn unstored_use(&self, step: Duration) -> Vec<(PlayerId, Timestamp)> {
        let now = self.clock.now();
        self.all().iter().filter_map(|player| player.unstored(player.last_use(now), step)).collect()
    }

    /// Notes the times that are stored now.
    pub(crate) fn note_stored_seen(&self, seen: &[(PlayerId, Timestamp)]) {
        for (player, seen) in seen {
            if let Some(player) = self.get(*player) {
                player.streams.note_stored_seen(*seen);
            }
        }
    }

    /// Players who are in no room and have made no request since `before`, which depends on the player.
    pub(crate) fn idle(&self, before: impl Fn(&Player) -> Timestamp) -> Vec<Arc<Player>> {
        self.filter(|player| player.is_idle(before(player)))
    }

    pub(super) fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Members of rooms who have no stream.
    pub(crate) fn without_stream(&self) -> Vec<Arc<Player>> {
        self.filter(|player| {
            let has_stream = player.streams.is_any_open() || self.attached.is_present(player.id());
            !has_stream && player.quota.has_confirmed(Place::Room)
        })
    }

    /// Forgets what players hold in rooms that have moved to other nodes.
    pub(crate) fn release(&self, has_moved: impl Fn(RoomId) -> bool) {
        self.by_id.iter().for_each(|player| player.quota.release(&has_moved));
    }

    /// Players whose quota counts a room or a seat in it.
    pub(crate) fn with_place_in(&self, room: RoomId) -> Vec<Arc<Player>> {
        self.filter(|player| player.quota.counts(room))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Player>> {
        self.filter(|_| true)
    }

    fn filter(&self, mut wanted: impl FnMut(&Player) -> bool) -> Vec<Arc<Player>> {
        let mut found: Vec<_> =
            self.by_id.iter().filter(|player| wanted(player)).map(|player| Arc::clone(&player)).collect();
        // The map's order differs between processes.
        found.sort_unstable_by_key(|player| player.id());
        found
    }
}

#[cfg(test)]
impl Players {
    pub(crate) fn with_limits(limits: crate::runtime::Limits) -> Self {
        Self { limits: limits.into(), ..Self::default() }
    }

    pub(crate) fn log_in(
        &self,
        name: DisplayName,
        kind: PlayerKind,
        seats: u16,
    ) -> Result<(Arc<Player>, Token), LogInError> {
        let (enrolled, token) = self.reserve(name, kind, seats, None)?;
        Ok((self.admit(enrolled), token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{ClientAddresses, Limits, Resource};

    #[test]
    fn only_idle_players_are_removed() {
        let players = Players::default();
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, token) = players.log_in(name, PlayerKind::Human, 0).unwrap();
        let never = Timestamp(1);
        assert!(!players.revoke_idle(&ada, never), "has just logged in");
        let later = Timestamp(i64::MAX);
        ada.streams.open();
        assert!(!players.revoke_idle(&ada, later), "has a stream");
        assert!(ada.streams.close());
        assert!(!players.revoke_idle(&ada, never), "has just closed its stream");
        ada.quota.note(Place::Room, RoomId::from_random(1), true);
        assert!(!players.revoke_idle(&ada, later), "is a member");
        ada.quota.note(Place::Room, RoomId::from_random(1), false);
        assert!(players.revoke_idle(&ada, later) && ada.is_logged_out() && players.bearer(&token).is_none());
        players.reinstate(&ada);
        assert!(!ada.is_logged_out() && players.bearer(&token).is_some());
        assert!(players.revoke_idle(&ada, later));
        players.remove(&ada);
        assert!(players.get(ada.id()).is_none() && players.guests().first().is_none());
    }

    #[test]
    fn a_player_is_visible_only_when_admitted() {
        let players = Players::default();
        let name = DisplayName::parse("Ada").unwrap();
        let (enrolled, token) = players.reserve(name.clone(), PlayerKind::Human, 0, None).unwrap();
        let id = enrolled.profile.id;
        assert!(players.bearer(&token).is_none() && players.named(&name).is_none() && players.get(id).is_none());
        assert_eq!(players.reserve(name.clone(), PlayerKind::Human, 0, None).unwrap_err(), LogInError::NameTaken);
        players.admit(enrolled);
        assert!(players.bearer(&token).is_some() && players.named(&name).is_some() && players.get(id).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn each_search_for_an_idle_guest_finds_another() {
        let players = Players::default();
        let [ada, bea] = ["Ada", "Bea"].map(|name| {
            let (player, _) = players.log_in(DisplayName::parse(name).unwrap(), PlayerKind::Human, 0).unwrap();
            player.id()
        });
        tokio::time::advance(Duration::from_secs(61)).await;
        let found = [(); 3].map(|()| players.longest_idle_guest().map(|(guest, _)| guest.id()));
        assert!(found == [Some(ada), Some(bea), None] || found == [Some(bea), Some(ada), None]);
    }

    #[test]
    fn a_new_token_replaces_the_old_one_and_claims_no_further_name() {
        let players = Players::with_limits(Limits { players: 4, ..Limits::default() });
        let (ada, old) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        let new = Token::generate(&RandomSource::default());
        for token in [&old, &new] {
            let ada = players.get(ada.id()).unwrap();
            players.change_account(&ada, &StoredPlayer { token: token.hash().0, claimed: true, ..ada.stored() });
        }
        assert!(players.bearer(&new).is_some() && players.bearer(&old).is_none());
        assert!(players.by_token.len() == 1 && players.may_claim(), "one of two names");
    }

    #[test]
    fn names_that_were_claimed_before_a_restart_count() {
        let earlier = Players::default();
        let (ada, _) = earlier.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        let players = Players::with_limits(Limits { players: 2, ..Limits::default() });
        players.restore(StoredPlayer { claimed: true, ..ada.stored() });
        assert!(!players.may_claim());
    }

    #[test]
    fn a_log_out_that_keeps_the_name_resets_no_rate() {
        let players = Players::with_limits(Limits { request_burst: 1, ..Limits::default() });
        let (ada, _) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        ada.admit().unwrap();
        players.renew(&ada);
        assert!(players.get(ada.id()).unwrap().admit().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn when_a_player_was_last_seen_is_stored_after_a_log_out_that_keeps_the_name() {
        let (players, hour) = (Players::default(), Duration::from_secs(60 * 60));
        let (ada, _) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        tokio::time::advance(2 * hour).await;
        ada.admit().unwrap();
        players.renew(&ada);
        assert_eq!(players.unstored_use(hour).len(), 1);
    }

    #[test]
    fn a_name_that_is_kept_at_log_out_counts_at_the_address() {
        let limits = Limits { players_per_address: 1, ..Limits::default() };
        let home = ClientAddresses::new(limits).entry([192, 0, 2, 1].into());
        let players = Players::default();
        let (ada, _) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        ada.set_home(&home);
        players.change_account(&ada, &StoredPlayer { claimed: true, ..ada.stored() });
        players.revoke(&ada);
        players.renew(&ada);
        drop(ada);
        assert!(!home.try_add(Resource::Players));
    }

    #[test]
    fn a_name_belongs_to_one_player_whatever_its_case() {
        let players = Players::default();
        let name = |text| DisplayName::parse(text).unwrap();
        let (ada, token) = players.log_in(name("Ada"), PlayerKind::Human, 0).unwrap();
        assert_eq!(players.log_in(name("ADA"), PlayerKind::Bot, 1).unwrap_err(), LogInError::NameTaken);
        assert!(players.bearer(&token).is_some());
        players.remove(&ada);
        assert!(players.bearer(&token).is_none());
        assert!(players.log_in(name("ada"), PlayerKind::Human, 0).is_ok());
    }

    #[test]
    fn no_two_names_look_alike_but_those_that_are_stored() {
        let players = Players::default();
        let log_in = |text| players.log_in(DisplayName::parse(text).unwrap(), PlayerKind::Human, 0);
        let (paul, _) = log_in("Paul").unwrap();
        for name in ["Pau1", "PauI", "\u{420}aul"] {
            assert_eq!(log_in(name).unwrap_err(), LogInError::NameAlike, "{name}");
        }
        assert_eq!(log_in("PAUL").unwrap_err(), LogInError::NameTaken);
        players.remove(&paul);
        let (heir, _) = log_in("Pau1").unwrap();

        let stored = |number, text| {
            let (id, name) = (PlayerId::from_random(number), DisplayName::from_stored(text).unwrap());
            let profile = Profile { id, name, ..heir.profile() };
            let token = Token::generate(&RandomSource::default()).hash().0;
            StoredPlayer { profile, token, seen: Timestamp(1), ..heir.stored() }
        };
        for (number, name) in [(1, "Paul"), (2, "Admin"), (3, "a\u{ad}b")] {
            players.restore(stored(number, name));
            let restored = players.get(PlayerId::from_random(number)).unwrap();
            assert!(!restored.is_idle(Timestamp(1_000)), "{name}: guests do not age while the server is down");
        }
        players.remove(&players.get(PlayerId::from_random(1)).unwrap());
        assert_eq!(log_in("paul").unwrap_err(), LogInError::NameAlike, "the heir has it");
        players.remove(&heir);
        assert!(log_in("paul").is_ok());
    }
}
