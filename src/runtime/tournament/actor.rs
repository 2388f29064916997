//! The actor of one tournament: decides, writes, applies and tells, in that order.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{
            AtomicI64,
            Ordering::{Relaxed, Release},
        },
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{Instant, Interval, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::{
    journal::read,
    meeting_room::{look, settle},
    notices,
    registry::{EndedRooms, MAILBOX, TournamentCall, TournamentHandle, TournamentRegistry},
};
use crate::{
    room::{Issuer, PlayerId, Timestamp, TournamentId},
    runtime::{lifecycle::ticks, limit::limits::STORE_RETRY, outcome::RoomError, room::rooms::Rooms, stalls::SHORTEST},
    store::{AppendError, TournamentAppend, TournamentJournal},
    tournament::{
        Command, Control, Event, Fact, Outcome, Phase, Rejection, Tournament,
        stored::{encode_event, encode_tournament},
    },
};

/// The number of events after which the whole state is stored, so that a restart reads few.
const SNAPSHOT_EVERY: usize = 64;

/// How often it is checked which entrants are connected.
const PRESENCE: Duration = Duration::from_secs(1);

/// The time without a stream after which an entrant is absent: enough to connect again after a restart of the server.
const LOST: Duration = Duration::from_secs(15);

/// The time after which an entrant of a pool leaves that is not connected.
const POOL_AWAY: Duration = Duration::from_secs(10 * 60);

/// The time without any event after which a tournament is called off that was not started, or is paused.
const STALE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The number of entrants from which on pairing is done on a thread of its own.
const LARGE: usize = 64;

/// Why an actor ends.
enum ActorEnd {
    /// The tournament is over.
    Over,
    /// The server stops, or another node has the tournament.
    Stopped,
}

/// The room of a running meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MeetingRoom {
    /// It is looked at, or created.
    Looking {
        /// It has changed since.
        again: bool,
    },
    /// Its series runs.
    Playing,
}

struct TournamentActor {
    server: Rooms,
    journal: Arc<dyn TournamentJournal>,
    tournament: Arc<Tournament>,
    state: watch::Sender<Arc<Tournament>>,
    mailbox: mpsc::Receiver<TournamentCall>,
    ended_rooms: Arc<EndedRooms>,
    stop: CancellationToken,
    /// By the number of the meeting.
    rooms: BTreeMap<u32, MeetingRoom>,
    looks: JoinSet<(u32, Option<Outcome>)>,
    /// The events since the last stored state.
    unsaved: usize,
    /// When to try again what the store refused.
    retry: Option<Instant>,
    /// The lost time with which the meetings are credited, in microseconds since the start of the server.
    credited: i64,
    /// The same for others, once it is written.
    written_credit: Arc<AtomicI64>,
    /// The entrants without a stream, and since when.
    unseen: BTreeMap<PlayerId, Instant>,
    presence: Interval,
}

/// Starts the actor of a tournament, unless it has one. Time since `alive`, when it last ran, counts for no entrant.
pub(super) fn start(
    server: &Rooms,
    journal: &Arc<dyn TournamentJournal>,
    tournament: Tournament,
    alive: Option<Timestamp>,
) {
    let id = tournament.id();
    let context = &server.host.context;
    let of_entrants = tournament.entrants().values().filter_map(|entrant| entrant.who.id());
    let counted_on = of_entrants.chain([tournament.organiser()]);
    counted_on.filter_map(|player| context.players.get(player)).for_each(|player| player.note_played());
    let mut started = None;
    let is_new = context.tournaments.add(id, || {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let tournament = Arc::new(tournament);
        let (state, latest) = watch::channel(Arc::clone(&tournament));
        let (stop, ended_rooms) = (context.lifecycle.stop.child_token(), Arc::<EndedRooms>::default());
        let credited = context.stalls.lost(context.clock.now());
        let written_credit = Arc::new(AtomicI64::new(credited));
        let handle = TournamentHandle {
            mailbox: sender.clone(),
            state: latest,
            ended_rooms: Arc::clone(&ended_rooms),
            credited: Arc::clone(&written_credit),
            stop: stop.clone(),
        };
        let actor = TournamentActor {
            server: server.clone(),
            journal: Arc::clone(journal),
            tournament,
            state,
            mailbox,
            ended_rooms,
            stop,
            rooms: BTreeMap::new(),
            looks: JoinSet::new(),
            unsaved: 0,
            retry: None,
            credited,
            written_credit,
            unseen: BTreeMap::new(),
            presence: ticks(PRESENCE),
        };
        started = Some((actor, sender));
        handle
    });
    let Some((mut actor, sender)) = started.filter(|_| is_new) else { return };
    if alive.is_some() {
        context.registry.uncredited.fetch_add(1, Relaxed);
    }
    let span = tracing::info_span!(parent: None, "tournament", %id);
    let registry = Arc::clone(&context.tournaments);
    let run = async move {
        // Also after a panic. Messages that wait are answered by their dropped replies.
        let _removal = Removal { registry, id, sender };
        actor.run(alive).await;
    };
    context.lifecycle.spawn(run.instrument(span));
}

/// Removes a tournament from the registry when its actor has ended.
struct Removal {
    registry: Arc<TournamentRegistry>,
    id: TournamentId,
    sender: mpsc::Sender<TournamentCall>,
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.registry.remove(self.id, &self.sender);
    }
}

impl TournamentActor {
    async fn run(&mut self, alive: Option<Timestamp>) {
        if let Some(alive) = alive
            && self.credit_downtime(alive).await.is_err()
        {
            return;
        }
        while self.step().await.is_ok() {}
    }

    /// Handles one message, one room or the deadline.
    async fn step(&mut self) -> Result<(), ActorEnd> {
        // A room that is looked at may be new, and has to end too.
        if matches!(self.tournament.phase(), Phase::Ended(_)) && self.looks.is_empty() {
            return Err(ActorEnd::Over);
        }
        self.follow_rooms();
        let due = self.tournament.deadline().map(|at| self.server.host.context.clock.instant(at));
        let due = due.map(|due| self.retry.map_or(due, |retry| retry.max(due)));
        // Biased, so that simulations are deterministic.
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(ActorEnd::Stopped),
            // First what comes from the server: clients can fill the mailbox.
            Some(look) = self.looks.join_next() => match look {
                Ok((number, found)) => self.looked(number, found).await,
                Err(_) => {
                    // A panic, which has been logged. All that are under way are looked at again.
                    self.rooms.retain(|_, room| *room == MeetingRoom::Playing);
                    Ok(())
                }
            },
            () = self.ended_rooms.notify.notified() => {
                self.look_at_ended();
                Ok(())
            }
            _ = self.presence.tick() => self.check_entrants().await,
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.tick().await,
            message = self.mailbox.recv() => match message {
                Some(message) => self.handle(message).await,
                None => Err(ActorEnd::Stopped),
            },
        }
    }

    fn now(&self) -> Timestamp {
        self.server.host.context.clock.now()
    }

    async fn handle(&mut self, TournamentCall { issuer, command, reply }: TournamentCall) -> Result<(), ActorEnd> {
        let joins = if let Command::Join { who, .. } = &command { who.id() } else { None };
        let done = match self.tick().await {
            Ok(()) => self.execute(issuer, command).await,
            Err(ending) => Err(Err(ending)),
        };
        let (answer, ending) = match done {
            Ok(()) => (Ok(Arc::clone(&self.tournament)), Ok(())),
            Err(Ok(error)) => (Err(error), Ok(())),
            Err(Err(ending)) => (Err(self.server.host.context.cluster.moved()), Err(ending)),
        };
        // The caller may have gone; the command is valid.
        let _ = reply.send(answer);
        ending?;
        match joins {
            // A new entrant counts as present, and may be paired at once.
            Some(player) => {
                self.unseen.insert(player, Instant::now().checked_sub(LOST).unwrap_or_else(Instant::now));
                self.check_entrants().await
            }
            None => Ok(()),
        }
    }

    /// Executes a command, after a credit for time that was lost. The error is a refusal or why the actor ends.
    async fn execute(&mut self, issuer: Issuer, command: Command) -> Result<(), Result<RoomError, ActorEnd>> {
        self.credit(SHORTEST).await?;
        self.write(issuer, command).await
    }

    async fn write(&mut self, issuer: Issuer, command: Command) -> Result<(), Result<RoomError, ActorEnd>> {
        let decided = self.decide(issuer, command).await;
        let events = decided.map_err(|rejection| Ok(RoomError::Tournament(rejection)))?;
        self.keep(events).await
    }

    /// Off the threads of the server where it takes long: pairing.
    async fn decide(&self, issuer: Issuer, command: Command) -> Result<Vec<Event>, Rejection> {
        let now = self.now();
        let is_slow = matches!(command, Command::Tick { .. }) && self.tournament.entrants().len() > LARGE;
        if !is_slow {
            return self.tournament.decide(now, issuer, command);
        }
        let tournament = Arc::clone(&self.tournament);
        let lifecycle = &self.server.host.context.lifecycle;
        lifecycle
            .spawn_blocking(move || tournament.decide(now, issuer, command))
            .await
            .unwrap_or_else(|_| Ok(Vec::new()))
    }

    /// Does all that is due; what the store refuses is tried again later.
    async fn tick(&mut self) -> Result<(), ActorEnd> {
        self.retry = None;
        while self.is_due() {
            let before = self.tournament.seq();
            match self.do_what_is_due().await {
                Ok(()) if self.tournament.seq() > before => continue,
                Ok(()) => {}
                Err(Ok(error)) => tracing::warn!(%error, "a step of a tournament is tried again"),
                Err(Err(end)) => return Err(end),
            }
            self.retry = Some(Instant::now() + STORE_RETRY);
            break;
        }
        Ok(())
    }

    fn is_due(&self) -> bool {
        self.tournament.deadline().is_some_and(|due| due <= self.now())
    }

    /// The first thing that is due. Who has come by now does not forfeit, nor who could not come while time was lost.
    async fn do_what_is_due(&mut self) -> Result<(), Result<RoomError, ActorEnd>> {
        self.credit(Duration::ZERO).await?;
        self.note_entrants().await?;
        if self.is_due() {
            let random = self.server.random.bits();
            self.write(Issuer::Server, Command::Tick { random }).await?;
        }
        Ok(())
    }

    /// Writes events, then applies and tells them.
    async fn keep(&mut self, events: Vec<Event>) -> Result<(), Result<RoomError, ActorEnd>> {
        let Some(first) = events.first() else { return Ok(()) };
        let mut after = Arc::clone(&self.tournament);
        let changed = Arc::make_mut(&mut after);
        events.iter().for_each(|event| changed.apply(event));
        let ended = matches!(after.phase(), Phase::Ended(_));
        let is_snapshot = ended || self.unsaved + events.len() >= SNAPSHOT_EVERY;
        let append = TournamentAppend {
            id: after.id(),
            expected: self.tournament.seq(),
            events: events.iter().map(encode_event).collect(),
            snapshot: is_snapshot.then(|| encode_tournament(&after)),
            ended,
            at: first.at,
        };
        let stalls = &self.server.host.context.stalls;
        let write = stalls.begin_write();
        let appended = self.journal.append_tournament(append).await;
        let took = write.end(!appended.as_ref().is_err_and(AppendError::is_fault));
        if took > SHORTEST {
            // Also a write that is slow by itself is credited: the entrants hear of their meetings only after it.
            let took = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
            self.credited = self.credited.min(stalls.lost(self.now()).saturating_sub(took));
        }
        match appended {
            Ok(()) => {}
            Err(AppendError::Fenced) => return Err(Err(ActorEnd::Stopped)),
            Err(error @ (AppendError::Unknown(_) | AppendError::Conflict(_))) => {
                tracing::error!(%error, "the outcome of a write is unknown; the tournament is read again");
                let read = self.reload().await.ok_or(Err(ActorEnd::Stopped))?;
                if read != after {
                    if read.seq() < self.tournament.seq() {
                        // The database has lost events, and the numbers of their meetings are given again.
                        self.rooms.clear();
                        self.looks = JoinSet::new();
                    }
                    self.adopt(read);
                    return Err(Ok(RoomError::StoreUnavailable));
                }
            }
            Err(AppendError::Damaged(_)) => return Err(Ok(RoomError::Damaged)),
            Err(AppendError::Unavailable(_) | AppendError::Repeated) => return Err(Ok(RoomError::StoreUnavailable)),
        }
        self.unsaved = if is_snapshot { 0 } else { self.unsaved + events.len() };
        let before = Arc::clone(&self.tournament);
        self.adopt(after);
        self.follow(&before, &events);
        Ok(())
    }

    fn adopt(&mut self, after: Arc<Tournament>) {
        self.tournament = after;
        self.state.send_replace(Arc::clone(&self.tournament));
    }

    /// The stored state, once the store can be read; none when the server stops.
    async fn reload(&self) -> Option<Arc<Tournament>> {
        loop {
            match read(&*self.journal, self.tournament.id()).await {
                Ok(Some(tournament)) => return Some(Arc::new(tournament)),
                Ok(None) => return None,
                Err(error) => tracing::error!(%error, "a tournament cannot be read; trying again"),
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                () = tokio::time::sleep(STORE_RETRY) => {}
            }
        }
    }

    /// What follows from events: notices to entrants, and the end of rooms whose meetings were decided otherwise.
    fn follow(&mut self, before: &Tournament, events: &[Event]) {
        for event in events {
            notices::send(&self.server.host.context.players, before, &self.tournament, event);
            // A room that is looked at now may not be there yet: it ends when it is known.
            if let Fact::Finished { number, .. } | Fact::Adjudicated { number, .. } = &event.fact
                && self.rooms.remove(number) == Some(MeetingRoom::Playing)
            {
                self.settle(*number);
            }
        }
    }

    fn settle(&self, number: u32) {
        let host = self.server.host.clone();
        self.server.host.context.lifecycle.spawn(settle(host, Arc::clone(&self.tournament), number));
    }

    /// Looks at the rooms of all meetings whose sides have both been there.
    fn follow_rooms(&mut self) {
        let is_new = |number: &u32| !self.rooms.contains_key(number);
        let ready = self.tournament.running().filter(|meeting| meeting.appeared == [true; 2]);
        let new: Vec<u32> = ready.map(|meeting| meeting.pairing.number).filter(is_new).collect();
        new.into_iter().for_each(|number| self.look_at(number));
    }

    fn look_at(&mut self, number: u32) {
        self.rooms.insert(number, MeetingRoom::Looking { again: false });
        self.looks.spawn(look(self.server.clone(), self.state.subscribe(), number));
    }

    fn look_at_ended(&mut self) {
        for number in self.ended_rooms.take() {
            match self.rooms.get_mut(&number) {
                Some(MeetingRoom::Looking { again }) => *again = true,
                Some(MeetingRoom::Playing) => self.look_at(number),
                None => {}
            }
        }
    }

    async fn looked(&mut self, number: u32, found: Option<Outcome>) -> Result<(), ActorEnd> {
        match (self.rooms.get(&number), found) {
            // It was decided otherwise meanwhile.
            (None, _) => {
                self.settle(number);
                Ok(())
            }
            (Some(MeetingRoom::Looking { again: true }), None) => {
                self.look_at(number);
                Ok(())
            }
            (Some(_), None) => {
                self.rooms.insert(number, MeetingRoom::Playing);
                Ok(())
            }
            (Some(_), Some(outcome)) => {
                // First, so that the room of a finished series is not closed: its players may look at the board.
                self.rooms.remove(&number);
                self.finish(number, outcome).await
            }
        }
    }

    /// If the store refuses, the room is looked at again.
    async fn finish(&mut self, number: u32, outcome: Outcome) -> Result<(), ActorEnd> {
        match self.execute(Issuer::Server, Command::Finish { number, outcome }).await {
            Ok(()) => Ok(()),
            Err(Ok(RoomError::Tournament(rejection))) if outcome != Outcome::Void => {
                tracing::error!(number, %rejection, "the outcome of a meeting is refused, and counts for nobody");
                Box::pin(self.finish(number, Outcome::Void)).await
            }
            Err(Ok(error)) => {
                tracing::warn!(number, %error, "the outcome of a meeting is written later");
                tokio::time::sleep(STORE_RETRY).await;
                Ok(())
            }
            Err(Err(ending)) => Err(ending),
        }
    }

    /// Notes which entrants are connected, and calls a tournament off that nobody starts or resumes.
    async fn check_entrants(&mut self) -> Result<(), ActorEnd> {
        let mut checked = self.note_entrants().await;
        let is_stale = self.tournament.changed().after(STALE) < self.now();
        if checked.is_ok() && is_stale && matches!(self.tournament.phase(), Phase::Open | Phase::Paused) {
            checked = self.execute(Issuer::Server, Command::Control(Control::Cancel)).await;
        }
        // What is refused is tried again soon.
        if let Err(Err(end)) = checked { Err(end) } else { Ok(()) }
    }

    /// Notes which entrants are connected. Those of a pool who stay away leave it.
    async fn note_entrants(&mut self) -> Result<(), Result<RoomError, ActorEnd>> {
        self.credit(SHORTEST).await?;
        for (player, command) in self.changes_of_entrants().await {
            if command == Command::Leave && self.server.host.context.players.is_connected(player) {
                // It has come back meanwhile.
                continue;
            }
            let issuer = if command == Command::Leave { Issuer::Player(player) } else { Issuer::Server };
            self.write(issuer, command).await?;
        }
        Ok(())
    }

    /// An entrant is absent once it has had no stream for some time; after a start or a move of the tournament that time
    /// begins anew. An entrant leaves if its player no longer exists.
    async fn changes_of_entrants(&mut self) -> Vec<(PlayerId, Command)> {
        let host = &self.server.host;
        let (now, instant) = (self.now(), Instant::now());
        let (mut changes, mut is_readable) = (Vec::new(), true);
        for entrant in self.tournament.entrants().values().filter(|entrant| entrant.left.is_none()) {
            let Some(player) = entrant.who.id() else { continue };
            let players = &host.context.players;
            // If it cannot be read now, it is absent until it can.
            if players.get(player).is_none() && is_readable {
                let found = host.player(player).await;
                is_readable = found.is_ok();
                if matches!(found, Ok(None)) {
                    self.unseen.remove(&player);
                    changes.push((player, Command::Leave));
                    continue;
                }
            }
            let is_there = if players.is_connected(player) {
                self.unseen.remove(&player);
                true
            } else {
                let since = *self.unseen.entry(player).or_insert(instant);
                entrant.present && instant < since + LOST
            };
            let is_gone = entrant.away_since().is_some_and(|since| since.after(POOL_AWAY) < now);
            if is_there != entrant.present {
                changes.push((player, Command::SetPresence(player, is_there)));
            } else if is_gone && self.tournament.settings().is_pool() {
                changes.push((player, Command::Leave));
            }
        }
        changes
    }

    /// Shifts the times at which meetings were opened by the time that was lost in stalls, if it is at least `shortest`.
    async fn credit(&mut self, shortest: Duration) -> Result<(), Result<RoomError, ActorEnd>> {
        let lost = self.server.host.context.stalls.lost(self.now());
        let before = self.credited;
        let micros = lost.saturating_sub(before);
        if micros == 0 || Duration::from_micros(micros.unsigned_abs()) < shortest {
            return Ok(());
        }
        // Before the write, which may itself be slow.
        self.credited = lost;
        match self.write(Issuer::Server, Command::Credit { micros }).await {
            // If it is damaged, it gets no credit until that is repaired.
            Ok(()) | Err(Ok(RoomError::Damaged)) => {}
            Err(error) => {
                self.credited = self.credited.min(before);
                return Err(error);
            }
        }
        self.written_credit.store(self.credited, Release);
        Ok(())
    }

    /// Credits the meetings with the time since `alive`, in which the server was down. Until that is written, the store
    /// must keep that time.
    async fn credit_downtime(&mut self, alive: Timestamp) -> Result<(), ActorEnd> {
        let context = Arc::clone(&self.server.host.context);
        let since = alive.max(self.tournament.changed());
        self.credited = self.credited.saturating_sub(self.now().0.saturating_sub(since.0));
        let credited = loop {
            match self.credit(Duration::ZERO).await {
                Ok(()) => break Ok(()),
                Err(Ok(_)) => {}
                Err(Err(end)) => break Err(end),
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break Err(ActorEnd::Stopped),
                () = tokio::time::sleep(STORE_RETRY) => {}
            }
        };
        // When it has moved, the other node credits them.
        if credited.is_ok() || !context.lifecycle.stop.is_cancelled() {
            context.registry.uncredited.fetch_sub(1, Relaxed);
        }
        credited
    }
}
