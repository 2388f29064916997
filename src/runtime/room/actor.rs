//! One actor owns one room. It judges, writes, applies and tells, in that order, always.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use tokio::{
    sync::{broadcast, oneshot},
    time::Instant,
};
use tracing::Instrument as _;

use super::{
    actor_cell::Mail,
    ai_turn::Thinker,
    message::{Accepted, Heard, Message, Published, Snapshot, Subscribed},
    notifier::{AtHand, Holders, Teller},
    registry::{Life, Origin},
};
use crate::{
    room::{
        CloseReason, Command, Event, Fact, GameId, Issuer, Phase, PlayerId, PlayerKind, Rejection, Room, Seq, Timestamp,
    },
    runtime::{
        error::RoomError,
        limit::limits::{STORE_RETRY, WATCHER_LAG},
        lobby::listing::Listing,
        metrics,
        poll::Alarm,
        server_state::{Entry, Shared},
    },
    store::{Append, AppendError, History},
};

/// Why an actor ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The room is over.
    Closed,
    /// The server stops.
    Stopped,
    /// Nothing goes on in the room. Whoever asks for it finds it in the journal.
    Asleep,
}

/// In this order, as what is looked at with every move lies side by side then.
#[repr(C)]
struct RoomActor {
    listing: Listing,
    /// Behind the listing, so that a room that is brought back finds its row gone, and before the watchers, who then look
    /// for that room.
    entry: Entry,
    shared: Arc<Shared>,
    alarm: Alarm,
    /// When it was last asked for something.
    quiet_since: Instant,
    /// When the storage that failed at a deadline is tried again.
    retry: Option<Instant>,
    /// When it is looked once more who is here, because that could not be written.
    look_again: Option<Instant>,
    /// Events of which it is not known whether the journal has them. Until it is, nothing else is done.
    unsure: Option<Vec<Event>>,
    thinker: Thinker,
    watchers: Option<broadcast::Sender<Published>>,
    /// The last snapshot given, for the many who ask at the same moment.
    snapshot: Option<Arc<Room>>,
    at_hand: AtHand,
    room: Room,
    /// Who holds what as the players' books have it.
    settled: Holders,
}

pub(crate) fn spawn(shared: Arc<Shared>, room: Room, origin: Origin, listing: Listing, life: Life) {
    let Life { generation, den, mail } = life;
    let span = tracing::info_span!(parent: None, "room", id = %room.id());
    let tasks = shared.tasks.clone();
    // In a box of its own, as a task begins with a copy of what it is given.
    let actor = Box::new(RoomActor {
        listing,
        entry: Entry { shared: Arc::clone(&shared), room: room.id(), generation, counted_as_game: false },
        // At once, so that whoever made the room holds it before the place is given back that was kept for it.
        settled: Teller::new(&shared, &room).begin_books(origin),
        at_hand: Teller::new(&shared, &room).at_hand(),
        thinker: Thinker::default(),
        watchers: None,
        snapshot: None,
        retry: None,
        unsure: None,
        look_again: None,
        quiet_since: Instant::now(),
        alarm: Alarm::default(),
        room,
        shared,
    });
    let course = async move {
        let mut mail = mail;
        // Last, so that in a panic the entry goes before the mailbox, and nobody takes the room for closed.
        let mut actor = actor;
        actor.run(origin, &mut mail).await;
    };
    tasks.spawn(den.run(course.instrument(span)));
}

impl RoomActor {
    async fn run(&mut self, origin: Origin, mail: &mut Mail) {
        self.entry.count_game(self.room.running().is_some());
        if let Origin::Start { away } = origin {
            // Without the credit nothing may follow that would be taken for the time behind it.
            if let Err(ending) = self.give_time_back(away, mail).await {
                return self.end(ending, mail).await;
            }
        }
        self.check_members().await;
        // One whose turn it was when the room last lived was asked by an actor that is gone.
        if let Some(player) = Teller::new(&self.shared, &self.room).asked() {
            Teller::new(&self.shared, &self.room).remind(player);
        }
        let ending = loop {
            if let Err(ending) = self.go_on() {
                break ending;
            }
            match self.step(mail).await {
                Ok(()) => {}
                Err(Ending::Asleep) => {
                    let Self { shared, room, entry, listing, .. } = self;
                    if shared.registry.put_to_sleep(room, entry.generation, listing, mail) {
                        return tracing::debug!("the room sleeps");
                    }
                    self.quiet_since = Instant::now();
                }
                Err(ending) => break ending,
            }
        };
        self.end(ending, mail).await;
    }

    async fn end(&mut self, ending: Ending, mail: &mut Mail) {
        self.entry.leave();
        if ending == Ending::Closed {
            self.shared.registry.forget_code(self.room.code());
        }
        mail.close();
        while let Some(message) = mail.next().await {
            self.turn_away(*message, ending);
        }
        tracing::debug!(?ending, "room leaves memory");
    }

    /// Takes one message, the one timer, or a finished AI job.
    async fn step(&mut self, mail: &mut Mail) -> Result<(), Ending> {
        if let Some(unsure) = self.unsure.take() {
            return self.wait_for_journal(unsure, mail).await;
        }
        self.thinker.prepare(&self.room, &self.shared);
        let wake = self.wake();
        let shared = Arc::clone(&self.shared);
        // In an order, so that one seed is one course of events. What is due is done but once, and starves nobody.
        tokio::select! {
            biased;
            square = self.thinker.answer() => {
                // Where AIs answer at once, nothing behind this has its turn before the game is over.
                if shared.rooms_end.is_cancelled() {
                    return Err(Ending::Stopped);
                }
                if let Some(command) = self.thinker.take(square, &self.room, &shared) {
                    self.tick(self.now()).await?;
                    if self.carry_out(Issuer::Server, command).await.is_err() {
                        self.thinker.postpone();
                    }
                }
                Ok(())
            }
            () = self.alarm.ring(wake) => self.do_what_is_due().await,
            message = mail.next() => match message {
                Some(message) => self.take(message).await,
                None => Err(Ending::Stopped),
            },
        }
    }

    async fn do_what_is_due(&mut self) -> Result<(), Ending> {
        let now = Instant::now();
        self.tick(self.shared.clock.at(now)).await?;
        if self.look_again.is_some_and(|again| again <= now) {
            self.check_members().await;
        }
        self.go_on()?;
        if self.bedtime().is_some_and(|bedtime| bedtime <= now) { Err(Ending::Asleep) } else { Ok(()) }
    }

    /// When the room leaves memory, if nothing comes between.
    fn bedtime(&self) -> Option<Instant> {
        let idle = self.room.is_idle() && self.watchers.is_none() && self.retry.or(self.look_again).is_none();
        idle.then(|| self.quiet_since + self.shared.limits.room_sleep)
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// When there will be something to do, if nothing comes between. One timer does for all of it.
    fn wake(&self) -> Option<Instant> {
        let due = self.at_hand.due.map(|due| self.shared.clock.instant(due));
        let due = due.map(|due| self.retry.map_or(due, |retry| due.max(retry)));
        due.into_iter().chain(self.look_again).chain(self.bedtime()).min()
    }

    async fn take(&mut self, message: Box<Message>) -> Result<(), Ending> {
        self.quiet_since = Instant::now();
        // Left in its box until it is judged: what is held across a wait is written to the task's memory, which is cold.
        if let Message::Command(actor, command, _) = &*message {
            let now = self.shared.clock.at(self.quiet_since);
            if self.is_due(now)
                && let Err(ending) = self.tick(now).await
            {
                self.turn_away(*message, ending);
                return Err(ending);
            }
            if *command != Command::Leave
                && let Some(player) = self.returned(*actor)
            {
                self.check_presence(player).await;
            }
        }
        match self.hear(message) {
            Heard::Command { judged, strike, reply } => {
                let answer = match judged {
                    Ok(events) => self.keep(events).await,
                    Err(error) => {
                        if let Some((game, ply)) = strike {
                            // A refusal changes nothing, so the strike is a command of its own.
                            let _ = self.carry_out(Issuer::Server, Command::Strike { game, ply }).await;
                        }
                        Err(error)
                    }
                };
                // The caller may have gone; what was done is done.
                let _ = reply.send(answer);
            }
            Heard::Subscribe(after, reply) => self.subscribe(after, reply).await,
            Heard::CheckPresence(player) => self.check_presence(player).await,
            Heard::Done => {}
        }
        Ok(())
    }

    /// Judges a command, and answers what needs no wait.
    #[expect(clippy::boxed_local, reason = "it is freed here, as thousands wait for the journal at a time")]
    fn hear(&mut self, message: Box<Message>) -> Heard {
        match *message {
            Message::Command(actor, command, reply) => {
                let tried = match command {
                    Command::Play { game, ply, .. } => Some((game, ply)),
                    _ => None,
                };
                let judged = self.judge(actor, command);
                let illegal = matches!(judged, Err(RoomError::Rejected(Rejection::IllegalMove(_))));
                return Heard::Command { judged, strike: tried.filter(|_| illegal && self.is_bot(actor)), reply };
            }
            Message::Subscribe(after, reply) => return Heard::Subscribe(after, reply),
            Message::CheckPresence(player) => return Heard::CheckPresence(player),
            Message::Snapshot(reply) => {
                let _ = reply.send(self.snapshot());
            }
            Message::Unwatched => self.count_watchers(),
            Message::Remind(player, told) => self.remind(player, told),
        }
        Heard::Done
    }

    /// Asked before every step.
    fn go_on(&self) -> Result<(), Ending> {
        if self.room.phase() == Phase::Closed { Err(Ending::Closed) } else { Ok(()) }
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.at_hand.due.is_some_and(|due| due <= now)
    }

    /// Does what time has made due.
    async fn tick(&mut self, now: Timestamp) -> Result<(), Ending> {
        if self.is_due(now) {
            self.welcome_returned().await;
            let failed = self.carry_out(Issuer::Server, Command::Tick).await.is_err();
            self.retry = failed.then(|| Instant::now() + STORE_RETRY);
        }
        self.go_on()
    }

    fn is_bot(&self, actor: Issuer) -> bool {
        let Issuer::Player(player) = actor else { return false };
        self.room.member(player).is_some_and(|member| member.profile.kind == PlayerKind::Bot)
    }

    async fn check_presence(&mut self, player: PlayerId) {
        if self.unsure.is_some() {
            // All are looked at when the journal can be read again.
            return;
        }
        let present = self.is_here(player);
        let noted = self.carry_out(Issuer::Server, Command::SetPresence(player, present)).await;
        // One who is no member any more is no concern of the room.
        if let Err(RoomError::StoreUnavailable) = noted {
            self.look_again = Some(Instant::now() + STORE_RETRY);
        }
    }

    fn is_here(&self, player: PlayerId) -> bool {
        let grace = self.shared.limits.presence_grace;
        self.shared.players.get(player).is_some_and(|player| player.is_here(grace))
    }

    fn is_absent(&self, player: PlayerId) -> bool {
        self.room.member(player).is_some_and(|member| member.absent_since.is_some())
    }

    /// A room that is brought back may have missed who came and went.
    async fn check_members(&mut self) {
        self.look_again = None;
        let members: Vec<_> = self.room.members().iter().map(|member| member.profile.id).collect();
        for member in members {
            self.check_presence(member).await;
        }
    }

    /// Nobody loses time while the server is away. Nothing is judged before that is written.
    async fn give_time_back(&mut self, away: i64, mail: &mut Mail) -> Result<(), Ending> {
        let credit = Command::Credit { micros: away };
        let mut given = self.carry_out(Issuer::Server, credit.clone()).await.is_ok();
        while !given {
            self.hold_out(mail).await?;
            // What was perhaps written is not given a second time.
            given = match self.unsure.take() {
                Some(unsure) => self.confirm(unsure).await,
                None => self.carry_out(Issuer::Server, credit.clone()).await.is_ok(),
            };
        }
        self.shared.uncredited.fetch_sub(1, Relaxed);
        Ok(())
    }

    /// One who was absent and asks something is here.
    fn returned(&self, actor: Issuer) -> Option<PlayerId> {
        let Issuer::Player(player) = actor else { return None };
        (self.at_hand.lacks_members && self.is_absent(player) && self.is_here(player)).then_some(player)
    }

    /// Nobody's place is taken away who has called elsewhere meanwhile.
    async fn welcome_returned(&mut self) {
        let members: Vec<_> = self.room.members().iter().map(|member| member.profile.id).collect();
        for member in members {
            if let Some(player) = self.returned(Issuer::Player(member)) {
                self.check_presence(player).await;
            }
        }
    }

    fn remind(&self, player: PlayerId, told: oneshot::Sender<()>) {
        Teller::new(&self.shared, &self.room).remind(player);
        // Nobody may wait for it any more.
        let _ = told.send(());
    }

    /// Judge, write, apply, tell.
    async fn carry_out(&mut self, actor: Issuer, command: Command) -> Result<Accepted, RoomError> {
        let events = self.judge(actor, command)?;
        self.keep(events).await
    }

    /// What a command comes to, where nothing is in the way of it.
    fn judge(&self, actor: Issuer, command: Command) -> Result<Vec<Event>, RoomError> {
        if self.unsure.is_some() {
            return Err(RoomError::StoreUnavailable);
        }
        Ok(self.room.decide(self.now(), actor, command)?)
    }

    /// Writes, applies, tells.
    async fn keep(&mut self, events: Vec<Event>) -> Result<Accepted, RoomError> {
        if events.is_empty() {
            return Ok(self.accepted(false));
        }
        let began = Instant::now();
        let games = self.room.records(&events);
        let append = Append { room: self.room.id(), expected: self.room.seq(), events: &events, games: &games };
        let appended = self.shared.store.journal.append(append).await;
        metrics::appended(began.elapsed());
        match appended {
            Ok(()) => {}
            Err(AppendError::Unavailable(reason)) => {
                tracing::error!(%reason, "a change could not be written, and was refused");
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

    /// Reads the journal again, and answers whether these events are the last that it holds.
    async fn confirm(&mut self, events: Vec<Event>) -> bool {
        let last = events.last().cloned();
        matches!(self.read_again(events).await, Some(newest) if newest.is_some() && newest == last)
    }

    /// Makes true, and tells, what the journal holds and the room does not know yet, and answers with the last of it.
    /// None when the journal cannot be read, which is then tried again before anything else.
    async fn read_again(&mut self, unsure: Vec<Event>) -> Option<Option<Event>> {
        let unknown = match self.shared.store.journal.load(self.room.id()).await {
            Ok(Some(History { base, events })) => {
                if base.seq() > self.room.seq() {
                    // Too much was written by another. Those who watch begin again with a snapshot.
                    (self.room, self.watchers, self.snapshot) = (base, None, None);
                    self.at_hand = Teller::new(&self.shared, &self.room).at_hand();
                }
                events.into_iter().filter(|event| event.seq > self.room.seq()).collect()
            }
            // Only a room that was closed is kept no longer.
            Ok(None) if unsure.iter().any(|event| matches!(event.fact, Fact::Closed(_))) => unsure,
            Ok(None) => {
                vec![Event { seq: self.room.seq().next(), at: self.now(), fact: Fact::Closed(CloseReason::Server) }]
            }
            Err(error) => {
                tracing::error!(%error, "the journal cannot be read");
                Teller::new(&self.shared, &self.room).expect(&mut self.settled, &unsure);
                self.unsure = Some(unsure);
                return None;
            }
        };
        if !unknown.is_empty() {
            self.publish(&unknown);
        }
        // What somebody perhaps held is theirs now, or is not.
        Teller::new(&self.shared, &self.room).settle(&mut self.settled);
        Some(unknown.into_iter().next_back())
    }

    /// Does nothing but look, until the journal can be read again.
    async fn wait_for_journal(&mut self, unsure: Vec<Event>, mail: &mut Mail) -> Result<(), Ending> {
        self.hold_out(mail).await?;
        if self.read_again(unsure).await.is_some() {
            self.retry = None;
            self.check_members().await;
        }
        Ok(())
    }

    /// Answers what can be answered until the storage is tried again. The clocks run on.
    async fn hold_out(&mut self, mail: &mut Mail) -> Result<(), Ending> {
        let retry = Instant::now() + STORE_RETRY;
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(retry) => return Ok(()),
                message = mail.next() => match message {
                    Some(message) => self.put_off(*message).await,
                    None => return Err(Ending::Stopped),
                },
            }
        }
    }

    /// Answers while nothing can change.
    async fn put_off(&mut self, message: Message) {
        match message {
            Message::Subscribe(_, reply) => self.subscribe(None, reply).await,
            Message::Remind(player, told) => self.remind(player, told),
            // Who is connected is looked at once more when the journal can be read.
            message => self.answer_without(message, RoomError::StoreUnavailable),
        }
    }

    fn accepted(&self, changed: bool) -> Accepted {
        let game = self.room.game().map(|game| GameId { room: self.room.id(), number: game.number });
        Accepted { seq: self.room.seq(), changed, game }
    }

    /// Makes written events true, and tells whom they concern.
    fn publish(&mut self, events: &[Event]) {
        self.snapshot = None;
        let only_moves = events.iter().all(|event| matches!(event.fact, Fact::Played { .. } | Fact::Passed));
        let mut published = Vec::new();
        for event in events {
            let asked = self.room.running().and_then(|game| Some((game.turn()?, game.ply())));
            self.room.apply(event);
            if self.watchers.is_some() {
                published.push(Published::of(self.shared.encode, event, &self.room));
            }
            Teller::new(&self.shared, &self.room).knowing(&self.at_hand.seated).tell(event, asked);
        }
        if only_moves {
            // Where all are here, nothing else falls due in a game.
            let AtHand { lacks_members, due, .. } = &mut self.at_hand;
            *due = if *lacks_members { self.room.deadline() } else { self.room.flag_falls() };
            debug_assert_eq!(*due, self.room.deadline());
        } else {
            self.at_hand = Teller::new(&self.shared, &self.room).at_hand();
        }
        Teller::new(&self.shared, &self.room).knowing(&self.at_hand.seated).ask_next(events);
        // Behind the players, whose clocks run while thousands of watchers are woken.
        if let Some(watchers) = &self.watchers {
            // Nobody may be left.
            published.into_iter().for_each(|event| drop(watchers.send(event)));
        }
        if only_moves {
            self.listing.update_board(&self.room);
        } else {
            Teller::new(&self.shared, &self.room).settle(&mut self.settled);
            self.listing.update(&self.room, self.watcher_count());
            self.entry.count_game(self.room.running().is_some());
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let watchers = self.watcher_count();
        let room = self.snapshot.take().unwrap_or_else(|| Arc::new(self.room.clone()));
        // Kept only while others are likely to ask: a second copy of every room is not worth its memory.
        self.snapshot = (watchers > 0).then(|| Arc::clone(&room));
        Snapshot { room, watchers }
    }

    fn watcher_count(&self) -> u32 {
        let count = self.watchers.as_ref().map_or(0, broadcast::Sender::receiver_count);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    async fn subscribe(&mut self, after: Option<Seq>, reply: oneshot::Sender<Subscribed>) {
        let missed = match after {
            Some(after) => self.missed(after).await,
            None => None,
        };
        let events = self.watchers.get_or_insert_with(|| broadcast::Sender::new(WATCHER_LAG)).subscribe();
        let subscribed = match missed {
            Some(missed) => Subscribed { snapshot: None, missed, events },
            None => Subscribed { snapshot: Some(self.snapshot()), missed: Vec::new(), events },
        };
        self.listing.update_watchers(self.watcher_count());
        // A caller that is gone has dropped its receiver with it.
        let _ = reply.send(subscribed);
    }

    /// The events after one that a watcher has; none when the journal does not reach back to it.
    async fn missed(&self, after: Seq) -> Option<Vec<Published>> {
        if after == self.room.seq() {
            return Some(Vec::new());
        }
        let History { base: mut room, events } = self.shared.store.journal.load(self.room.id()).await.ok()??;
        if after < room.seq() || after > self.room.seq() {
            return None;
        }
        let mut missed = Vec::new();
        for event in events {
            room.apply(&event);
            if event.seq > after {
                missed.push(Published::of(self.shared.encode, &event, &room));
            }
        }
        Some(missed)
    }

    fn count_watchers(&mut self) {
        let count = self.watcher_count();
        if count == 0 {
            (self.watchers, self.snapshot) = (None, None);
        }
        self.listing.update_watchers(count);
    }

    /// Answers what came too late, so that nobody waits for an actor that has ended.
    fn turn_away(&mut self, message: Message, ending: Ending) {
        let error = match ending {
            Ending::Closed => RoomError::Rejected(Rejection::RoomClosed),
            Ending::Stopped | Ending::Asleep => RoomError::Draining,
        };
        self.answer_without(message, error);
    }

    /// Refuses a command, and shows the room as it was.
    fn answer_without(&mut self, message: Message, error: RoomError) {
        match message {
            Message::Command(_, _, reply) => {
                let _ = reply.send(Err(error));
            }
            Message::Snapshot(reply) => {
                let _ = reply.send(self.snapshot());
            }
            Message::Subscribe(_, reply) => {
                let events = broadcast::Sender::new(1).subscribe();
                let _ = reply.send(Subscribed { snapshot: Some(self.snapshot()), missed: Vec::new(), events });
            }
            Message::Unwatched | Message::Remind(..) | Message::CheckPresence(_) => {}
        }
    }
}
