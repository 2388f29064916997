//! The actor of one room: decides, writes, applies and sends, in that order.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use tokio::{
    sync::{Semaphore, broadcast, oneshot},
    time::Instant,
};
use tracing::Instrument as _;

use super::{
    ai_turn::{AiTurnState, TurnContext},
    encoded_event::{Encode, EncodedEvent},
    holders::Holders,
    mailbox::Mailbox,
    message::{Message, Snapshot, Subscribed},
    notifier::{Before, Notifier, TurnCache},
    registry::{NewActor, Registration, Registry},
};
use crate::{
    room::{
        CloseReason, Command, Event, Fact, GameId, Issuer, Phase, PlayerId, PlayerKind, Rejection, Room, Seq, Timestamp,
    },
    runtime::{
        ai::pool::MovePool,
        lifecycle::Lifecycle,
        limit::limits::{Limits, STORE_RETRY, WATCHER_LAG},
        lobby::listing::Listing,
        outcome::{Accepted, RoomError},
        player::directory::Players,
        reusable_wait::LazyTimer,
        server_clock::Clock,
        server_metrics,
    },
    store::{Append, AppendError, History, Journal},
};

/// The parts of the server that actors use.
pub(crate) struct ActorContext {
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) players: Arc<Players>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) pool: Arc<MovePool>,
    pub(crate) encode: Encode,
    /// Bounds the watchers that read missed events concurrently.
    pub(crate) resumes: Semaphore,
}

/// The source of a new actor's room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Just created.
    New,
    /// Loaded: an earlier actor may have ended before its work was done.
    Journal,
    /// Dormant until now: nothing needs to be corrected.
    Dormant,
    /// Loaded at the server's start.
    Start {
        /// The server's downtime in microseconds; negative when its clock was set back.
        away: i64,
    },
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
}

struct RoomActor {
    // Dropped first: the listing before the room is loaded again, the entry before the watchers look the room up.
    listing: Listing,
    registration: Registration,
    context: Arc<ActorContext>,
    timer: LazyTimer,
    /// The time of the last message.
    quiet_since: Instant,
    /// When to retry a deadline at which the store failed.
    retry: Option<Instant>,
    /// When to check presence again, because it could not be written.
    recheck: Option<Instant>,
    /// Events that may or may not be in the journal. Until that is known, nothing else is done.
    in_doubt: Option<Vec<Event>>,
    ai_turn: AiTurnState,
    watchers: Option<broadcast::Sender<EncodedEvent>>,
    /// The last snapshot, shared by concurrent requests.
    snapshot: Option<Arc<Room>>,
    cache: TurnCache,
    room: Room,
    /// The holdings as recorded in the players' quotas.
    holders: Holders,
}

/// Starts the actor of a room.
pub(crate) fn spawn(context: Arc<ActorContext>, room: Room, origin: Origin, new: NewActor) {
    let NewActor { listing, registration, cell, mailbox, .. } = new;
    let span = tracing::info_span!(parent: None, "room", id = %room.id());
    let lifecycle = context.lifecycle.clone();
    // Boxed, because a task is created by copying its captures.
    let actor = Box::new(RoomActor {
        listing,
        registration,
        // Now, so that the creator holds the room before the reservation ends.
        holders: Holders::note(&context.players, &room, origin == Origin::Journal),
        cache: TurnCache::of(&context.players, &room),
        ai_turn: AiTurnState::default(),
        watchers: None,
        snapshot: None,
        retry: None,
        in_doubt: None,
        recheck: None,
        quiet_since: Instant::now(),
        timer: LazyTimer::default(),
        room,
        context,
    });
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
        if let Origin::Start { away } = origin {
            // First, because later events would end the downtime.
            if let Err(ending) = self.credit_downtime(away, mailbox).await {
                return self.end(ending, mailbox).await;
            }
        }
        self.check_members().await;
        // An open turn may have been requested by an earlier actor only.
        if let Some(player) = self.notifier().player_to_move() {
            self.notifier().remind(player);
        }
        let ending = loop {
            if let Err(ending) = self.check_open() {
                break ending;
            }
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
        self.end(ending, mailbox).await;
    }

    async fn end(&mut self, ending: Ending, mailbox: &mut Mailbox) {
        self.registration.remove();
        if ending == Ending::Closed {
            self.context.registry.remove_code(self.room.code());
        }
        mailbox.close();
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
        // Biased, so that a seed repeats. A deadline is handled only once, and starves no message.
        tokio::select! {
            biased;
            event = self.ai_turn.next() => {
                // AIs that answer at once would delay the stop until the game is over.
                if self.context.lifecycle.stop.is_cancelled() {
                    return Err(Ending::Stopped);
                }
                let (ai_turn, context) = self.ai_turn();
                if let Some(command) = ai_turn.handle(event, context) {
                    self.tick(self.now()).await?;
                    if self.execute(Issuer::Server, command).await.is_err() {
                        self.ai_turn.retry_later();
                    }
                }
                Ok(())
            }
            () = self.timer.until(deadline) => self.handle_deadline().await,
            message = mailbox.next() => match message {
                Some(message) => self.handle(message).await,
                None => Err(Ending::Stopped),
            },
        }
    }

    fn ai_turn(&mut self) -> (&mut AiTurnState, TurnContext<'_>) {
        let has_watchers = self.watcher_count() > 0;
        let ActorContext { players, clock, pool, .. } = &*self.context;
        (&mut self.ai_turn, TurnContext { room: &self.room, has_watchers, players, clock: *clock, pool })
    }

    async fn handle_deadline(&mut self) -> Result<(), Ending> {
        let now = Instant::now();
        self.tick(self.context.clock.at(now)).await?;
        if self.recheck.is_some_and(|again| again <= now) {
            self.check_members().await;
        }
        self.check_open()?;
        if self.idle_deadline().is_some_and(|deadline| deadline <= now) { Err(Ending::Dormant) } else { Ok(()) }
    }

    /// When the room becomes dormant unless something happens.
    fn idle_deadline(&self) -> Option<Instant> {
        let idle = self.room.is_idle() && self.watchers.is_none() && self.retry.or(self.recheck).is_none();
        idle.then(|| self.quiet_since + self.context.limits.room_sleep)
    }

    fn now(&self) -> Timestamp {
        self.context.clock.now()
    }

    /// The earliest of the deadlines of the room, of retries and of idleness.
    fn next_deadline(&self) -> Option<Instant> {
        let due = self.cache.due.map(|due| self.context.clock.instant(due));
        let due = due.map(|due| self.retry.map_or(due, |retry| due.max(retry)));
        due.into_iter().chain(self.recheck).chain(self.idle_deadline()).min()
    }

    async fn handle(&mut self, message: Box<Message>) -> Result<(), Ending> {
        self.quiet_since = Instant::now();
        // The message stays boxed across these waits, so that the task is small.
        if let Message::Command(issuer, command, _) = &*message {
            let now = self.context.clock.at(self.quiet_since);
            if self.is_due(now)
                && let Err(ending) = self.tick(now).await
            {
                self.reject(*message, ending);
                return Err(ending);
            }
            if *command != Command::Leave
                && let Some(player) = self.returned(*issuer)
            {
                self.check_presence(player).await;
            }
        }
        match *message {
            Message::Command(issuer, command, reply) => {
                let decided = self.decide(issuer, command);
                let answer = self.commit(issuer, decided).await;
                // The caller may have gone; the command is valid.
                let _ = reply.send(answer);
            }
            Message::Snapshot(reply) => drop(reply.send(self.snapshot())),
            Message::Subscribe(after, reply) => self.subscribe(after, reply),
            Message::Unwatched => self.count_watchers(),
            Message::Remind(player, reply) => self.remind(player, reply),
            Message::CheckPresence(player) => self.check_presence(player).await,
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

    fn check_open(&self) -> Result<(), Ending> {
        if self.room.phase() == Phase::Closed { Err(Ending::Closed) } else { Ok(()) }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.cache.due.is_some_and(|due| due <= now)
    }

    async fn tick(&mut self, now: Timestamp) -> Result<(), Ending> {
        if self.is_due(now) {
            self.note_returned().await;
            let failed = self.execute(Issuer::Server, Command::Tick).await.is_err();
            self.retry = failed.then(|| Instant::now() + STORE_RETRY);
        }
        self.check_open()
    }

    fn is_bot(&self, issuer: Issuer) -> bool {
        let Issuer::Player(player) = issuer else { return false };
        self.room.member(player).is_some_and(|member| member.profile.kind == PlayerKind::Bot)
    }

    async fn check_presence(&mut self, player: PlayerId) {
        if self.in_doubt.is_some() {
            // All members are checked once the journal can be read again.
            return;
        }
        let present = self.is_present(player);
        let noted = self.execute(Issuer::Server, Command::SetPresence(player, present)).await;
        if let Err(RoomError::StoreUnavailable) = noted {
            self.recheck = Some(Instant::now() + STORE_RETRY);
        }
    }

    fn is_present(&self, player: PlayerId) -> bool {
        let grace = self.context.limits.presence_grace;
        self.context.players.get(player).is_some_and(|player| player.is_present(grace))
    }

    fn is_absent(&self, player: PlayerId) -> bool {
        self.room.member(player).is_some_and(|member| member.absent_since.is_some())
    }

    /// Checks all members, because a loaded room may have missed changes.
    async fn check_members(&mut self) {
        self.recheck = None;
        let members: Vec<_> = self.room.members().iter().map(|member| member.profile.id).collect();
        for member in members {
            self.check_presence(member).await;
        }
    }

    /// Credits the side to move with the server's downtime, retrying until it is written.
    async fn credit_downtime(&mut self, away: i64, mailbox: &mut Mailbox) -> Result<(), Ending> {
        let credit = Command::Credit { micros: away };
        let mut given = self.execute(Issuer::Server, credit.clone()).await.is_ok();
        while !given {
            self.pause(mailbox).await?;
            // A credit in doubt must not be given twice.
            given = match self.in_doubt.take() {
                Some(events) => self.confirm(events).await,
                None => self.execute(Issuer::Server, credit.clone()).await.is_ok(),
            };
        }
        self.context.registry.uncredited.fetch_sub(1, Relaxed);
        Ok(())
    }

    /// The issuer of a command, if recorded as absent and present again.
    fn returned(&self, issuer: Issuer) -> Option<PlayerId> {
        let Issuer::Player(player) = issuer else { return None };
        (self.cache.has_absent && self.is_absent(player) && self.is_present(player)).then_some(player)
    }

    /// Records absent members who have called outside this room meanwhile as present, before they are removed.
    async fn note_returned(&mut self) {
        let members: Vec<_> = self.room.members().iter().map(|member| member.profile.id).collect();
        for member in members {
            if let Some(player) = self.returned(Issuer::Player(member)) {
                self.check_presence(player).await;
            }
        }
    }

    fn notifier(&self) -> Notifier<'_> {
        let ActorContext { players, clock, .. } = &*self.context;
        Notifier { players, clock: *clock, room: &self.room, cache: &self.cache }
    }

    fn remind(&self, player: PlayerId, reply: oneshot::Sender<()>) {
        self.notifier().remind(player);
        self.notifier().remind_of_offers(player);
        // The caller may have gone.
        let _ = reply.send(());
    }

    /// Decides, writes, applies and sends one command.
    async fn execute(&mut self, issuer: Issuer, command: Command) -> Result<Accepted, RoomError> {
        let events = self.decide(issuer, command)?;
        self.keep(events).await
    }

    fn decide(&self, issuer: Issuer, command: Command) -> Result<Vec<Event>, RoomError> {
        if self.in_doubt.is_some() {
            return Err(RoomError::StoreUnavailable);
        }
        Ok(self.room.decide(self.now(), issuer, command)?)
    }

    /// Writes, applies and sends.
    async fn keep(&mut self, events: Vec<Event>) -> Result<Accepted, RoomError> {
        if events.is_empty() {
            return Ok(self.accepted(false));
        }
        let began = Instant::now();
        let ended = self.room.records(&events).into_iter();
        let games: Vec<_> = ended.map(|record| self.context.players.weigh(record)).collect();
        let append = Append { room: self.room.id(), expected: self.room.seq(), events: &events, games: &games };
        let appended = self.context.journal.append(append).await;
        server_metrics::appended(began.elapsed());
        match appended {
            Ok(()) => {}
            Err(AppendError::Unavailable(reason)) => {
                tracing::error!(%reason, "a change was rejected because it could not be written");
                games.iter().for_each(|game| self.context.players.unweigh(game));
                return Err(RoomError::StoreUnavailable);
            }
            Err(error @ (AppendError::Conflict(_) | AppendError::Unknown(_))) => {
                tracing::error!(%error, "the journal is read again");
                return match self.confirm(events).await {
                    true => Ok(self.accepted(true)),
                    false => Err(RoomError::StoreUnavailable),
                };
            }
        }
        self.publish(&events);
        Ok(self.accepted(true))
    }

    /// Reads the journal again, and returns whether these events are its last.
    async fn confirm(&mut self, events: Vec<Event>) -> bool {
        let last = events.last().cloned();
        matches!(self.reload(events).await, Some(newest) if newest.is_some() && newest == last)
    }

    /// Applies and sends the journal's events that the room lacks, and returns the last of them. None when the journal
    /// cannot be read; nothing else is done until it can.
    async fn reload(&mut self, in_doubt: Vec<Event>) -> Option<Option<Event>> {
        let unknown = match self.context.journal.load(self.room.id()).await {
            Ok(Some(History { base, events })) => {
                if base.seq() > self.room.seq() {
                    // Another writer has moved the base. The watchers restart with a snapshot.
                    (self.room, self.watchers, self.snapshot) = (base, None, None);
                    self.cache = TurnCache::of(&self.context.players, &self.room);
                }
                events.into_iter().filter(|event| event.seq > self.room.seq()).collect()
            }
            // Only closed rooms are removed from the journal.
            Ok(None) if in_doubt.iter().any(|event| matches!(event.fact, Fact::Closed(_))) => in_doubt,
            Ok(None) => {
                vec![Event { seq: self.room.seq().next(), at: self.now(), fact: Fact::Closed(CloseReason::Server) }]
            }
            Err(error) => {
                tracing::error!(%error, "the journal cannot be read");
                self.holders.expect(&self.context.players, &self.room, &in_doubt);
                self.in_doubt = Some(in_doubt);
                return None;
            }
        };
        if !unknown.is_empty() {
            self.publish(&unknown);
        }
        // Holdings counted in doubt are now certain.
        self.holders.update(&self.context.players, &self.room);
        Some(unknown.into_iter().next_back())
    }

    /// Handles only reads until the journal can be read again.
    async fn wait_for_journal(&mut self, events: Vec<Event>, mailbox: &mut Mailbox) -> Result<(), Ending> {
        self.pause(mailbox).await?;
        if self.reload(events).await.is_some() {
            self.retry = None;
            self.check_members().await;
        }
        Ok(())
    }

    /// Handles only reads until the store is retried. The players' clocks keep running.
    async fn pause(&mut self, mailbox: &mut Mailbox) -> Result<(), Ending> {
        let retry = Instant::now() + STORE_RETRY;
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(retry) => return Ok(()),
                message = mailbox.next() => match message {
                    Some(message) => self.answer_paused(*message),
                    None => return Err(Ending::Stopped),
                },
            }
        }
    }

    fn answer_paused(&mut self, message: Message) {
        match message {
            Message::Subscribe(_, reply) => self.subscribe(None, reply),
            Message::Remind(player, reply) => self.remind(player, reply),
            // Presence is checked once the journal can be read again.
            message => self.answer_error(message, RoomError::StoreUnavailable),
        }
    }

    fn accepted(&self, changed: bool) -> Accepted {
        let game = self.room.game().map(|game| GameId { room: self.room.id(), number: game.number });
        Accepted { seq: self.room.seq(), changed, game }
    }

    /// Applies written events, and sends them to players, watchers and the list of rooms.
    fn publish(&mut self, events: &[Event]) {
        self.snapshot = None;
        let only_moves = events.iter().all(|event| matches!(event.fact, Fact::Played { .. } | Fact::Passed));
        let mut encoded = Vec::new();
        for event in events {
            let before = Before::of(&self.room);
            self.room.apply(event);
            if self.watchers.is_some() {
                encoded.push(EncodedEvent::new(self.context.encode, event, &self.room));
            }
            self.notifier().notify(event, &before);
        }
        if only_moves {
            // With all members present, a running game has no other deadline.
            let TurnCache { has_absent, due, .. } = &mut self.cache;
            *due = if *has_absent { self.room.deadline() } else { self.room.flag_falls() };
            debug_assert_eq!(*due, self.room.deadline());
        } else {
            self.cache = TurnCache::of(&self.context.players, &self.room);
        }
        self.notifier().request_turn(events);
        // After the players, whose clocks run while thousands of watchers are woken.
        if let Some(watchers) = &self.watchers {
            // The last receiver may have gone.
            encoded.into_iter().for_each(|event| drop(watchers.send(event)));
        }
        if only_moves {
            self.listing.update_board(&self.room);
        } else {
            self.holders.update(&self.context.players, &self.room);
            self.listing.update(&self.room, self.watcher_count());
            self.registration.count_game(self.room.running().is_some());
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let watchers = self.watcher_count();
        let room = self.snapshot.take().unwrap_or_else(|| Arc::new(self.room.clone()));
        // Kept only while the room is watched: otherwise a second copy is not worth its memory.
        self.snapshot = (watchers > 0).then(|| Arc::clone(&room));
        Snapshot { room, watchers }
    }

    fn watcher_count(&self) -> u32 {
        let count = self.watchers.as_ref().map_or(0, broadcast::Sender::receiver_count);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Subscribes a watcher to later events. It reads missed events from the journal itself.
    fn subscribe(&mut self, after: Option<Seq>, reply: oneshot::Sender<Subscribed>) {
        let events = self.watchers.get_or_insert_with(|| broadcast::Sender::new(WATCHER_LAG)).subscribe();
        let seq = self.room.seq();
        let snapshot = if after.is_some_and(|after| after <= seq) { None } else { Some(self.snapshot()) };
        self.listing.update_watchers(self.watcher_count());
        // If the caller has gone, its receiver is dropped here.
        let _ = reply.send(Subscribed { snapshot, seq, events });
    }

    fn count_watchers(&mut self) {
        let count = self.watcher_count();
        if count == 0 {
            (self.watchers, self.snapshot) = (None, None);
        }
        self.listing.update_watchers(count);
    }

    /// Answers a message after the end.
    fn reject(&mut self, message: Message, ending: Ending) {
        let error = match ending {
            Ending::Closed => RoomError::Rejected(Rejection::RoomClosed),
            Ending::Stopped | Ending::Dormant => RoomError::Draining,
        };
        self.answer_error(message, error);
    }

    /// Refuses a command; reads are answered from the last state.
    fn answer_error(&mut self, message: Message, error: RoomError) {
        match message {
            Message::Command(_, _, reply) => drop(reply.send(Err(error))),
            Message::Snapshot(reply) => drop(reply.send(self.snapshot())),
            Message::Subscribe(_, reply) => {
                let (snapshot, seq) = (Some(self.snapshot()), self.room.seq());
                let _ = reply.send(Subscribed { snapshot, seq, events: broadcast::Sender::new(1).subscribe() });
            }
            Message::Unwatched | Message::Remind(..) | Message::CheckPresence(_) => {}
        }
    }
}
