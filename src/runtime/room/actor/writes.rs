//! Writing to the journal, and reading it again after a write whose outcome is unknown.

use std::fmt::Display;

use tokio::time::Instant;

use super::{Ending, RoomActor};
use crate::{
    room::{CloseReason, Event, Fact, Room},
    runtime::{
        limit::limits::{DAMAGE_RETRY, STORE_RETRY},
        outcome::{Accepted, RoomError},
        room::{ai_turn::AiTurnState, mailbox::Mailbox, message::Message, notifier::TurnCache},
        server_metrics,
    },
    store::{Append, AppendError, History},
};

impl RoomActor {
    /// Writes events to the journal, then applies and sends them.
    pub(super) async fn keep(&mut self, events: Vec<Event>) -> Result<Accepted, RoomError> {
        if events.is_empty() {
            return Ok(self.accepted(false));
        }
        let ended = self.room.records(&events).into_iter();
        let games: Vec<_> = ended.map(|record| self.context.players.weigh(record)).collect();
        let append = Append { room: self.room.id(), expected: self.room.seq(), events: &events, games: &games };
        let (appended, took) = self.context.append(append).await;
        self.owe_slow_write(took);
        match appended {
            Ok(()) => {}
            Err(error @ (AppendError::Unavailable(_) | AppendError::Damaged(_))) => {
                self.log_failure(&error, error.is_fault(), "a change was rejected because it could not be written");
                games.iter().for_each(|game| self.context.players.unweigh(game));
                return Err(if error.is_fault() { RoomError::StoreUnavailable } else { RoomError::Damaged });
            }
            // No game ends in such a write.
            Err(AppendError::Repeated) => return Err(RoomError::RequestIdReused),
            Err(error @ AppendError::Fenced) => {
                tracing::debug!(%error, "the room ends here");
                games.iter().for_each(|game| self.context.players.unweigh(game));
                self.has_moved = true;
                return Err(self.context.cluster.moved());
            }
            Err(error @ (AppendError::Conflict(_) | AppendError::Unknown(_))) => {
                tracing::error!(%error, "the outcome of a write is unknown; the journal is read again");
                if self.confirm(events).await {
                    return Ok(self.accepted(true));
                }
                if self.in_doubt.is_none() {
                    games.iter().for_each(|game| self.context.players.unweigh(game));
                }
                return Err(RoomError::StoreUnavailable);
            }
        }
        self.logged_failure = None;
        self.publish(&events);
        Ok(self.accepted(true))
    }

    /// Logs a fault of the journal, or damage, once until it is read or written again: each attempt fails with it.
    fn log_failure(&mut self, error: &dyn Display, is_fault: bool, meaning: &str) {
        if self.logged_failure.replace(is_fault) != Some(is_fault) {
            tracing::error!(%error, "{meaning}");
        }
    }

    /// Reads the journal again, and returns whether it has these events. Another node may have added others.
    async fn confirm(&mut self, events: Vec<Event>) -> bool {
        let last = events.last().cloned();
        let read = self.reload(events).await.unwrap_or_default();
        last.is_some_and(|last| read.contains(&last))
    }

    /// Applies and sends the events of the journal that the room lacks, and returns them. `None` when the journal
    /// cannot be read. Then nothing else is done until it can.
    pub(super) async fn reload(&mut self, in_doubt: Vec<Event>) -> Option<Vec<Event>> {
        let unknown = match self.context.journal.load(self.room.id()).await {
            Ok(Some(history)) if history.last() < self.room.seq() => {
                self.roll_back(history.latest());
                return Some(Vec::new());
            }
            Ok(Some(History { base, events })) => {
                if base.seq() > self.room.seq() {
                    // Another writer has moved the base. The watchers restart with a snapshot.
                    self.room = base;
                    self.watchers.restart();
                    self.replace_delayed();
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
                self.log_failure(&error, error.is_fault(), "the journal cannot be read");
                let pause = if error.is_fault() { STORE_RETRY } else { DAMAGE_RETRY };
                self.retry = Some(Instant::now() + pause);
                self.places.expect(&self.context.players, &self.room, &in_doubt);
                self.in_doubt = Some(in_doubt);
                return None;
            }
        };
        self.logged_failure = None;
        if !unknown.is_empty() {
            self.publish(&unknown);
        }
        // Places counted in doubt are now certain.
        self.places.update(&self.context.players, &self.room);
        Some(unknown)
    }

    /// Goes back to an earlier state: the database is behind what it has acknowledged, as after a failover to an
    /// asynchronous standby. There may be other writes soon, and everybody has to know from which state on.
    fn roll_back(&mut self, latest: Room) {
        let (had, has) = (self.room.seq(), latest.seq());
        tracing::error!(%had, %has, "the database has lost events of the room; it goes back to the last one that is left");
        server_metrics::rolled_back();
        self.room = latest;
        // Since its last event no clock of it has run: those of lost turns ran for nothing.
        let now = self.now();
        let lost = self.context.stalls.lost(now).saturating_add(self.mover.total());
        self.credited = lost.saturating_sub(now.0 - self.room.last_activity().0);
        // Who is in the room again may be absent.
        self.recheck = Some(Instant::now());
        self.ai_turn = AiTurnState::default();
        self.watchers.roll_back();
        self.replace_delayed();
        self.cache = TurnCache::of(&self.context.players, &self.room);
        self.places.update(&self.context.players, &self.room);
        self.list();
        self.registration.count_game(self.room.running().is_some());
        if let Some(player) = self.notifier().player_to_move() {
            self.notifier().remind(player);
        }
    }

    /// Answers only reads until the journal can be read again.
    pub(super) async fn wait_for_journal(&mut self, events: Vec<Event>, mailbox: &mut Mailbox) -> Result<(), Ending> {
        self.pause(mailbox).await?;
        if self.reload(events).await.is_some() {
            self.retry = None;
            self.check_members().await;
        }
        Ok(())
    }

    /// Answers only reads until the store is tried again. The players' clocks are credited later.
    pub(super) async fn pause(&mut self, mailbox: &mut Mailbox) -> Result<(), Ending> {
        let retry = self.retry.take().unwrap_or_else(|| Instant::now() + STORE_RETRY);
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(retry) => return Ok(()),
                message = mailbox.next() => match message {
                    Some(message) => self.answer_paused(*message),
                    None => return Err(self.stopped()),
                },
            }
        }
    }

    fn answer_paused(&mut self, message: Message) {
        match message {
            Message::Subscribe(access, _, reply) => drop(reply.send(self.subscribe(&access, None))),
            Message::Remind(player, reply) => self.remind(player, reply),
            // Presence is checked once the journal can be read again.
            message => self.answer_error(message, RoomError::StoreUnavailable),
        }
    }
}
