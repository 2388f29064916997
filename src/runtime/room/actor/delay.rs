//! The delay for spectators.

use tokio::time::{Instant, sleep_until};

use super::{Ending, Origin, RoomActor};
use crate::{
    room::Issuer,
    runtime::{
        outcome::Accepted,
        room::{delayed::Delayed, mailbox::Mailbox, message::Message},
    },
};

impl RoomActor {
    /// Finds out from the journal what spectators may see, before anything else happens.
    pub(super) async fn restore_delayed(&mut self, origin: &Origin) {
        if self.room.settings().spectator_delay.is_zero() {
            return;
        }
        let history = match origin {
            // All of it has just happened.
            Origin::New(_) => None,
            // Without it they see the games later.
            Origin::Journal | Origin::Dormant | Origin::Start { .. } => {
                self.context.journal.load(self.room.id()).await.ok().flatten()
            }
        };
        self.delayed = Some(Box::new(Delayed::restore(history, &self.room)));
        self.list();
    }

    /// Begins or ends the delay as the settings demand, between two games. Watchers look up what they may see.
    pub(super) fn follow_delay(&mut self) {
        let has_delay = !self.room.settings().spectator_delay.is_zero();
        if has_delay != self.delayed.is_some() {
            self.delayed = has_delay.then(|| Box::new(Delayed::new(self.room.clone())));
            self.watchers.restart();
        }
    }

    /// Shows spectators what is old enough.
    pub(super) fn show_due(&mut self) {
        let now = self.now();
        let until = now.before(self.room.settings().spectator_delay);
        let Self { delayed: Some(delayed), context, .. } = self else { return };
        if delayed.advance(until, |event, room| context.encoded(event, room)) {
            self.list();
        }
    }

    /// Goes on from the room as it has become without its events.
    pub(super) fn replace_delayed(&mut self) {
        let now = self.now();
        let has_delay = !self.room.settings().spectator_delay.is_zero();
        match &mut self.delayed {
            Some(delayed) if has_delay => delayed.replace(&self.room, now),
            delayed => *delayed = has_delay.then(|| Box::new(Delayed::restore(None, &self.room))),
        }
    }

    /// What an answer says to its receiver, who may see the room with the delay.
    pub(super) fn as_shown(&mut self, issuer: Issuer, accepted: Accepted) -> Accepted {
        match issuer {
            Issuer::Player(player) if self.room.is_delayed_for(player) => {
                // With the events of the command, if they need not wait.
                self.show_due();
                let seq = self.delayed.as_ref().map_or(accepted.seq, |delayed| delayed.room().seq());
                Accepted { seq, ..accepted }
            }
            Issuer::Player(_) | Issuer::Admin | Issuer::Server => accepted,
        }
    }

    /// When there is something to show to spectators.
    pub(super) fn next_shown(&self) -> Option<Instant> {
        let happened = self.delayed.as_ref()?.next()?;
        Some(self.context.clock.instant(happened.after(self.room.settings().spectator_delay)))
    }

    /// Updates the row in the list of rooms.
    pub(super) fn list(&mut self) {
        let shown = self.delayed.as_ref().map_or(&self.room, |delayed| delayed.room());
        if self.delayed.is_some() && shown.meeting().is_some() && shown.game().is_none() {
            // The list would tell of a pairing before the tournament does.
            return self.listing.remove();
        }
        self.listing.update(&self.room, shown, self.watchers.count());
    }

    /// Shows the rest of a closed room to spectators, for at most the delay.
    pub(super) async fn show_rest(&mut self, mailbox: &mut Mailbox) {
        loop {
            self.show_due();
            let Some(next) = self.next_shown() else { return self.listing.remove() };
            tokio::select! {
                biased;
                message = mailbox.next() => match message.map(|message| *message) {
                    Some(message @ (Message::Snapshot(..) | Message::Subscribe(..) | Message::Unwatched)) => {
                        let _ = self.handle(Box::new(message)).await;
                    }
                    Some(message) => self.reject(message, Ending::Closed),
                    None => return,
                },
                () = sleep_until(next) => {}
            }
        }
    }
}
