//! The actor of one room: decides, writes, applies and sends, in that order.

mod deadlines;
mod delay;
mod mover_reach;
mod presence;
mod writes;

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    time::Instant,
};
use tracing::Instrument as _;

use self::mover_reach::MoverReach;
use super::{
    ai_turn::{AiTurnState, TurnContext},
    counted_places::CountedPlaces,
    delayed::Delayed,
    encoded_event::{Encode, EncodedEvent},
    game_rate,
    mailbox::Mailbox,
    message::{Audience, Message, Snapshot, Subscribed, WatchAccess, WatchError},
    notifier::{Before, Notifier, TurnCache},
    registry::{NewActor, Registration, Registry},
    watchers::Watchers,
};
use crate::{
    room::{Command, Event, Fact, GameId, Issuer, Phase, PlayerId, PlayerKind, Rejection, Room, Seq, Timestamp},
    runtime::{
        ai::pool::MovePool,
        cluster::cluster::Cluster,
        lifecycle::Lifecycle,
        limit::in_force::LimitsInForce,
        lobby::listing::Listing,
        outcome::{Accepted, RoomError},
        player::directory::Players,
        reusable_wait::LazyTimer,
        server_clock::Clock,
        server_metrics,
        stalls::{SHORTEST, Stalls},
        tournament::registry::TournamentRegistry,
    },
    store::{Append, AppendError, Journal, PlayerStore},
};

/// The parts of the server that actors use.
pub(crate) struct ActorContext {
    pub(crate) limits: LimitsInForce,
    pub(crate) clock: Clock,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) player_store: Arc<dyn PlayerStore>,
    pub(crate) players: Arc<Players>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) pool: Arc<MovePool>,
    pub(crate) encode: Encode,
    pub(crate) stalls: Stalls,
    /// Limits how many watchers read missed events at the same time.
    pub(crate) resumes: Semaphore,
    pub(crate) cluster: Arc<Cluster>,
    /// The tournaments whose rooms tell their ends.
    pub(crate) tournaments: Arc<TournamentRegistry>,
    /// The rated games that have ended, for [`tell_rating_changes`](crate::runtime::games::tell_rating_changes).
    pub(crate) ended_games: mpsc::Sender<GameId>,
}

impl ActorContext {
    /// Writes to the journal. Also returns the time that it took.
    pub(crate) async fn append(&self, append: Append<'_>) -> (Result<(), AppendError>, Duration) {
        let is_new = |event: &Event| matches!(event.fact, Fact::Created(_) | Fact::GameStarted { .. });
        if append.events.iter().any(is_new) && self.journal.is_malformed() {
            let reason = "the database is malformed; no new rooms and games are stored in it";
            return (Err(AppendError::Damaged(reason.to_owned())), Duration::ZERO);
        }
        let write = self.stalls.begin_write();
        let appended = self.journal.append(append).await;
        let took = write.end(!appended.as_ref().is_err_and(AppendError::is_fault));
        server_metrics::appended(took);
        (appended, took)
    }

    /// An event encoded for watchers and for following nodes. `room` is the room after the event.
    pub(crate) fn encoded(&self, event: &Event, room: &Room) -> EncodedEvent {
        let encoded = EncodedEvent::new(self.encode, event, room);
        if self.cluster.shares_store() { encoded.for_nodes(event) } else { encoded }
    }
}

/// The source of a new actor's room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Just created, by these events of one write.
    New(Vec<Event>),
    /// Loaded: an earlier actor may have ended before its work was done.
    Journal,
    /// Dormant until now: nothing needs to be corrected.
    Dormant,
    /// Loaded at the server's start.
    Start {
        /// When the server's downtime began.
        since: Timestamp,
        /// The downtime in microseconds; negative when the server's clock was set back.
        downtime: i64,
    },
}

impl Origin {
    /// The origin of a room that last ran at `since` or at its last activity, whichever is later.
    pub(crate) fn since(room: &Room, since: Timestamp, clock: Clock) -> Self {
        // Another server has given this credit, and ended before it could tell the store. The room's times are by that
        // server's clock now, which may be behind.
        let is_given = room.credited_since() == Some(since);
        let since = if is_given { room.last_activity() } else { since.max(room.last_activity()) };
        Self::Start { since, downtime: clock.now().0 - since.0 }
    }
}

/// Why an actor ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The room has closed.
    Closed,
    /// The server stops.
    Stopped,
    /// The room is idle. The next request loads it from the journal.
    Dormant,
    /// Another server has the room.
    Moved,
}

struct RoomActor {
    // Dropped first: the listing before the room is loaded again, the entry before the watchers look the room up.
    listing: Listing,
    registration: Registration,
    context: Arc<ActorContext>,
    timer: LazyTimer,
    /// The time of the last message.
    quiet_since: Instant,
    /// The lost time that the clocks are credited with, in microseconds: that of stalls, and that in which the player to
    /// move could not be reached.
    credited: i64,
    mover: MoverReach,
    /// When to retry a deadline or a read after the store failed.
    retry: Option<Instant>,
    /// Why the room cannot be read or written, as it is in the log: true for a fault of the journal, false for damage.
    logged_failure: Option<bool>,
    /// When to check presence again, because it could not be written.
    recheck: Option<Instant>,
    /// Events that may or may not be in the journal. Until that is known, nothing else is done.
    in_doubt: Option<Vec<Event>>,
    /// True if another server has the room, so that this actor must end.
    has_moved: bool,
    ai_turn: AiTurnState,
    watchers: Watchers,
    /// Of a room with a delay for spectators.
    delayed: Option<Box<Delayed>>,
    cache: TurnCache,
    room: Room,
    /// The places as recorded in the players' quotas.
    places: CountedPlaces,
}

/// Starts the actor of a room.
pub(crate) fn spawn(context: Arc<ActorContext>, room: Room, origin: Origin, new: NewActor) {
    let NewActor { listing, registration, cell, mailbox, .. } = new;
    let span = tracing::info_span!(parent: None, "room", id = %room.id());
    let lifecycle = context.lifecycle.clone();
    if let Origin::Start { .. } = origin {
        context.registry.uncredited.fetch_add(1, Relaxed);
    }
    // Boxed, because a task is created by copying its captures.
    let actor = Box::new(RoomActor {
        listing,
        registration,
        // Counted before `create` returns, since its reservation then ends.
        places: CountedPlaces::note(&context.players, &room, origin == Origin::Journal),
        cache: TurnCache::of(&context.players, &room),
        ai_turn: AiTurnState::default(),
        watchers: Watchers::default(),
        delayed: None,
        retry: None,
        logged_failure: None,
        in_doubt: None,
        has_moved: false,
        recheck: None,
        quiet_since: Instant::now(),
        credited: context.stalls.lost(context.clock.now()),
        mover: MoverReach::default(),
        timer: LazyTimer::default(),
        room,
        context,
    });
    if let Origin::New(events) = &origin {
        events.iter().for_each(|event| actor.notifier().notify(event, &Before::of(&actor.room)));
    }
    let run = async move {
        let mut mailbox = mailbox;
        // Declared last, so that in a panic the entry goes before the mailbox, and no caller sees the room as closed.
        let mut actor = actor;
        actor.run(origin, &mut mailbox).await;
    };
    lifecycle.spawn(cell.run(run.instrument(span)));
}

impl RoomActor {
    async fn run(&mut self, origin: Origin, mailbox: &mut Mailbox) {
        self.registration.count_game(self.room.running().is_some());
        self.restore_delayed(&origin).await;
        if let Origin::Start { since, downtime } = origin {
            // First, because later events would end the downtime.
            if let Err(ending) = self.credit_downtime(since, downtime, mailbox).await {
                if ending == Ending::Moved {
                    // The other server credits the clocks.
                    self.context.registry.uncredited.fetch_sub(1, Relaxed);
                }
                return self.end(ending, mailbox).await;
            }
        }
        self.check_members().await;
        // An open turn may have been requested only by an earlier actor, or a game may have begun with the room.
        if let Some(player) = self.notifier().player_to_move() {
            self.notifier().remind(player);
        }
        let ending = loop {
            if let Err(ending) = self.check_open() {
                break ending;
            }
            self.show_due();
            match self.step(mailbox).await {
                Ok(()) => {}
                Err(Ending::Dormant) => {
                    let Self { room, registration, listing, .. } = self;
                    if registration.make_dormant(room, listing, mailbox) {
                        return tracing::debug!("the room is dormant");
                    }
                    self.quiet_since = Instant::now();
                }
                Err(ending) => break ending,
            }
        };
        if ending == Ending::Closed {
            self.show_rest(mailbox).await;
        }
        self.end(ending, mailbox).await;
    }

    async fn end(&mut self, ending: Ending, mailbox: &mut Mailbox) {
        if ending == Ending::Moved {
            // Before the room may be restored here again.
            self.places.release(&self.context.players, self.room.id());
            self.listing.release();
        }
        self.registration.remove();
        if ending == Ending::Closed {
            self.context.registry.remove_code(self.room.code());
        }
        if ending == Ending::Moved {
            // A closed mailbox would mean that the room has closed.
            mailbox.outlive_stop();
        } else {
            mailbox.close();
        }
        while let Some(message) = mailbox.next().await {
            self.reject(*message, ending);
        }
        tracing::debug!(?ending, "room leaves memory");
    }

    /// Handles one message, the timer, or an AI's move.
    async fn step(&mut self, mailbox: &mut Mailbox) -> Result<(), Ending> {
        if let Some(events) = self.in_doubt.take() {
            return self.wait_for_journal(events, mailbox).await;
        }
        let (ai_turn, context) = self.ai_turn();
        ai_turn.follow(context);
        let deadline = self.next_deadline();
        // Biased, so that simulations are deterministic. Messages that arrived after the deadline are handled after it.
        tokio::select! {
            biased;
            event = self.ai_turn.next() => {
                // AIs that answer at once would delay the stop until the game is over.
                if self.context.lifecycle.stop.is_cancelled() {
                    return Err(Ending::Stopped);
                }
                let (ai_turn, context) = self.ai_turn();
                if let Some(command) = ai_turn.handle(event, context) {
                    let now = self.now();
                    // If the credit fails, so does the move.
                    let _ = self.credit_stalls(now, SHORTEST).await;
                    self.tick(now).await?;
                    if let Err(error) = self.execute(Issuer::Server, command).await {
                        let at = Instant::now() + game_rate::retry_after(&error);
                        // Not before the retry of a deadline.
                        self.ai_turn.retry_at(self.retry.map_or(at, |retry| retry.max(at)));
                    }
                }
                Ok(())
            }
            // Before the timer, because a move that waits here may have arrived before the deadline.
            message = mailbox.next() => match message {
                Some(message) => self.handle(message).await,
                None => Err(self.stopped()),
            },
            () = self.timer.until(deadline) => self.handle_deadline().await,
        }
    }

    fn ai_turn(&mut self) -> (&mut AiTurnState, TurnContext<'_>) {
        let has_watchers = self.watchers.count() > 0;
        let ActorContext { players, clock, pool, .. } = &*self.context;
        let lobby = self.listing.lobby();
        (&mut self.ai_turn, TurnContext { room: &self.room, has_watchers, players, clock: *clock, pool, lobby })
    }

    fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    async fn handle(&mut self, message: Box<Message>) -> Result<(), Ending> {
        self.quiet_since = Instant::now();
        // The message stays boxed across these waits, so that the task is small.
        if let Message::Command(issuer, command, arrived, _) = &*message {
            let now = self.context.clock.at(self.quiet_since);
            if self.credit_stalls(now, SHORTEST).await.is_err() {
                if self.has_moved {
                    self.reject(*message, Ending::Moved);
                } else {
                    self.answer_error(*message, RoomError::StoreUnavailable);
                }
                return Ok(());
            }
            if self.is_due(self.context.clock.at(*arrived))
                && let Err(ending) = self.tick(now).await
            {
                self.reject(*message, ending);
                return Err(ending);
            }
            if !matches!(command, Command::Leave | Command::Vacate)
                && let Some(player) = self.returned(*issuer)
            {
                self.check_presence(player).await;
            }
            if let Command::Claim { .. } = command {
                // The opponent may be back without having called this room.
                self.note_returned().await;
            }
        }
        match *message {
            Message::Command(issuer, command, arrived, reply) => {
                let decided = self.decide(self.context.clock.at(arrived), issuer, command);
                let answer = self.commit(issuer, decided).await.map(|accepted| self.as_shown(issuer, accepted));
                let is_written = answer.is_ok();
                // The caller may have gone; the command is valid.
                let _ = reply.send(answer);
                if is_written {
                    // In case the write was slow: the next actor of the room would not know of it. Not after a failure:
                    // the room may have moved, and its next node credits the clocks.
                    let _ = self.credit_stalls(self.now(), SHORTEST).await;
                }
            }
            Message::Snapshot(audience, reply) => drop(reply.send(self.snapshot(audience))),
            Message::Subscribe(access, after, reply) => drop(reply.send(self.subscribe(&access, after))),
            Message::Unwatched => {
                let count = self.watchers.recount();
                if let Some(delayed) = &mut self.delayed {
                    delayed.watchers().recount();
                }
                self.listing.update_watchers(count);
            }
            Message::Remind(player, reply) => self.remind(player, reply),
            Message::CheckPresence(player) => {
                self.check_presence(player).await;
                // The player may have come back at another node.
                self.unreached(self.now());
            }
            // If it fails, it is done before the next command or deadline.
            Message::CreditStalls(_told) => drop(self.credit_stalls(self.now(), SHORTEST).await),
        }
        Ok(())
    }

    /// Writes the events of a decided command, or gives a bot a strike for an illegal move.
    async fn commit(&mut self, issuer: Issuer, decided: Result<Vec<Event>, RoomError>) -> Result<Accepted, RoomError> {
        let error = match decided {
            Ok(events) => return self.keep(events).await,
            Err(error) => error,
        };
        if let RoomError::Rejected(Rejection::IllegalMove(_)) = error
            && self.is_bot(issuer)
            && let Some(game) = self.room.running()
        {
            // A rejected command changes nothing, so the strike is a separate command.
            let strike = Command::Strike { game: game.number, ply: game.ply() };
            let _ = self.execute(Issuer::Server, strike).await;
        }
        Err(error)
    }

    /// Why the mailbox has ended.
    fn stopped(&self) -> Ending {
        if self.context.lifecycle.stop.is_cancelled() { Ending::Stopped } else { Ending::Moved }
    }

    fn check_owned(&self) -> Result<(), Ending> {
        if self.has_moved { Err(Ending::Moved) } else { Ok(()) }
    }

    fn check_open(&self) -> Result<(), Ending> {
        self.check_owned()?;
        if self.room.phase() == Phase::Closed { Err(Ending::Closed) } else { Ok(()) }
    }

    fn is_bot(&self, issuer: Issuer) -> bool {
        let Issuer::Player(player) = issuer else { return false };
        self.room.member(player).is_some_and(|member| member.profile.kind == PlayerKind::Bot)
    }

    fn notifier(&self) -> Notifier<'_> {
        let ActorContext { players, clock, stalls, .. } = &*self.context;
        let credited = self.credited.saturating_sub(self.mover.total());
        Notifier { players, clock: *clock, room: &self.room, cache: &self.cache, stalls, credited }
    }

    fn remind(&self, player: PlayerId, reply: oneshot::Sender<()>) {
        self.notifier().remind(player);
        self.notifier().remind_of_offers(player);
        // The caller may have gone.
        let _ = reply.send(());
    }

    /// Decides, writes, applies and sends one command.
    async fn execute(&mut self, issuer: Issuer, command: Command) -> Result<Accepted, RoomError> {
        let events = self.decide(self.now(), issuer, command)?;
        self.keep(events).await
    }

    fn decide(&self, arrived: Timestamp, issuer: Issuer, command: Command) -> Result<Vec<Event>, RoomError> {
        self.decide_at(self.now(), arrived, issuer, command)
    }

    fn decide_at(
        &self,
        at: Timestamp,
        arrived: Timestamp,
        issuer: Issuer,
        command: Command,
    ) -> Result<Vec<Event>, RoomError> {
        if self.in_doubt.is_some() {
            return Err(RoomError::StoreUnavailable);
        }
        let events = self.room.decide_arrived(at, arrived, issuer, command)?;
        self.listing.lobby().require_no_rated_game_at_start(&self.room, &events)?;
        game_rate::admit(&self.context.players, &self.room, issuer, events)
    }

    fn accepted(&self, changed: bool) -> Accepted {
        let game = self.room.game().map(|game| GameId { room: self.room.id(), number: game.number });
        Accepted { seq: self.room.seq(), changed, game }
    }

    /// Applies written events, and sends them to players, watchers and the list of rooms.
    fn publish(&mut self, events: &[Event]) {
        self.watchers.outdate();
        let only_moves = events.iter().all(|event| matches!(event.fact, Fact::Played { .. } | Fact::Passed));
        let mut encoded = Vec::new();
        for event in events {
            let (before, phase) = (Before::of(&self.room), self.room.phase());
            self.room.apply(event);
            if let Some(delayed) = &mut self.delayed {
                delayed.add(event, phase, &self.room);
            }
            if let Fact::ClockCredited { micros } = event.fact {
                self.credited = self.credited.saturating_add(micros);
            }
            if !self.watchers.is_none() {
                encoded.push(self.context.encoded(event, &self.room));
            }
            self.notifier().notify(event, &before);
            if matches!(event.fact, Fact::GameEnded(_)) {
                self.note_ended_game();
            }
        }
        if only_moves {
            // With all members present, a running game has no other deadline.
            let TurnCache { has_absent, due, .. } = &mut self.cache;
            *due = if *has_absent { self.room.deadline() } else { self.room.flag_falls() };
            debug_assert_eq!(*due, self.room.deadline());
        } else {
            self.cache = TurnCache::of(&self.context.players, &self.room);
        }
        self.unreached(self.now());
        self.notifier().request_turn(events);
        // After the players, whose clocks run while thousands of watchers are woken.
        encoded.into_iter().for_each(|event| self.watchers.send(event));
        if let Some(meeting) = self.room.meeting().filter(|_| self.room.series().is_none()) {
            self.context.tournaments.room_ended(meeting);
        }
        self.follow_delay();
        if only_moves && self.delayed.is_none() {
            self.listing.update_board(&self.room);
        } else {
            self.places.update(&self.context.players, &self.room);
            self.list();
            self.registration.count_game(self.room.running().is_some());
        }
    }

    /// The players of a rated game are told what it did to their ratings. When the queue is full they are not.
    fn note_ended_game(&self) {
        if let Some(game) = self.room.game().filter(|_| self.room.settings().rated) {
            let _ = self.context.ended_games.try_send(GameId { room: self.room.id(), number: game.number });
        }
    }

    fn snapshot(&mut self, audience: Audience) -> Snapshot {
        match (&mut self.delayed, audience) {
            // All who watch the room follow it as it is, too.
            (Some(delayed), Audience::Delayed) => Snapshot { watchers: self.watchers.count(), ..delayed.snapshot() },
            _ => self.watchers.snapshot(&self.room),
        }
    }

    fn subscribe(&mut self, access: &WatchAccess, after: Option<Seq>) -> Result<Subscribed, WatchError> {
        let subscribed = match (&mut self.delayed, access.audience()) {
            (Some(delayed), Audience::Delayed) => delayed.subscribe(access, after)?,
            _ => self.watchers.subscribe(&self.room, access, after)?,
        };
        self.listing.update_watchers(self.watchers.count());
        Ok(subscribed)
    }

    /// Answers a message after the end.
    fn reject(&mut self, message: Message, ending: Ending) {
        let error = match ending {
            Ending::Closed => RoomError::Rejected(Rejection::RoomClosed),
            Ending::Moved => self.context.cluster.moved(),
            Ending::Stopped | Ending::Dormant => RoomError::Draining,
        };
        self.answer_error(message, error);
    }

    /// Refuses a command; reads are answered from the last state.
    fn answer_error(&mut self, message: Message, error: RoomError) {
        match message {
            Message::Command(_, _, _, reply) => drop(reply.send(Err(error))),
            Message::Snapshot(audience, reply) => drop(reply.send(self.snapshot(audience))),
            Message::Subscribe(access, _, reply) => {
                let last = match (&mut self.delayed, access.audience()) {
                    (Some(delayed), Audience::Delayed) => delayed.last(&access),
                    _ => self.watchers.last(&self.room, &access),
                };
                drop(reply.send(last));
            }
            Message::Unwatched | Message::Remind(..) | Message::CheckPresence(_) | Message::CreditStalls(_) => {}
        }
    }
}
