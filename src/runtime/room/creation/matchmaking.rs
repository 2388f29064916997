//! Quick start: a game against an AI at once, or against the next player who wants one.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::OnceCell,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::NewRoom;
use crate::{
    room::{AiSpec, Command, Credentials, Occupant, Rejection, Request, Room, RoomId, SeatSetting, SeatSpec, Settings},
    rules::{ByColor, Color},
    runtime::{
        cluster::cluster::MOVE_TIMEOUT,
        lobby::waiting_rooms::{WAITING_ROOMS, WaitingRooms},
        outcome::RoomError,
        player::player::Player,
        room::{message::Snapshot, rooms::Rooms},
    },
    store::{DoneRequest, StoreError, anchor},
};

/// Maximum time of one search. Other nodes wait for it at most five seconds (`reversi-store/src/postgres/waiting.rs`):
/// a longer search could send two players to one room, which refuses the second.
const MATCH_TIME: Duration = Duration::from_secs(2);

/// Maximum wait for the state of a room before others are tried. After them, the room is tried again.
const LOOK_TIME: Duration = Duration::from_millis(200);

/// Maximum number of rooms in which a player waits, each with other settings: the list of all is bounded.
const MOST_WAITING: usize = 4;

/// The interval of tries while another node matches a player, which takes it a few writes.
const MATCH_RETRY: Duration = Duration::from_millis(20);

/// The opponent of a quick start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// An AI.
    Ai(AiSpec),
    /// Another player who requests the same, if both accept each other.
    Anyone,
    /// As [`Opponent::Anyone`], or an AI for a player who still waits after this time.
    AnyoneOrHouse(Duration),
}

impl Rooms {
    /// Starts a game against an AI, or joins or creates a room for a game against another player. A repeated request
    /// returns the room of the first one. Without settings those of a new room hold.
    ///
    /// # Errors
    /// As for [`Rooms::create`] and for taking a seat.
    pub async fn quick_start(
        &self,
        player: &Arc<Player>,
        opponent: Opponent,
        side: Option<Color>,
        settings: Option<Settings>,
        request: Option<Request>,
    ) -> Result<Snapshot, RoomError> {
        let lifecycle = &self.host.context.lifecycle;
        lifecycle.require_running()?;
        let (this, player) = (self.clone(), Arc::clone(player));
        let settings = settings.unwrap_or_else(|| Settings::named((&player.name).into()));
        let start = async move {
            match opponent {
                Opponent::Ai(ai) => {
                    let side = side.unwrap_or_else(|| this.random_side());
                    let new = || NewRoom { settings: settings.clone(), seats: seats(side, SeatSpec::Ai(ai.clone())) };
                    let start = async || this.create_new(&player, new(), Some(Command::Start(None)), request).await;
                    let again =
                        async |done: DoneRequest| this.snapshot(&player, done.room, &Credentials::default()).await;
                    this.once(&player, request, start, again).await
                }
                Opponent::Anyone | Opponent::AnyoneOrHouse(_) => {
                    let house_after = if let Opponent::AnyoneOrHouse(after) = opponent { Some(after) } else { None };
                    let seek = Seek { player: &player, side, settings, request, house_after, rating: OnceCell::new() };
                    let start = async || this.quick_match(&seek).await;
                    let again = async |done: DoneRequest| this.matched(&player, done.room).await;
                    let room = this.once(&player, request, start, again).await?;
                    this.snapshot(&player, room, &Credentials::default()).await
                }
            }
        };
        lifecycle.run_to_end(start).await
    }

    async fn quick_match(&self, seek: &Seek<'_>) -> Result<RoomId, RoomError> {
        let Seek { player, request, .. } = *seek;
        let lock = Arc::clone(&self.waiting).lock_owned();
        let context = &self.host.context;
        if !context.cluster.shares_store() {
            return self.match_or_wait(&mut *lock.await, seek).await;
        }
        // The nodes share the waiting rooms, and taking them costs some writes. So a player waits for only one turn at
        // a time.
        let Ok(_matching) = player.matching.try_lock() else { return Err(RoomError::Busy) };
        let take = async {
            let mut waiting = lock.await;
            waiting.0 = self.take_waiting().await?;
            Ok::<_, RoomError>(waiting)
        };
        let mut waiting = timeout(MOVE_TIMEOUT, take).await.map_err(|_| RoomError::Busy)??;
        let taken: HashSet<_> = waiting.0.iter().copied().collect();
        // Another node may have done it while this one waited for the rooms.
        let matched = match self.done(request).await {
            Ok(Some(done)) => Ok(done.room),
            Ok(None) => self.match_or_wait(&mut waiting, seek).await,
            Err(error) => Err(error),
        };
        let left: HashSet<_> = waiting.0.drain(..).collect();
        let new: Vec<_> = left.difference(&taken).copied().collect();
        let gone = taken.difference(&left).copied().collect();
        let returned = context.journal.return_waiting(gone, new.clone()).await;
        // Other nodes get a turn before the next player of this node.
        context.lifecycle.spawn(async move {
            sleep(MATCH_RETRY).await;
            drop(waiting);
        });
        match returned {
            Err(unavailable) if !new.is_empty() => {
                // A room in which a player waits in vain would only occupy a seat. A request with an id is expected
                // again.
                if request.is_none() {
                    for room in new {
                        let _ = self.command(player, room, Command::Vacate).await;
                    }
                }
                Err(unavailable.into())
            }
            _ => matched,
        }
    }

    /// The room of a repeated request. If the player waits there, it waits on: the first call may not have added the
    /// room.
    async fn matched(&self, player: &Player, room: RoomId) -> Result<RoomId, RoomError> {
        let found = self.snapshot_as_admin(room).await?.room;
        if found.game().is_none() && found.seat_of(player.id()).is_some() {
            self.add_waiting(vec![room]).await?;
        }
        Ok(room)
    }

    /// Adds restored rooms to those that wait. If the store has them, a server by itself may have kept them in memory
    /// only.
    pub(crate) async fn add_waiting(&self, rooms: Vec<RoomId>) -> Result<(), StoreError> {
        let context = &self.host.context;
        if rooms.is_empty() {
            Ok(())
        } else if context.cluster.shares_store() {
            context.journal.add_waiting(rooms).await
        } else {
            let mut waiting = self.waiting.lock().await;
            rooms.into_iter().for_each(|room| waiting.add(room));
            Ok(())
        }
    }

    /// Waits while another node has the waiting rooms.
    async fn take_waiting(&self) -> Result<Vec<RoomId>, StoreError> {
        loop {
            if let Some(waiting) = self.host.context.journal.take_waiting(WAITING_ROOMS).await? {
                return Ok(waiting);
            }
            sleep(MATCH_RETRY).await;
        }
    }

    /// Takes a seat in a room that waits, or creates one that does.
    async fn match_or_wait(&self, waiting: &mut WaitingRooms, seek: &Seek<'_>) -> Result<RoomId, RoomError> {
        let until = Instant::now() + MATCH_TIME;
        let mut rooms: VecDeque<_> = waiting.0.iter().map(|room| (*room, LOOK_TIME)).collect();
        let (mut own, mut others) = (None, 0);
        while let Some((room, look_time)) = rooms.pop_front()
            && Instant::now() < until
        {
            match self.try_match(seek, room, until.min(Instant::now() + look_time)).await {
                Match::Made => {
                    waiting.remove(room);
                    return Ok(room);
                }
                // Others may wait as well: players who were absent when the later of the two asked.
                Match::Own => own = Some(room),
                Match::OwnOther => others += 1,
                Match::Stale => waiting.remove(room),
                Match::Slow if look_time == LOOK_TIME => rooms.push_back((room, MATCH_TIME)),
                Match::Slow | Match::NotNow => {}
                Match::Refused(error) => return Err(error),
            }
        }
        if let Some(room) = own
            && self.wait_on(seek, room).await?
        {
            return Ok(room);
        }
        if others >= MOST_WAITING {
            return Err(RoomError::QuotaRooms("you wait with other settings in four rooms; leave one first"));
        }
        self.wait_in_room(waiting, seek).await
    }

    /// Lets a player wait on where it waits; false if it does no longer. An event of the room carries the request.
    async fn wait_on(&self, seek: &Seek<'_>, room: RoomId) -> Result<bool, RoomError> {
        let found = match self.snapshot_as_admin(room).await {
            Err(RoomError::Rejected(_)) => return Ok(false),
            found => found?.room,
        };
        let Some(seat) = found.seat_of(seek.player.id()) else { return Ok(false) };
        if seek.request.is_some() {
            let noted = Command::JoinGame(seek.player.profile(), seat.opposite(), seek.request);
            match self.command(seek.player, room, noted).await {
                Err(RoomError::Rejected(_)) => return Ok(false),
                noted => drop(noted?),
            }
        }
        let waited = self.host.context.clock.now().since(found.created());
        if seek.house_after.is_some_and(|after| waited >= after) {
            self.seat_house_player(seek, room, seat.opposite()).await?;
        }
        Ok(true)
    }

    /// Seats the anchor of the ratings that is next to the waiting player's rating, with which the game begins. If the room
    /// refuses it, as when another player has come, the player waits or plays there all the same.
    async fn seat_house_player(&self, seek: &Seek<'_>, room: RoomId, seat: Color) -> Result<(), RoomError> {
        let rating = *seek.rating.get_or_try_init(|| self.rating(seek.player.id())).await?;
        let Some((kind, level)) = anchor::nearest(rating) else { return Ok(()) };
        let ai = self.ai_seat(&AiSpec { kind, level: Some(level), seed: None })?;
        match self.command(seek.player, room, Command::SetSeat(seat, SeatSetting::Ai(ai))).await {
            Err(RoomError::Rejected(_)) => Ok(()),
            seated => seated.map(drop),
        }
    }

    /// Creates a room that waits, in which the player is ready.
    async fn wait_in_room(&self, waiting: &mut WaitingRooms, seek: &Seek<'_>) -> Result<RoomId, RoomError> {
        let settings = Settings { auto_start: true, ..seek.settings.clone() };
        let mine = seek.side.unwrap_or_else(|| self.random_side());
        let new = NewRoom { settings, seats: seats(mine, SeatSpec::Open) };
        let room = self.create_new(seek.player, new, Some(Command::SetReady(true)), seek.request).await?.room.id();
        waiting.add(room);
        Ok(room)
    }

    /// Tries to take the seat opposite a waiting player.
    async fn try_match(&self, seek: &Seek<'_>, room: RoomId, until: Instant) -> Match {
        let Seek { player, request, side, .. } = *seek;
        if self.host.is_moving(room) {
            // Other players would wait for it, too.
            return Match::NotNow;
        }
        let snapshot = match timeout_at(until, self.snapshot(player, room, &Credentials::default())).await {
            Ok(Ok(snapshot)) => snapshot,
            Ok(Err(RoomError::Rejected(rejection))) => return Match::after(rejection),
            Ok(Err(_)) => return Match::NotNow,
            Err(_) => return Match::Slow,
        };
        let seats = snapshot.room.seats();
        let free = |side: Color| matches!(seats[side].occupant, Occupant::Open) && seats[side.opposite()].ready();
        let Some(open) = [Color::Black, Color::White].into_iter().find(|&side| free(side)) else {
            return Match::Stale;
        };
        let join = Command::JoinGame(player.profile(), open, request);
        let settings = snapshot.room.settings();
        let has_same_terms = settings.has_terms_of(&seek.settings);
        if snapshot.room.seat_of(player.id()).is_some() {
            let is_same = has_same_terms && settings.opponents == seek.settings.opponents;
            return if is_same { Match::Own } else { Match::OwnOther };
        }
        let is_wanted = snapshot.room.is_present(open.opposite()) && side.is_none_or(|side| side == open);
        if !has_same_terms || !is_wanted || !self.accept_each_other(seek, &snapshot.room, open.opposite()).await {
            return Match::NotNow;
        }
        match self.command(player, room, join).await {
            Ok(_) => Match::Made,
            // Only the answer was lost.
            Err(error) if error.is_unknown() && self.plays_after(player, room, last_game(&snapshot.room)).await => {
                Match::Made
            }
            Err(RoomError::Rejected(rejection)) => Match::after(rejection),
            Err(error) => Match::Refused(error),
        }
    }

    /// True if the player who waits in a room and the one who seeks accept each other. False also if a rating that
    /// matters cannot be read.
    async fn accept_each_other(&self, seek: &Seek<'_>, room: &Room, waits: Color) -> bool {
        let Occupant::Player(waiting) = &room.seats()[waits].occupant else { return false };
        let (theirs, mine) = (room.settings().opponents, seek.settings.opponents);
        if !theirs.accept_kind(seek.player.kind) || !mine.accept_kind(waiting.kind) {
            return false;
        }
        let my_rating = || seek.rating.get_or_try_init(|| self.rating(seek.player.id()));
        (!theirs.have_range() || my_rating().await.is_ok_and(|rating| theirs.accept_rating(*rating)))
            && (!mine.have_range() || self.rating(waiting.id).await.is_ok_and(|rating| mine.accept_rating(rating)))
    }

    /// True if the player has a seat in a room in which a game has begun after the game of this number.
    async fn plays_after(&self, player: &Player, room: RoomId, last: u32) -> bool {
        let plays = |room: &Room| last_game(room) > last && room.seat_of(player.id()).is_some();
        self.snapshot_as_admin(room).await.is_ok_and(|found| plays(&found.room))
    }

    fn random_side(&self) -> Color {
        if self.random.bits().is_multiple_of(2) { Color::Black } else { Color::White }
    }
}

/// A player who wants a game against another one.
struct Seek<'a> {
    player: &'a Arc<Player>,
    side: Option<Color>,
    /// The terms of the game, and the welcome opponents.
    settings: Settings,
    request: Option<Request>,
    /// The wait after which an AI is welcome.
    house_after: Option<Duration>,
    /// Read once, when it matters.
    rating: OnceCell<u16>,
}

/// The outcome of an attempt to match two players.
enum Match {
    Made,
    /// The player itself waits there with these settings.
    Own,
    /// The player itself waits there with other settings.
    OwnOther,
    /// No player waits there any longer.
    Stale,
    /// Its state is not known in time.
    Slow,
    /// The waiting player is absent, has the side that this one wants, or wants another game or opponent; or this one
    /// cannot enter the room.
    NotNow,
    Refused(RoomError),
}

impl Match {
    /// The outcome of a rejection. A room that rejects only this player waits for others.
    fn after(rejection: Rejection) -> Self {
        if matches!(rejection, Rejection::Banned | Rejection::RoomFull | Rejection::NotAccepted) {
            Self::NotNow
        } else {
            Self::Stale
        }
    }
}

/// The number of the running or last game of a room; 0 for none.
fn last_game(room: &Room) -> u32 {
    room.game().map_or(0, |game| game.number)
}

fn seats(mine: Color, other: SeatSpec) -> ByColor<SeatSpec> {
    let mut seats = ByColor::new(SeatSpec::Me, SeatSpec::Me);
    seats[mine.opposite()] = other;
    seats
}
