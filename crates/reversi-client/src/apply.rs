//! Applies events to a room, without checks: the server has made them.

use thiserror::Error;

use super::{Clocks, Room, RoomChange, RoomEvent, RoomState};

/// An event does not follow the room's last one: the watcher must request a snapshot.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("event {got} does not follow {last}")]
pub struct Gap {
    /// The last applied event.
    pub last: u64,
    /// The received event.
    pub got: u64,
}

impl Room {
    /// Applies an event; one that was applied before changes nothing.
    ///
    /// # Errors
    /// [`Gap`] if events are missing in between; the room is unchanged.
    pub fn apply(&mut self, event: &RoomEvent) -> Result<(), Gap> {
        if event.seq <= self.seq {
            return Ok(());
        }
        if event.seq != self.seq + 1 {
            return Err(Gap { last: self.seq, got: event.seq });
        }
        self.seq = event.seq;
        self.change(&event.change);
        if let Some(state) = &event.state {
            self.assign(state);
        }
        Ok(())
    }

    fn change(&mut self, change: &RoomChange) {
        match change {
            RoomChange::MemberJoined(member) => self.members.push(member.clone()),
            RoomChange::MemberLeft(player, _) => self.members.retain(|member| member.player.id != *player),
            RoomChange::PresenceChanged(player, present) => {
                for member in self.members.iter_mut().filter(|member| member.player.id == *player) {
                    member.present = *present;
                }
            }
            RoomChange::SettingsChanged { settings, has_password } => {
                self.settings = (**settings).clone();
                self.has_password = *has_password;
            }
            RoomChange::ChatPosted(line, lines) => {
                self.chat.push(line.clone());
                // 0 comes from a server of an older version.
                if *lines > 0 {
                    self.chat.drain(..self.chat.len().saturating_sub(*lines));
                }
            }
            RoomChange::ChatRemoved(chat) => self.chat.clone_from(chat),
            RoomChange::GameStarted(game, _) => self.game = Some((**game).clone()),
            RoomChange::MovePlayed { game, ply, standing, clocks, .. }
            | RoomChange::TurnPassed { game, ply, standing, clocks } => {
                if let Some(ours) = self.game.as_mut().filter(|ours| ours.id == *game) {
                    ours.ply = ply.ply + 1;
                    ours.plies.push(*ply);
                    (ours.standing, ours.clocks) = (*standing, *clocks);
                }
            }
            RoomChange::GameEnded { game, outcome, standing, .. } => {
                if let Some(ours) = self.game.as_mut().filter(|ours| ours.id == *game) {
                    (ours.outcome, ours.standing, ours.clocks) = (Some(*outcome), *standing, Clocks::default());
                }
            }
            RoomChange::ClockCredited { clocks: Some(clocks), .. } => {
                if let Some(game) = &mut self.game {
                    game.clocks = *clocks;
                }
            }
            // All that these change is in the event's state.
            RoomChange::Created
            | RoomChange::OwnerChanged(_)
            | RoomChange::SeatChanged(..)
            | RoomChange::SeatsSwapped
            | RoomChange::ReadyChanged(..)
            | RoomChange::OfferMade(..)
            | RoomChange::OfferClosed(..)
            | RoomChange::SeriesEnded
            | RoomChange::ClockCredited { clocks: None, .. }
            | RoomChange::MoveRefused { .. }
            | RoomChange::RoomClosed(_)
            | RoomChange::Unknown => {}
        }
    }

    fn assign(&mut self, state: &RoomState) {
        let RoomState { phase, owner, seats, series, rematch_offered_by, score, draw_offered_by } = state.clone();
        (self.phase, self.owner, self.seats) = (phase, owner, seats);
        (self.series, self.rematch_offered_by, self.score) = (series, rematch_offered_by, score);
        if let Some(game) = &mut self.game {
            game.draw_offered_by = draw_offered_by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Phase, Seat,
        fixture::{move_event, next, room, state},
        rules::{ByColor, Color},
    };

    #[test]
    fn a_move_advances_the_game() {
        let mut room = room();
        room.apply(&move_event(&room, "d3")).unwrap();
        let game = room.running().unwrap();
        assert_eq!((room.seq, game.ply, game.last_move()), (6, 1, Some("d3".parse().unwrap())));
        assert_eq!(game.standing.turn, Some(Color::White));
    }

    #[test]
    fn an_event_replaces_the_whole_state() {
        let mut room = room();
        let mut event = next(&room, RoomChange::SeatsSwapped);
        let wins = |seats: &ByColor<Seat>| (seats.black.wins, seats.white.wins);
        let mut state = RoomState { phase: Phase::Lobby, rematch_offered_by: Some(Color::White), ..state(&room) };
        state.seats.white.wins = 3;
        event.state = Some(Box::new(state));
        room.apply(&event).unwrap();
        assert_eq!(
            (room.phase, room.rematch_offered_by, wins(&room.seats)),
            (Phase::Lobby, Some(Color::White), (0, 3))
        );
    }

    #[test]
    fn a_gap_is_detected_and_a_repeated_event_is_ignored() {
        let mut room = room();
        let before = room.clone();
        let mut event = move_event(&room, "d3");
        event.seq = 8;
        assert_eq!(room.apply(&event), Err(Gap { last: 5, got: 8 }));
        event.seq = 5;
        assert_eq!(room.apply(&event), Ok(()));
        assert_eq!(room, before);
    }
}
