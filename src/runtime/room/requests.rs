//! What players ask of rooms: making them, entering them, playing in them.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::sync::oneshot;

use super::registry::Origin;
use crate::{
    ai::{AiKind, AiPlayer},
    room::{
        AiSeat, AiSpec, Command, Creation, Credentials, Event, Fact, GameId, Issuer, JoinCode, Occupant, Offer, Policy,
        Rejection, Room, RoomId, SeatSetting, SeatSpec, Seq, Settings,
    },
    rules::{ByColor, Color, Square},
    runtime::{
        Accepted, Player, RoomError, Runtime, Snapshot, TooFast, Watch,
        limit::limits::{REQUESTS_REMEMBERED, STORE_RETRY},
        player::quota::{Holding, Place},
        watch::subscription::Right,
    },
    store::{Append, AppendError},
};

/// A room to be made.
#[derive(Clone, Debug)]
pub struct NewRoom {
    /// Checked settings.
    pub settings: Settings,
    /// Who is to sit where.
    pub seats: ByColor<SeatSpec>,
}

/// Whom a quick game is to be against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// An AI.
    Ai(AiSpec),
    /// Whoever asks for the same.
    Anyone,
}

impl Runtime {
    /// Makes a room that the player owns. The same request id answers with the same room.
    ///
    /// # Errors
    /// When there are too many rooms, or a seat is for somebody or something unknown.
    pub async fn create_room(
        &self,
        player: &Arc<Player>,
        new: NewRoom,
        request: Option<String>,
    ) -> Result<Snapshot, RoomError> {
        self.require_running()?;
        let (this, player) = (self.clone(), Arc::clone(player));
        self.finish(async move { this.once(&player, request, async || this.make_room(&player, new).await).await }).await
    }

    /// The shortest way to a game: against an AI at once, or against whoever else wants one.
    ///
    /// # Errors
    /// As for making a room and taking a seat in it.
    pub async fn quick_start(
        &self,
        player: &Arc<Player>,
        opponent: Opponent,
        side: Option<Color>,
        request: Option<String>,
    ) -> Result<Snapshot, RoomError> {
        self.require_running()?;
        let (this, player) = (self.clone(), Arc::clone(player));
        self.finish(async move {
            this.once(&player, request, async || match opponent {
                Opponent::Ai(ai) => this.quick_ai_game(&player, ai, side).await,
                Opponent::Anyone => this.quick_match(&player, side).await,
            })
            .await
        })
        .await
    }

    /// Carries out a player's command.
    ///
    /// # Errors
    /// The refusal.
    pub async fn command(&self, player: &Arc<Player>, room: RoomId, command: Command) -> Result<Accepted, RoomError> {
        if begins(&command) {
            self.require_running()?;
        }
        if matches!(command, Command::Chat(_)) {
            player.admit_chat().map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
        }
        if matches!(command, Command::Join(..) | Command::TakeSeat(_)) {
            let (this, player) = (self.clone(), Arc::clone(player));
            return self.finish(async move { this.occupy(&player, room, command).await }).await;
        }
        self.shared.room(room).await?.command(Issuer::Player(player.id()), command).await
    }

    /// Carries out an administrator's command.
    ///
    /// # Errors
    /// The refusal.
    pub async fn rule(&self, room: RoomId, command: Command) -> Result<Accepted, RoomError> {
        self.shared.room(room).await?.command(Issuer::Admin, command).await
    }

    /// As [`Runtime::rule`], for what concerns a game.
    ///
    /// # Errors
    /// The refusal.
    pub async fn rule_game(&self, game: GameId, command: Command) -> Result<Accepted, RoomError> {
        self.rule(game.room, command).await.map_err(no_such_game)
    }

    /// As [`Runtime::command`], for what concerns a game.
    ///
    /// # Errors
    /// The refusal.
    pub async fn command_game(
        &self,
        player: &Arc<Player>,
        game: GameId,
        command: Command,
    ) -> Result<Accepted, RoomError> {
        self.command(player, game.room, command).await.map_err(no_such_game)
    }

    /// Does something to its end, even when the client that asked for it hangs up: half of it would be a place that
    /// is kept for nobody, or a room that is written down and does not live.
    pub(crate) async fn finish<T: Send + 'static, E: From<RoomError> + Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, E> {
        match self.shared.tasks.spawn(work).await {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(RoomError::Draining.into()),
        }
    }

    /// Joins a room or takes a seat, within the player's quota.
    async fn occupy(&self, player: &Arc<Player>, room: RoomId, command: Command) -> Result<Accepted, RoomError> {
        let handle = self.shared.room(room).await?;
        let (takes_seat, joins) = (matches!(command, Command::TakeSeat(_)), matches!(command, Command::Join(..)));
        // A place is kept before the room is asked, so that two requests at once cannot both get the last one.
        let _seat = takes_seat.then(|| keep_seat(player, room)).transpose()?;
        let _membership = joins.then(|| self.keep_room(player, room)).transpose()?;
        let outcome = handle.command(Issuer::Player(player.id()), command).await;
        if joins && outcome.is_ok() && player.is_gone() {
            // Logging out has overtaken the request, and left the rooms that it knew of.
            return self.leave_behind(player, room).await;
        }
        outcome
    }

    /// Takes one who has logged out out of a room. Should that fail, the room's grace does it.
    async fn leave_behind(&self, player: &Arc<Player>, room: RoomId) -> Result<Accepted, RoomError> {
        let left = match self.shared.room(room).await {
            Ok(handle) => handle.command(Issuer::Player(player.id()), Command::Leave).await,
            Err(error) => Err(error),
        };
        if left.is_err() {
            self.shared.check_presence(player, vec![room]);
        }
        left
    }

    fn keep_room(&self, player: &Arc<Player>, room: RoomId) -> Result<Place, RoomError> {
        let limit = self.shared.limits.rooms_per_player;
        Place::keep(player, Holding::Room, room, limit).ok_or(RoomError::QuotaRooms("leave one first"))
    }

    /// Makes a seat open, reserved or an AI.
    ///
    /// # Errors
    /// When it is for somebody or something unknown, or the room refuses.
    pub async fn set_seat(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        seat: Color,
        wish: SeatSpec,
    ) -> Result<Accepted, RoomError> {
        let setting = match wish {
            SeatSpec::Open => SeatSetting::Open,
            SeatSpec::Me => SeatSetting::Reserved(player.profile().clone()),
            SeatSpec::Reserved(guest) => {
                let guest = self.player(guest).ok_or(RoomError::PlayerNotFound)?;
                SeatSetting::Reserved(guest.profile().clone())
            }
            SeatSpec::Ai(ai) => SeatSetting::Ai(self.ai_seat(&ai)?),
        };
        self.command(player, room, Command::SetSeat(seat, setting)).await
    }

    /// Begins a game. The same request id answers with the same game.
    ///
    /// # Errors
    /// The refusal.
    pub async fn start_game(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        request: Option<String>,
    ) -> Result<Accepted, RoomError> {
        let Some(request) = request else {
            return self.command(player, room, Command::Start).await;
        };
        let (this, player) = (self.clone(), Arc::clone(player));
        self.finish(async move {
            let mut requests = player.starts.lock().await;
            let earlier = requests.iter().find(|(made, at, _)| *made == request && *at == room);
            if let Some((_, _, accepted)) = earlier {
                return Ok(Accepted { changed: false, ..*accepted });
            }
            let accepted = this.command(&player, room, Command::Start).await?;
            remember(&mut requests, (request, room, accepted));
            Ok(accepted)
        })
        .await
    }

    /// Makes a move. Where its room rests, it is carried out within this call, in which the room then runs: whoever calls
    /// is a task, and holds no lock.
    #[must_use]
    pub fn play(&self, player: &Player, game: GameId, ply: u16, square: Square) -> Play {
        let actor = Issuer::Player(player.id());
        let play = Command::Play { game: game.number, ply, square, thought: None };
        if let Some(answer) = self.shared.registry.command_now(game.room, actor, play.clone()) {
            return Play(Asked::Directly(answer));
        }
        let shared = Arc::clone(&self.shared);
        Play(Asked::Slowly(Box::pin(async move { shared.room(game.room).await?.command(actor, play).await })))
    }

    /// The room as it is, for one who may see it.
    ///
    /// # Errors
    /// When there is none, or the player may not.
    pub async fn look(&self, player: &Player, room: RoomId, credentials: &Credentials) -> Result<Snapshot, RoomError> {
        let snapshot = self.inspect(room).await?;
        snapshot.room.may_watch(player.id(), credentials)?;
        Ok(snapshot)
    }

    /// The room as it is, for an administrator.
    ///
    /// # Errors
    /// When there is none.
    pub async fn inspect(&self, room: RoomId) -> Result<Snapshot, RoomError> {
        self.shared.room(room).await?.snapshot().await
    }

    /// Follows a room.
    ///
    /// # Errors
    /// When there is none, the player may not, or has too many streams.
    pub async fn watch(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        credentials: Credentials,
        after: Option<Seq>,
    ) -> Result<Watch, RoomError> {
        Watch::open(&self.shared, player, room, Right::Guest(credentials), after).await
    }

    /// Follows a room as an administrator.
    ///
    /// # Errors
    /// When there is none, or the player has too many streams.
    pub async fn oversee(&self, player: &Arc<Player>, room: RoomId, after: Option<Seq>) -> Result<Watch, RoomError> {
        Watch::open(&self.shared, player, room, Right::Admin, after).await
    }

    /// The room that a join code opens.
    #[must_use]
    pub fn room_by_code(&self, code: JoinCode) -> Option<RoomId> {
        self.shared.registry.by_code(code)
    }

    /// Does something once for a request id, and answers with the same room from then on.
    async fn once(
        &self,
        player: &Arc<Player>,
        request: Option<String>,
        make: impl AsyncFnOnce() -> Result<RoomId, RoomError>,
    ) -> Result<Snapshot, RoomError> {
        let room = match request {
            None => make().await?,
            Some(request) => {
                let mut requests = player.requests.lock().await;
                let made = requests.iter().find(|(made, _)| *made == request).map(|&(_, room)| room);
                match made {
                    Some(room) => room,
                    None => {
                        let room = make().await?;
                        remember(&mut requests, (request, room));
                        room
                    }
                }
            }
        };
        self.shared.room(room).await?.snapshot().await
    }

    async fn make_room(&self, player: &Arc<Player>, new: NewRoom) -> Result<RoomId, RoomError> {
        // It may have waited for an earlier request, which the end of the server left undecided.
        self.require_running()?;
        if self.shared.registry.count() >= self.shared.limits.rooms {
            return Err(RoomError::QuotaRooms("the server has as many as it can"));
        }
        let sides = [&new.seats.black, &new.seats.white].into_iter().filter(|wish| **wish == SeatSpec::Me).count();
        if sides > 1 {
            return Err(RoomError::QuotaSeats);
        }
        let seats = ByColor::new(self.occupant(player, new.seats.black)?, self.occupant(player, new.seats.white)?);
        let id = RoomId::from_random(self.shared.chance.bits());
        let limits = &self.shared.limits;
        let _membership = self.keep_room(player, id)?;
        let _seat = (sides == 1).then(|| keep_seat(player, id)).transpose()?;
        let creation = Creation {
            id,
            code: JoinCode::from_random(self.shared.chance.bits()),
            owner: player.profile().clone(),
            settings: new.settings,
            policy: Policy {
                grace: limits.presence_grace,
                idle_close: limits.idle_close,
                members: limits.members_per_room,
            },
            seats: seats.clone(),
        };
        self.found(creation).await?;
        if player.is_gone() {
            // Logging out has overtaken the request, and left the rooms that it knew of.
            self.leave_behind(player, id).await?;
            return Err(Rejection::RoomClosed.into());
        }
        for (seat, occupant) in seats.iter() {
            if let Occupant::Reserved(_) = occupant {
                self.invite(id, seat).await;
            }
        }
        Ok(id)
    }

    /// Writes a room down, then lets it live.
    async fn found(&self, creation: Creation) -> Result<(), RoomError> {
        let at = self.shared.clock.now();
        let id = creation.id;
        let room = Room::new(creation.clone(), at);
        let created = Event { seq: Seq(1), at, fact: Fact::Created(Box::new(creation)) };
        let append = Append { room: id, expected: Seq(0), events: std::slice::from_ref(&created), games: &[] };
        match self.shared.store.journal.append(append).await {
            Ok(()) => {
                self.shared.host(room, Origin::New);
                Ok(())
            }
            Err(error @ (AppendError::Unavailable(_) | AppendError::Conflict(_))) => {
                tracing::error!(room = %id, %error, "a room could not be made");
                Err(RoomError::StoreUnavailable)
            }
            Err(error @ AppendError::Unknown(_)) => {
                tracing::error!(room = %id, %error, "whether a room was made is looked up");
                self.look_up(id).await
            }
        }
    }

    /// Whether a room was written down after all, which then lives. Asks until the storage answers.
    async fn look_up(&self, id: RoomId) -> Result<(), RoomError> {
        loop {
            match self.shared.room(id).await {
                Ok(_) => return Ok(()),
                Err(RoomError::Rejected(_)) => return Err(RoomError::StoreUnavailable),
                Err(_) => tokio::select! {
                    biased;
                    () = self.shared.rooms_end.cancelled() => return Err(RoomError::Draining),
                    () = tokio::time::sleep(STORE_RETRY) => {}
                },
            }
        }
    }

    /// Tells a guest of the seat that is kept.
    async fn invite(&self, room: RoomId, seat: Color) {
        let Some(handle) = self.shared.registry.live(room) else { return };
        let Ok(snapshot) = handle.snapshot().await else { return };
        let room = &snapshot.room;
        if let Occupant::Reserved(guest) = &room.seats()[seat].occupant
            && let Some(guest) = self.player(guest.id)
        {
            let by = room.owner().cloned();
            guest.tell(crate::runtime::Notice::Invited { room: room.id(), seat, code: room.code(), by });
        }
    }

    fn occupant(&self, player: &Player, wish: SeatSpec) -> Result<Occupant, RoomError> {
        Ok(match wish {
            SeatSpec::Open => Occupant::Open,
            SeatSpec::Me => Occupant::Player(player.profile().clone()),
            SeatSpec::Reserved(guest) => {
                let guest = self.player(guest).ok_or(RoomError::PlayerNotFound)?;
                Occupant::Reserved(guest.profile().clone())
            }
            SeatSpec::Ai(ai) => Occupant::Ai(self.ai_seat(&ai)?),
        })
    }

    async fn quick_ai_game(&self, player: &Arc<Player>, ai: AiSpec, side: Option<Color>) -> Result<RoomId, RoomError> {
        let side = side.unwrap_or_else(|| self.any_side());
        let new = NewRoom {
            settings: Settings::named((&player.profile().name).into()),
            seats: seats(side, SeatSpec::Ai(ai)),
        };
        let room = self.make_room(player, new).await?;
        self.begin(player, room, Command::Start).await?;
        Ok(room)
    }

    async fn quick_match(&self, player: &Arc<Player>, side: Option<Color>) -> Result<RoomId, RoomError> {
        let mut waiting = self.shared.matchmaker.waiting.lock().await;
        for room in waiting.rooms() {
            match self.try_match(player, room, side).await {
                Match::Made => {
                    waiting.remove(room);
                    return Ok(room);
                }
                Match::Own => return Ok(room),
                Match::Stale => waiting.remove(room),
                Match::NotNow => {}
                Match::Refused(error) => return Err(error),
            }
        }
        let mut settings = Settings::named((&player.profile().name).into());
        settings.auto_start = true;
        let mine = side.unwrap_or_else(|| self.any_side());
        let room = self.make_room(player, NewRoom { settings, seats: seats(mine, SeatSpec::Open) }).await?;
        self.begin(player, room, Command::SetReady(true)).await?;
        waiting.add(room);
        Ok(room)
    }

    /// The last step of a quick start. A room in which it fails would only keep the player's seat occupied.
    async fn begin(&self, player: &Arc<Player>, room: RoomId, command: Command) -> Result<(), RoomError> {
        let begun = self.command(player, room, command).await;
        if begun.is_err() {
            // Should this fail too, the player finds the room by `GetMe`.
            let _ = self.command(player, room, Command::Leave).await;
        }
        begun.map(|_| ())
    }

    /// Tries to sit down opposite the one who waits in a room.
    async fn try_match(&self, player: &Arc<Player>, room: RoomId, side: Option<Color>) -> Match {
        let Ok(snapshot) = self.look(player, room, &Credentials::default()).await else { return Match::Stale };
        let seats = snapshot.room.seats();
        let free = |side: Color| matches!(seats[side].occupant, Occupant::Open) && seats[side.opposite()].ready();
        let Some(open) = [Color::Black, Color::White].into_iter().find(|&side| free(side)) else {
            return Match::Stale;
        };
        if snapshot.room.seat_of(player.id()).is_some() {
            return Match::Own;
        }
        if !snapshot.room.is_present(open.opposite()) || side.is_some_and(|side| side != open) {
            return Match::NotNow;
        }
        let join = Command::Join(player.profile().clone(), Credentials::default());
        for command in [join, Command::TakeSeat(open), Command::SetReady(true)] {
            let Err(error) = self.command(player, room, command).await else { continue };
            if snapshot.room.member(player.id()).is_none() {
                // What of it was done is undone; should that fail too, the player finds the room by `GetMe`.
                let _ = self.command(player, room, Command::Leave).await;
            }
            return match error {
                RoomError::Rejected(_) => Match::Stale,
                error => Match::Refused(error),
            };
        }
        Match::Made
    }

    fn any_side(&self) -> Color {
        if self.shared.chance.bits().is_multiple_of(2) { Color::Black } else { Color::White }
    }

    /// The seat of an AI that exists.
    ///
    /// # Errors
    /// When there is none such.
    pub fn ai_seat(&self, wish: &AiSpec) -> Result<AiSeat, RoomError> {
        let kind: AiKind = wish.kind.parse().map_err(|_| RoomError::UnknownAi)?;
        let level = wish.level.unwrap_or(kind.profile().default_level);
        AiPlayer::new(kind, level).map_err(|_| RoomError::UnknownAi)?;
        let seed = wish.seed.unwrap_or_else(|| self.shared.chance.bits());
        Ok(AiSeat { kind: kind.to_string().into(), level, seed })
    }
}

/// A move on its way to its room, and what comes of it.
pub struct Play(Asked);

enum Asked {
    /// The room has it, and mostly has carried it out. Nothing but this is kept in memory for most moves.
    Directly(oneshot::Receiver<Result<Accepted, RoomError>>),
    /// The room has to be read first, or is busy.
    Slowly(Pin<Box<dyn Future<Output = Result<Accepted, RoomError>> + Send>>),
}

impl Future for Play {
    type Output = Result<Accepted, RoomError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = match &mut self.0 {
            // As everywhere, an actor that panics has not told what is written.
            Asked::Directly(answer) => {
                ready!(Pin::new(answer).poll(context)).unwrap_or(Err(RoomError::StoreUnavailable))
            }
            Asked::Slowly(outcome) => ready!(outcome.as_mut().poll(context)),
        };
        Poll::Ready(outcome.map_err(no_such_game))
    }
}

/// A game is not found where its room is not.
pub(crate) fn no_such_game(error: RoomError) -> RoomError {
    match error {
        RoomError::Rejected(Rejection::RoomNotFound) => Rejection::GameNotFound.into(),
        error => error,
    }
}

/// Whether a command brings somebody in, or could begin a game.
fn begins(command: &Command) -> bool {
    matches!(
        command,
        Command::Start
            | Command::Join(..)
            | Command::TakeSeat(_)
            | Command::SetSeat(..)
            | Command::SetReady(true)
            | Command::Offer(Offer::Rematch)
            | Command::Answer(Offer::Rematch, true)
    )
}

fn keep_seat(player: &Arc<Player>, room: RoomId) -> Result<Place, RoomError> {
    Place::keep(player, Holding::Seat, room, usize::from(player.seat_limit())).ok_or(RoomError::QuotaSeats)
}

enum Match {
    Made,
    /// The player waits there already.
    Own,
    /// Nobody waits there any more.
    Stale,
    /// The one who waits is away, or has the side that this player wants.
    NotNow,
    Refused(RoomError),
}

fn remember<T>(requests: &mut std::collections::VecDeque<T>, request: T) {
    if requests.len() == REQUESTS_REMEMBERED {
        requests.pop_front();
    }
    requests.push_back(request);
}

fn seats(mine: Color, other: SeatSpec) -> ByColor<SeatSpec> {
    let mut seats = ByColor::new(SeatSpec::Me, SeatSpec::Me);
    seats[mine.opposite()] = other;
    seats
}
