//! The deadlines of a room, and credits for time in which its players could not play.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use tokio::time::Instant;

use super::{ActorContext, Ending, RoomActor};
use crate::{
    room::{Command, Issuer, Timestamp},
    runtime::{
        outcome::RoomError,
        room::{game_rate, mailbox::Mailbox},
        stalls::SHORTEST,
    },
};

/// The interval at which to look whether the node of the player to move can be reached.
const REACH_RETRY: Duration = Duration::from_millis(100);

impl RoomActor {
    pub(super) async fn handle_deadline(&mut self) -> Result<(), Ending> {
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
        let is_watched = !self.watchers.is_none() || self.delayed.as_ref().is_some_and(|delayed| delayed.is_watched());
        let has_work = self.retry.or(self.recheck).or(self.next_shown()).is_some();
        let idle = self.room.is_idle() && !is_watched && !has_work;
        idle.then(|| self.quiet_since + self.context.limits.get().room_sleep)
    }

    /// The earliest of the deadlines of the room, of retries, of what spectators wait for, and of idleness.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let due = self.cache.due.map(|due| self.context.clock.instant(due));
        let due = due.map(|due| self.retry.map_or(due, |retry| due.max(retry)));
        due.into_iter().chain(self.recheck).chain(self.next_shown()).chain(self.idle_deadline()).min()
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.cache.due.is_some_and(|due| due <= now)
    }

    pub(super) async fn tick(&mut self, now: Timestamp) -> Result<(), Ending> {
        if self.is_due(now) {
            let again = if self.awaits_mover(now) {
                Some(REACH_RETRY)
            } else {
                self.meet_deadline(now).await.err().map(|error| game_rate::retry_after(&error))
            };
            self.retry = again.map(|again| Instant::now() + again);
        }
        self.check_open()
    }

    async fn meet_deadline(&mut self, now: Timestamp) -> Result<(), RoomError> {
        // The end of a player's time must be exact, other deadlines need not.
        let shortest = if self.room.running().is_some() { Duration::ZERO } else { SHORTEST };
        self.credit_stalls(now, shortest).await?;
        if self.is_due(now) {
            self.note_returned().await;
            // These writes may have taken long.
            self.credit_stalls(self.now(), shortest).await?;
        }
        // By `now`, not by the present time: a move that arrived during the writes waits in the mailbox, and may be in
        // time with the credits.
        if self.is_due(now) {
            self.execute(Issuer::Server, Command::Tick).await?;
        }
        Ok(())
    }

    /// Credits the clocks with the time lost by stalls of the server, and with that in which the player to move could not
    /// be reached, if it is at least `shortest` in total.
    pub(super) async fn credit_stalls(&mut self, now: Timestamp, shortest: Duration) -> Result<(), RoomError> {
        self.credit(now, None, shortest).await
    }

    /// Credits the lost time, with that before this actor if it began at `since`. Such a credit is dated so that its begin
    /// is exactly that, by which another server knows that it was given: see `Origin::since`.
    async fn credit(&mut self, now: Timestamp, since: Option<Timestamp>, shortest: Duration) -> Result<(), RoomError> {
        let lost = self.context.stalls.lost(now).saturating_add(self.unreached(now));
        let micros = lost.saturating_sub(self.credited);
        if micros == 0 || Duration::from_micros(micros.unsigned_abs()) < shortest {
            return Ok(());
        }
        // One that was in doubt may have been given already: what is lost since then is not before this actor.
        let first = since.filter(|since| self.room.credited_since() != Some(*since));
        let at = first.map_or_else(|| self.now(), |since| since.shifted(micros));
        let events = self.decide_at(at, now, Issuer::Server, Command::Credit { micros })?;
        if events.is_empty() {
            // No clock runs.
            self.credited = lost;
            return Ok(());
        }
        self.keep(events).await.map(drop)
    }

    /// The time in which the players to move could not be reached, in microseconds since this actor began.
    pub(super) fn unreached(&mut self, now: Timestamp) -> i64 {
        let player = self.notifier().player_to_move();
        let ActorContext { cluster, players, stalls, .. } = &*self.context;
        if !cluster.shares_store() {
            return 0;
        }
        self.mover.follow(cluster, players, player, stalls.unstalled(now))
    }

    /// True if the time of the player to move is over, but a move in time may not have arrived yet.
    fn awaits_mover(&self, now: Timestamp) -> bool {
        let ActorContext { cluster, stalls, .. } = &*self.context;
        let Some(flag) = self.room.flag_falls().filter(|flag| self.cache.due == Some(*flag)) else { return false };
        self.mover.may_be_under_way(cluster, flag.0.saturating_sub(stalls.lost(now)), stalls.unstalled(now))
    }

    /// Notes the time of a slow write, to be credited to the clocks of this room. Other rooms get no credit: their
    /// writes may have been answered meanwhile.
    pub(super) fn owe_slow_write(&mut self, took: Duration) {
        if took > SHORTEST {
            let took = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
            let lost = self.context.stalls.lost(self.now()).saturating_add(self.mover.total());
            self.credited = self.credited.min(lost.saturating_sub(took));
        }
    }

    /// Credits the clocks with the server's downtime in microseconds. Retries until the credit is written.
    pub(super) async fn credit_downtime(
        &mut self,
        since: Timestamp,
        downtime: i64,
        mailbox: &mut Mailbox,
    ) -> Result<(), Ending> {
        self.credited = self.credited.saturating_sub(downtime);
        while let Err(error) = self.credit(self.now(), Some(since), Duration::ZERO).await {
            self.check_owned()?;
            if error == RoomError::Damaged {
                // The room gets no credit until the damage is repaired.
                break;
            }
            self.pause(mailbox).await?;
            if let Some(events) = self.in_doubt.take() {
                // A credit in doubt must not be given twice.
                self.reload(events).await;
            }
        }
        self.context.registry.uncredited.fetch_sub(1, Relaxed);
        Ok(())
    }
}
