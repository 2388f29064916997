//! Quick start: a game against an AI at once, or against the next player who wants one.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::NewRoom;
use crate::{
    room::{AiSpec, Command, Credentials, Occupant, Rejection, Request, Room, RoomId, SeatSpec, Settings},
    rules::{ByColor, Color},
    runtime::{
        cluster::cluster::MOVE_TIMEOUT,
        lobby::waiting_rooms::{WAITING_ROOMS, WaitingRooms},
        outcome::RoomError,
        player::player::Player,
        room::{message::Snapshot, rooms::Rooms},
    },
    store::{DoneRequest, StoreError},
};

/// Maximum time of one search. Other nodes wait for it at most five seconds (`reversi-store/src/postgres/waiting.rs`):
/// a longer search could send two players to one room, which refuses the second.
const MATCH_TIME: Duration = Duration::from_secs(2);

/// Maximum wait for the state of a room before others are tried. After them, the room is tried again.
const LOOK_TIME: Duration = Duration::from_millis(200);

/// The interval of tries while another node matches a player, which takes it a few writes.
const MATCH_RETRY: Duration = Duration::from_millis(20);

/// The opponent of a quick start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// An AI.
    Ai(AiSpec),
    /// Another player who requests the same.
    Anyone,
}

impl Rooms {
    /// Starts a game against an AI, or joins or creates a room for a game against another player. A repeated request
    /// returns the room of the first one.
    ///
    /// # Errors
    /// As for [`Rooms::create`] and for taking a seat.
    pub async fn quick_start(
        &self,
        player: &Arc<Player>,
        opponent: Opponent,
        side: Option<Color>,
        request: Option<Request>,
    ) -> Result<Snapshot, RoomError> {
        let lifecycle = &self.host.context.lifecycle;
        lifecycle.require_running()?;
        let (this, player) = (self.clone(), Arc::clone(player));
        let start = async move {
            match opponent {
                Opponent::Ai(ai) => {
                    let start = async || this.quick_ai_game(&player, request, ai, side).await;
                    let again =
                        async |done: DoneRequest| this.snapshot(&player, done.room, &Credentials::default()).await;
                    this.once(&player, request, start, again).await
                }
                Opponent::Anyone => {
                    let start = async || this.quick_match(&player, request, side).await;
                    let again = async |done: DoneRequest| this.matched(&player, done.room).await;
                    let room = this.once(&player, request, start, again).await?;
                    this.snapshot(&player, room, &Credentials::default()).await
                }
            }
        };
        lifecycle.run_to_end(start).await
    }

    async fn quick_ai_game(
        &self,
        player: &Arc<Player>,
        request: Option<Request>,
        ai: AiSpec,
        side: Option<Color>,
    ) -> Result<Snapshot, RoomError> {
        let side = side.unwrap_or_else(|| self.random_side());
        let new =
            NewRoom { settings: Settings::named((&player.profile.name).into()), seats: seats(side, SeatSpec::Ai(ai)) };
        self.create_new(player, new, Some(Command::Start(None)), request).await
    }

    async fn quick_match(
        &self,
        player: &Arc<Player>,
        request: Option<Request>,
        side: Option<Color>,
    ) -> Result<RoomId, RoomError> {
        let lock = Arc::clone(&self.waiting).lock_owned();
        let context = &self.host.context;
        if !context.cluster.shares_store() {
            return self.match_or_wait(&mut *lock.await, player, request, side).await;
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
            Ok(None) => self.match_or_wait(&mut waiting, player, request, side).await,
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
    async fn match_or_wait(
        &self,
        waiting: &mut WaitingRooms,
        player: &Arc<Player>,
        request: Option<Request>,
        side: Option<Color>,
    ) -> Result<RoomId, RoomError> {
        let until = Instant::now() + MATCH_TIME;
        let mut rooms: VecDeque<_> = waiting.0.iter().map(|room| (*room, LOOK_TIME)).collect();
        while let Some((room, look_time)) = rooms.pop_front()
            && Instant::now() < until
        {
            match self.try_match(player, request, room, side, until.min(Instant::now() + look_time)).await {
                Match::Made => {
                    waiting.remove(room);
                    return Ok(room);
                }
                Match::Own => return Ok(room),
                Match::Stale => waiting.remove(room),
                Match::Slow if look_time == LOOK_TIME => rooms.push_back((room, MATCH_TIME)),
                Match::Slow | Match::NotNow => {}
                Match::Refused(error) => return Err(error),
            }
        }
        self.wait_in_room(waiting, player, request, side).await
    }

    /// Creates a room that waits, in which the player is ready.
    async fn wait_in_room(
        &self,
        waiting: &mut WaitingRooms,
        player: &Arc<Player>,
        request: Option<Request>,
        side: Option<Color>,
    ) -> Result<RoomId, RoomError> {
        let mut settings = Settings::named((&player.profile.name).into());
        settings.auto_start = true;
        let mine = side.unwrap_or_else(|| self.random_side());
        let new = NewRoom { settings, seats: seats(mine, SeatSpec::Open) };
        let room = self.create_new(player, new, Some(Command::SetReady(true)), request).await?.room.id();
        waiting.add(room);
        Ok(room)
    }

    /// Tries to take the seat opposite a waiting player.
    async fn try_match(
        &self,
        player: &Arc<Player>,
        request: Option<Request>,
        room: RoomId,
        side: Option<Color>,
        until: Instant,
    ) -> Match {
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
        let join = Command::JoinGame(player.profile.clone(), open, request);
        if snapshot.room.seat_of(player.id()).is_some() {
            // An event of the room carries the request.
            let noted = if request.is_some() { self.command(player, room, join).await.err() } else { None };
            return noted.map_or(Match::Own, Match::Refused);
        }
        if !snapshot.room.is_present(open.opposite()) || side.is_some_and(|side| side != open) {
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

    /// True if the player has a seat in a room in which a game has begun after the game of this number.
    async fn plays_after(&self, player: &Player, room: RoomId, last: u32) -> bool {
        let plays = |room: &Room| last_game(room) > last && room.seat_of(player.id()).is_some();
        self.snapshot_as_admin(room).await.is_ok_and(|found| plays(&found.room))
    }

    fn random_side(&self) -> Color {
        if self.random.bits().is_multiple_of(2) { Color::Black } else { Color::White }
    }
}

/// The outcome of an attempt to match two players.
enum Match {
    Made,
    /// The player itself waits there.
    Own,
    /// No player waits there any longer.
    Stale,
    /// Its state is not known in time.
    Slow,
    /// The waiting player is absent, or has the side that this one wants; or this one cannot enter the room.
    NotNow,
    Refused(RoomError),
}

impl Match {
    /// The outcome of a rejection. A room that rejects only this player waits for others.
    fn after(rejection: Rejection) -> Self {
        if matches!(rejection, Rejection::Banned | Rejection::RoomFull) { Self::NotNow } else { Self::Stale }
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
