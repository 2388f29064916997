//! `reversi bot --accept`: answers invitations, and plays in several rooms at a time.
//!
//! The bot acts in one room at a time, its current one. Of several rooms, the one with news becomes it for a moment.

use super::{
    Bot, StopReason,
    current_room::{CurrentRoom, RoomNews},
};
use crate::{
    cli::{connect::leave, say},
    client::{Availability, ClientError, Invited, Occupant, RoomId},
};

impl Bot {
    /// Acts on news of a room.
    pub(super) async fn handle_room(&mut self, (index, news): (usize, RoomNews)) -> Result<(), StopReason> {
        self.current = Some(self.accepted.swap_remove(index));
        let done = match news {
            RoomNews::Update(update) => self.handle_update(update).await,
            RoomNews::Due => self.wake().await,
        };
        self.accepted.extend(self.current.take());
        done
    }

    /// Makes one of the rooms the current one, before it is left.
    pub(super) fn select(&mut self, room: &RoomId) {
        if let Some(index) = self.accepted.iter().position(|accepted| accepted.id == *room) {
            self.current = Some(self.accepted.swap_remove(index));
        }
    }

    /// Tells the server the version of the engine, which one of an earlier version does not take; with `--accept` also
    /// which invitations the bot accepts. The games that go on may have to be claimed.
    pub(super) async fn introduce(&mut self) -> Result<(), ClientError> {
        match self.session.set_engine_version(&self.source.engine_version(&self.args.source)).await {
            Err(error) if error.is_unimplemented() => {}
            done => done?,
        }
        self.session.me().await?.games.iter().for_each(|game| self.claims.begin(game));
        if !self.args.accept {
            return Ok(());
        }
        let (games_at_once, opponents_a_day) = (self.args.seats.into(), self.args.opponents_a_day.into());
        let accepted = Availability { games_at_once, opponents_a_day, ..self.args.terms.availability() };
        self.session.set_availability(accepted).await
    }

    /// Plays on in the rooms in which an earlier run has seats.
    pub(super) async fn return_to_accepted(&mut self) -> Result<(), ClientError> {
        for (id, _) in self.session.me().await?.seats {
            if self.accepted.iter().any(|room| room.id == id) {
                continue;
            }
            match self.session.room(&id).await {
                Ok(room) => {
                    say(format_args!("back in room {} ({})", room.id, room.settings.name));
                    self.accepted.push(CurrentRoom::returned(&self.session, &room, false));
                }
                // It has closed, or removed the bot, since.
                Err(error) if error.refusal().is_some() && !error.is_transient() && !error.is_session_lost() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes the seat of an invitation, or declines it with the reason.
    pub(super) async fn answer_invitation(&mut self, invited: &Invited) -> Result<(), StopReason> {
        let from = invited.by.as_ref().map_or("somebody", |by| by.name.as_str());
        let declined = match self.refusal(invited) {
            Some(why) => self.decline(invited, &why).await.map(|_| Some(why)),
            None => self.accept(invited).await,
        };
        match declined {
            Ok(None) => say(format_args!("{from} invites to room {}: accepted", invited.room)),
            Ok(Some(why)) => say(format_args!("{from} invites to room {}: declined, {why}", invited.room)),
            // The invitation has ended, or the room has closed.
            Err(error) if error.refusal().is_some() && !error.is_transient() && !error.is_session_lost() => {
                say(format_args!("{from} invites to room {}: {error}", invited.room));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Why the bot declines.
    fn refusal(&self, invited: &Invited) -> Option<String> {
        if self.is_done() {
            return Some("I have played all my games".into());
        }
        let others = self.accepted.iter().filter(|room| room.id != invited.room).count();
        if others >= self.args.seats.into() {
            return Some(SEATS_TAKEN.into());
        }
        self.args.terms.refusal(invited)
    }

    /// Returns why the bot has not accepted after all: it has no seat, or the settings have changed.
    async fn accept(&mut self, invited: &Invited) -> Result<Option<String>, ClientError> {
        let room = self.session.join(&invited.room, "").await?;
        let is_seated = room.side_of(&self.session.player().id).is_some();
        let refusal = if is_seated { self.args.terms.refuses(&room.settings) } else { Some(NO_SEAT.into()) };
        if let Some(why) = refusal {
            match self.decline(invited, &why).await {
                // The seat is taken, or the invitation has ended.
                Err(error) if error.refusal().is_some() && !error.is_transient() && !error.is_session_lost() => {}
                declined => drop(declined?),
            }
            leave::unless_playing(&self.session, &room.id).await?;
            return Ok(Some(why));
        }
        self.accepted.retain(|accepted| accepted.id != room.id);
        self.accepted.push(CurrentRoom::entered(&self.session, &room, false));
        Ok(None)
    }

    async fn decline(&self, invited: &Invited, why: &str) -> Result<u64, ClientError> {
        self.session.decline_invitation(&invited.room, why).await
    }

    /// All rooms of the bot.
    pub(super) fn rooms(&self) -> impl Iterator<Item = &RoomId> {
        self.current.iter().chain(&self.accepted).map(|room| &room.id)
    }

    /// Whether the settings of a room, which may have changed since the invitation, are not those of the bot's terms, or
    /// the opponent has left after a game.
    pub(super) fn leaves_invitation(&self, current: &CurrentRoom) -> bool {
        let Some(room) = &current.room else { return false };
        let has_left = room.game.is_some()
            && room
                .side_of(&self.session.player().id)
                .is_some_and(|side| matches!(room.seats[side.opposite()].occupant, Occupant::Open));
        has_left || self.args.terms.refuses(&room.settings).is_some()
    }

    /// Says that the bot has left a room because its settings are no longer those of the bot's terms.
    pub(super) fn say_why_left(&self, left: &CurrentRoom) {
        let settings = left.room.as_ref().filter(|_| self.args.accept).map(|room| &room.settings);
        if let Some(why) = settings.and_then(|settings| self.args.terms.refuses(settings)) {
            say(format_args!("left room {} after a change of its settings: {why}", left.id));
        }
    }

    /// Forgets all rooms.
    pub(super) fn forget_rooms(&mut self) {
        self.current = None;
        self.accepted.clear();
    }
}

const SEATS_TAKEN: &str = "all my seats are taken";
const NO_SEAT: &str = "no seat is left for me";
