//! Operations of players on open rooms: entering, playing and reading them.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::sync::{Mutex, oneshot};

use super::{
    host::RoomHost,
    message::{Snapshot, WatchAccess},
    password_hashing::Passwords,
    places::ReservedPlace,
    presence::check_presence,
};
use crate::{
    ai::{AiKind, AiPlayer},
    room::{
        AiSeat, AiSpec, Command, Credentials, GameId, Invitation as SeatInvitation, Issuer, JoinCode, Occupant, Offer,
        PlayerId, Rejection, Room, RoomId, SeatSetting, SeatSpec,
    },
    rules::{Color, Square},
    runtime::{
        limit::{invitation_limit::Invitation, password_guesses::PasswordGuesses, rate_limiter::TooFast},
        lobby::waiting_rooms::WaitingRooms,
        outcome::{Accepted, RoomError},
        player::{player::Player, quota::Place},
        random::RandomSource,
    },
    store::{Archive, Contestant, StoreError},
};

/// The open rooms, for players and administrators. Clones are handles to the same rooms.
#[derive(Clone)]
pub struct Rooms {
    pub(crate) host: RoomHost,
    pub(crate) waiting: Arc<Mutex<WaitingRooms>>,
    pub(crate) passwords: Arc<Passwords>,
    pub(crate) guesses: Arc<PasswordGuesses>,
    pub(crate) random: RandomSource,
    pub(crate) archive: Arc<dyn Archive>,
}

impl Rooms {
    /// Executes a player's command.
    ///
    /// # Errors
    /// Why the command was refused or failed.
    pub async fn command(&self, player: &Arc<Player>, room: RoomId, command: Command) -> Result<Accepted, RoomError> {
        let lifecycle = &self.host.context.lifecycle;
        if is_refused_while_draining(&command) {
            lifecycle.require_running()?;
        }
        if matches!(command, Command::Chat(_)) {
            player.admit_chat().map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
        }
        if matches!(command, Command::Join(..) | Command::TakeSeat(_) | Command::JoinGame(..)) {
            let (this, player) = (self.clone(), Arc::clone(player));
            return lifecycle.run_to_end(async move { this.occupy(&player, room, command).await }).await;
        }
        self.host.command(room, Issuer::Player(player.id()), command).await
    }

    /// Executes an administrator's command.
    ///
    /// # Errors
    /// Why the command was refused or failed.
    pub async fn command_as_admin(&self, room: RoomId, command: Command) -> Result<Accepted, RoomError> {
        self.host.command(room, Issuer::Admin, command).await
    }

    /// Makes a player a member, in the seat that is kept for it, if there is one and the player may have another seat.
    ///
    /// # Errors
    /// Why the player was not admitted.
    pub async fn join(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        credentials: Credentials,
    ) -> Result<Accepted, RoomError> {
        let joined = self.command(player, room, Command::Join(player.profile(), credentials)).await?;
        let found = self.snapshot_as_admin(room).await?.room;
        let is_kept = |side: &Color| found.seats()[*side].occupant.guest().is_some_and(|guest| guest.id == player.id());
        match Color::ALL.into_iter().find(is_kept) {
            // For it the player leaves no other room.
            Some(side) if found.seat_of(player.id()).is_none() && self.has_free_seat(player, room).await? => {
                match self.command(player, room, Command::TakeSeat(side)).await {
                    // The seat is kept on: the player is a member, and can take it later.
                    Err(RoomError::Rejected(_) | RoomError::QuotaSeats | RoomError::QuotaSeatsPlaying(_)) => Ok(joined),
                    outcome => outcome,
                }
            }
            _ => Ok(joined),
        }
    }

    /// Makes a seat open, reserved or an AI's, or invites a player to it.
    ///
    /// # Errors
    /// When the player or AI is unknown, or the room refuses.
    pub async fn set_seat(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        seat: Color,
        spec: SeatSpec,
    ) -> Result<Accepted, RoomError> {
        let (this, player) = (self.clone(), Arc::clone(player));
        // To the end: an invitation counts, even if the caller no longer waits for the answer.
        let set = async move {
            let lasts = if let SeatSpec::Invited(_, lasts) = &spec { *lasts } else { Duration::ZERO };
            let found = match spec {
                SeatSpec::Invited(..) | SeatSpec::Reserved(_) => {
                    let found = this.current(&player, room, &Credentials::default()).await?.room;
                    if !found.may_manage(player.id()) {
                        return Err(Rejection::NotOwner.into());
                    }
                    Some(found)
                }
                _ => None,
            };
            let settings = found.as_deref().map(Room::settings);
            let (occupant, invitation) = this.occupant(&player, spec, settings).await?;
            let setting = match occupant {
                Occupant::Open => SeatSetting::Open,
                Occupant::Reserved(guest) | Occupant::Player(guest) => SeatSetting::Reserved(guest),
                Occupant::Invited(SeatInvitation { guest, by_rating, .. }) => {
                    SeatSetting::Invited { guest, lasts, by_rating }
                }
                Occupant::Ai(ai) => SeatSetting::Ai(ai),
            };
            let outcome = this.command(&player, room, Command::SetSeat(seat, setting)).await;
            if outcome.as_ref().map_or_else(RoomError::is_unknown, |accepted| accepted.changed) {
                invitation.into_iter().for_each(Invitation::keep);
            }
            outcome
        };
        self.host.context.lifecycle.run_to_end(set).await
    }

    /// Plays a move. If the room is idle, its actor runs within this call: the caller must be a task and hold no lock.
    #[must_use]
    pub fn play(&self, player: &Player, game: GameId, ply: u16, square: Square) -> Play {
        let issuer = Issuer::Player(player.id());
        let play = Command::Play { game: game.number, ply, square, thought: None };
        let live = self.host.context.registry.live(game.room);
        if let Some(answer) = live.and_then(|room| room.command_inline(issuer, play.clone())) {
            return Play(Sent::Inline(answer));
        }
        let host = self.host.clone();
        Play(Sent::Queued(Box::pin(async move { host.command(game.room, issuer, play).await })))
    }

    /// The state of a room as the player may see it.
    ///
    /// # Errors
    /// When it does not exist, or the player may not see it.
    pub async fn snapshot(
        &self,
        player: &Player,
        room: RoomId,
        credentials: &Credentials,
    ) -> Result<Snapshot, RoomError> {
        let current = self.current(player, room, credentials).await?;
        if !current.room.is_delayed_for(player.id()) {
            return Ok(current);
        }
        let access = WatchAccess::Player(player.id(), credentials.clone());
        Ok(self.host.watched(room, &access).await?.0)
    }

    /// The state of a room for the holder of its join code who may not watch it. Its game is not to be shown.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn snapshot_for_invited(&self, room: RoomId) -> Result<Snapshot, RoomError> {
        Ok(self.host.watched(room, &WatchAccess::Delayed).await?.0)
    }

    /// The current state of a room, to decide by. Its games are shown to the player only if they are not delayed.
    ///
    /// # Errors
    /// When it does not exist, or the player may not see it.
    pub async fn current(
        &self,
        player: &Player,
        room: RoomId,
        credentials: &Credentials,
    ) -> Result<Snapshot, RoomError> {
        let current = self.snapshot_as_admin(room).await?;
        current.room.may_watch(player.id(), credentials)?;
        Ok(current)
    }

    /// The current state of a room, for an administrator.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn snapshot_as_admin(&self, room: RoomId) -> Result<Snapshot, RoomError> {
        self.host.snapshot(room).await
    }

    /// The room of a join code, which is not counted as a guess.
    #[must_use]
    pub fn by_code(&self, code: JoinCode) -> Option<RoomId> {
        self.host.context.registry.by_code(code)
    }

    /// The running games in these rooms.
    pub async fn games_in(&self, rooms: &[RoomId]) -> Vec<GameId> {
        let mut games = Vec::new();
        for &room in rooms {
            let Ok(snapshot) = self.snapshot_as_admin(room).await else { continue };
            games.extend(snapshot.room.running().map(|game| GameId { room, number: game.number }));
        }
        games
    }

    /// The seat of an AI.
    ///
    /// # Errors
    /// When there is no such AI.
    pub fn ai_seat(&self, spec: &AiSpec) -> Result<AiSeat, RoomError> {
        let kind: AiKind = spec.kind.parse().map_err(|_| RoomError::UnknownAi)?;
        let level = spec.level.unwrap_or(kind.profile().default_level);
        AiPlayer::new(kind, level).map_err(|_| RoomError::UnknownAi)?;
        let seed = spec.seed.unwrap_or_else(|| self.random.bits());
        Ok(AiSeat { kind: kind.to_string().into(), level, seed })
    }

    /// Fails while the player plays a rated game, which no analysis may assist.
    pub(crate) async fn require_no_rated_game(&self, player: &Player) -> Result<(), RoomError> {
        for room in self.seats_of(player).await? {
            let snapshot = match self.snapshot_as_admin(room).await {
                // The room has closed.
                Err(RoomError::Rejected(_)) => continue,
                outcome => outcome?,
            };
            if snapshot.room.running().is_some() && snapshot.room.settings().rated {
                return Err(Rejection::WrongPhase("you play a rated game; analyse when it is over").into());
            }
        }
        Ok(())
    }

    /// Joins a room or takes a seat, within the player's quota.
    async fn occupy(&self, player: &Arc<Player>, room: RoomId, command: Command) -> Result<Accepted, RoomError> {
        // First finds out whether a room of this node exists.
        if self.host.context.cluster.serves(room)
            && let Err(error @ RoomError::Rejected(_)) = self.host.room(room).await
        {
            return Err(error);
        }
        let takes_seat = matches!(command, Command::TakeSeat(_) | Command::JoinGame(..));
        let joins = matches!(command, Command::Join(..) | Command::JoinGame(..));
        if let Command::TakeSeat(side) = command {
            self.require_accepted_rating(player, room, side).await?;
        }
        // Before the command, so that two concurrent requests cannot both get the last place.
        let seat = if takes_seat { Some(self.seat_to_take(player, room, &command).await?) } else { None };
        let membership = if joins { Some(self.reserve_room(player, room).await?) } else { None };
        let outcome = self.host.command(room, Issuer::Player(player.id()), command).await;
        if outcome.as_ref().is_err_and(RoomError::is_unknown) {
            seat.into_iter().chain(membership).for_each(ReservedPlace::let_expire);
            return outcome;
        }
        if joins && outcome.is_ok() && player.is_logged_out() {
            // The log-out has left only the rooms known at that time.
            return self.leave_after_log_out(player, room).await;
        }
        outcome
    }

    /// Fails for an open seat that is for players of other ratings.
    async fn require_accepted_rating(&self, player: &Player, room: RoomId, side: Color) -> Result<(), RoomError> {
        let found = self.snapshot_as_admin(room).await?.room;
        let opponents = found.settings().opponents;
        let is_open = matches!(found.seats()[side].occupant, Occupant::Open) && found.seat_of(player.id()).is_none();
        // The room refuses others without a look at their ratings.
        let is_member = found.member(player.id()).is_some();
        if !is_member
            || !is_open
            || found.is_owned_by(player.id())
            || !opponents.have_range()
            || opponents.accept_rating(self.rating(player.id()).await?)
        {
            Ok(())
        } else {
            Err(Rejection::NotAccepted.into())
        }
    }

    /// A player's rating, rounded, if it has one.
    pub(super) async fn own_rating(&self, player: PlayerId) -> Result<Option<u16>, StoreError> {
        let stats = self.archive.player_stats(Contestant::Player(player)).await?;
        Ok(stats.rating.map(|rating| rating.rounded()))
    }

    /// A player's rating, rounded; without a rated game that with which all begin.
    pub(in crate::runtime) async fn rating(&self, player: PlayerId) -> Result<u16, StoreError> {
        let stats = self.archive.player_stats(Contestant::Player(player)).await?;
        Ok(stats.rating.unwrap_or_default().rounded())
    }

    /// Makes a logged-out player leave. If that fails, the player leaves when the room's grace ends.
    pub(super) async fn leave_after_log_out(&self, player: &Arc<Player>, room: RoomId) -> Result<Accepted, RoomError> {
        let left = self.host.command(room, Issuer::Player(player.id()), Command::Leave).await;
        if left.is_err() {
            check_presence(&self.host, player, vec![room]);
        }
        left
    }

    pub(super) async fn reserve_room(&self, player: &Player, room: RoomId) -> Result<ReservedPlace, RoomError> {
        let limit = self.host.context.limits.get().rooms_per_player;
        let reserved = self.reserve(player, Place::Room, room, limit).await?;
        reserved.map_err(|_| RoomError::QuotaRooms("leave one first"))
    }
}

/// True if a command seats a player, admits one, or could start a game.
fn is_refused_while_draining(command: &Command) -> bool {
    matches!(
        command,
        Command::Start(_)
            | Command::Join(..)
            | Command::JoinGame(..)
            | Command::TakeSeat(_)
            | Command::SetSeat(..)
            | Command::SetReady(true)
            | Command::Offer(Offer::Rematch, _)
            | Command::Answer(Offer::Rematch, _, true)
    )
}

/// A sent move, which resolves to its outcome.
pub struct Play(Sent);

enum Sent {
    /// The actor has the move, and has usually executed it. The common case, and small.
    Inline(oneshot::Receiver<Result<Accepted, RoomError>>),
    /// The room must be loaded first, or its mailbox is full.
    Queued(Pin<Box<dyn Future<Output = Result<Accepted, RoomError>> + Send>>),
}

impl Future for Play {
    type Output = Result<Accepted, RoomError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.0 {
            // An actor that panics does not answer.
            Sent::Inline(answer) => ready!(Pin::new(answer).poll(context)).unwrap_or(Err(RoomError::StoreUnavailable)),
            Sent::Queued(outcome) => ready!(outcome.as_mut().poll(context)),
        };
        Poll::Ready(outcome.map_err(RoomError::or_game_not_found))
    }
}

#[cfg(test)]
impl Rooms {
    pub(super) fn registry(&self) -> &super::registry::Registry {
        &self.host.context.registry
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use tokio::time::sleep;

    use super::*;
    use crate::{
        room::{Credentials, DisplayName, PlayerKind, PlayerRef, SeatSpec, Seq, Settings},
        rules::ByColor,
        runtime::{InvitationOutcome, Limits, NewRoom, Notice, Parts, RowFilter, Runtime, Update, WatchStart},
        store::{MemoryStore, Store},
    };

    /// Ada with a room of her own.
    async fn ada() -> (Runtime, Arc<Player>, RoomId) {
        ada_with(Limits::default()).await
    }

    async fn ada_with(limits: Limits) -> (Runtime, Arc<Player>, RoomId) {
        let parts =
            Parts { limits, ai_threads: Some(0), ..Parts::new(Store::of(MemoryStore::default()), |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let (ada, _) = runtime
            .sessions
            .log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0, None, None)
            .await
            .unwrap();
        let settings = Settings::named((&ada.name).into());
        let seats = ByColor::new(SeatSpec::Me, SeatSpec::Open);
        let room = runtime.rooms.create(&ada, NewRoom { settings, seats }, None).await.unwrap().room.id();
        (runtime, ada, room)
    }

    async fn wait_until_dormant(runtime: &Runtime) {
        sleep(runtime.limits().room_sleep + Duration::from_secs(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_room_leaves_memory_and_is_loaded_on_request() {
        let (runtime, ada, room) = ada().await;
        let open = runtime.streams.turns(&ada).await.unwrap();
        let before = runtime.rooms.snapshot(&ada, room, &Credentials::default()).await.unwrap();
        let registry = runtime.rooms.registry();
        assert!(registry.live(room).is_some());
        wait_until_dormant(&runtime).await;
        assert!(registry.live(room).is_none(), "the room is dormant");
        assert_eq!((runtime.census().rooms, runtime.lobby.page(&RowFilter::default(), None, 9).await.len()), (1, 1));
        assert_eq!((ada.rooms(), runtime.rooms.by_code(before.room.code())), (vec![room], Some(room)));
        let after = runtime.rooms.snapshot(&ada, room, &Credentials::default()).await.unwrap();
        assert_eq!(after.room, before.room);
        assert!(registry.live(room).is_some(), "the room is live");
        drop(open);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_game_of_a_series_waits_for_the_rate() {
        let limits = Limits { games_per_minute: 1, game_burst: 1, ..Limits::default() };
        let (runtime, ada, _) = ada_with(limits).await;
        let ai = || SeatSpec::Ai(AiSpec { kind: "random".into(), level: None, seed: Some(1) });
        let settings = Settings { games: 2, ..Settings::named((&ada.name).into()) };
        let new = NewRoom { settings, seats: ByColor::new(ai(), ai()) };
        let room = runtime.rooms.create(&ada, new, None).await.unwrap().room.id();
        let began = tokio::time::Instant::now();
        runtime.rooms.command(&ada, room, Command::Start(None)).await.unwrap();
        while runtime.games.archive_size().await.unwrap().games < 2 {
            sleep(Duration::from_secs(1)).await;
        }
        let played = began.elapsed().as_secs();
        assert!((60..120).contains(&played), "{played} s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_game_counts_for_the_player_whose_command_begins_it() {
        let limits = Limits { games_per_minute: 1, game_burst: 1, ..Limits::default() };
        let (runtime, ada, _) = ada_with(limits).await;
        let bea = DisplayName::parse("Bea").unwrap();
        let (bea, _) = runtime.sessions.log_in(bea, PlayerKind::Human, 0, None, None).await.unwrap();
        let ai = SeatSpec::Ai(AiSpec { kind: "random".into(), level: None, seed: Some(1) });
        let settings = Settings { auto_start: true, ..Settings::named((&ada.name).into()) };
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Open, ai) };
        let room = runtime.rooms.create(&ada, new, None).await.unwrap().room.id();
        let join = Command::Join(bea.profile(), Credentials::default());
        for command in [join, Command::TakeSeat(Color::Black), Command::SetReady(true)] {
            runtime.rooms.command(&bea, room, command).await.unwrap();
        }
        assert_eq!(runtime.census().games, 1);
        assert!(bea.admit_game().is_err() && ada.admit_game().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn an_invitation_that_nobody_answers_ends_and_both_are_told() {
        let (runtime, ada, room) = ada().await;
        let bea = DisplayName::parse("Bea").unwrap();
        let (bea, _) = runtime.sessions.log_in(bea, PlayerKind::Human, 0, None, None).await.unwrap();
        let mut turns = [runtime.streams.turns(&ada).await.unwrap(), runtime.streams.turns(&bea).await.unwrap()];
        let lasts = Duration::from_secs(90);
        let invite = SeatSpec::Invited(PlayerRef::Name(bea.name.clone()), lasts);
        runtime.rooms.set_seat(&ada, room, Color::White, invite).await.unwrap();
        let asked = tokio::time::Instant::now();
        assert!(matches!(turns[1].next().await, Ok(Notice::Invited { until: Some(_), .. })));
        for turns in &mut turns {
            let Ok(Notice::InvitationEnded { outcome, guest, .. }) = turns.next().await else {
                panic!("another notice")
            };
            assert_eq!((outcome, guest.id), (InvitationOutcome::Expired, bea.id()));
        }
        let waited = asked.elapsed();
        assert!(waited >= lasts && waited < lasts + Duration::from_secs(1), "{waited:?}");
        let joined = runtime.rooms.join(&bea, room, Credentials::default()).await;
        assert!(joined.is_ok() && bea.seats().is_empty(), "the seat is for anyone again");
    }

    #[tokio::test(start_paused = true)]
    async fn a_watched_room_stays_live() {
        let (runtime, ada, room) = ada().await;
        let watch = runtime.streams.room(&ada, room, Credentials::default(), WatchStart::Snapshot).await.unwrap();
        wait_until_dormant(&runtime).await;
        assert!(runtime.rooms.registry().live(room).is_some());
        drop(watch);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_with_an_event_that_never_was_gets_the_room_at_once() {
        let (runtime, ada, room) = ada().await;
        let asked = tokio::time::Instant::now();
        let start = WatchStart::After(Seq(99));
        let mut watch = runtime.streams.room(&ada, room, Credentials::default(), start).await.unwrap();
        assert!(matches!(watch.next().await, Ok(Update::Snapshot(now)) if now.room.id() == room));
        assert!(asked.elapsed().is_zero(), "{:?}", asked.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_dormant_room_still_closes_when_idle_for_too_long() {
        let (runtime, ada, room) = ada().await;
        let open = runtime.streams.turns(&ada).await.unwrap();
        wait_until_dormant(&runtime).await;
        sleep(runtime.limits().idle_close + Duration::from_secs(60)).await;
        assert_eq!((runtime.census().rooms, ada.rooms()), (0, vec![]), "the room was closed as idle");
        let gone = runtime.rooms.snapshot(&ada, room, &Credentials::default()).await;
        assert!(matches!(gone, Err(RoomError::Rejected(Rejection::RoomNotFound))));
        drop(open);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dormant_room_loses_a_member_who_is_absent_for_too_long() {
        let (runtime, ada, _) = ada().await;
        let open = runtime.streams.turns(&ada).await.unwrap();
        wait_until_dormant(&runtime).await;
        drop(open);
        sleep(runtime.limits().presence_grace * 2).await;
        assert_eq!((runtime.census().rooms, ada.rooms()), (0, vec![]));
    }
}
