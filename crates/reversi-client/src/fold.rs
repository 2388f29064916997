//! A room kept up to date from the events that its watcher is told.

use std::{
    mem,
    time::{Duration, SystemTime},
};

use thiserror::Error;

use super::{
    Clocks, Game, GameId, Offer, Outcome, Phase, Ply, Room, RoomChange, RoomEvent, Seat, Series, SeriesScore, Standing,
};
use crate::rules::{Bitboard, ByColor, Color};

/// Older chat is forgotten, as it is by the server.
const CHAT_KEPT: usize = 100;

/// An event that does not follow the room's last one: the watcher must ask for a snapshot.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("event {got} does not follow {last}")]
pub struct Gap {
    /// The last event that is in the room.
    pub last: u64,
    /// The one that came.
    pub got: u64,
}

impl Room {
    /// Makes the room what it is after `event`. One that is in it already changes nothing.
    ///
    /// # Errors
    /// [`Gap`] when events are missing in between; the room is unchanged.
    pub fn apply(&mut self, event: &RoomEvent) -> Result<(), Gap> {
        if event.seq <= self.seq {
            return Ok(());
        }
        if event.seq != self.seq + 1 {
            return Err(Gap { last: self.seq, got: event.seq });
        }
        self.seq = event.seq;
        self.change(&event.change);
        Ok(())
    }

    fn change(&mut self, change: &RoomChange) {
        match change {
            RoomChange::MemberJoined(member) => {
                self.members.retain(|other| other.player.id != member.player.id);
                self.members.push(member.clone());
            }
            RoomChange::MemberLeft(player, _) => self.members.retain(|member| member.player.id != *player),
            RoomChange::PresenceChanged(player, present) => {
                for member in self.members.iter_mut().filter(|member| member.player.id == *player) {
                    member.present = *present;
                }
                if let Some(side) = self.side_of(player) {
                    self.seats[side].present = *present;
                }
            }
            RoomChange::OwnerChanged(owner) => self.owner = Some(owner.clone()),
            RoomChange::SeatChanged(side, seat) => {
                self.seats[*side] = (**seat).clone();
                self.score = None;
            }
            RoomChange::SeatsSwapped => {
                let ByColor { black, white } = &mut self.seats;
                mem::swap(black, white);
                self.rematch_offered_by = self.rematch_offered_by.map(Color::opposite);
                self.score = self.score.map(SeriesScore::swapped);
            }
            RoomChange::ReadyChanged(side, ready) => self.seats[*side].ready = *ready,
            RoomChange::SettingsChanged { settings, has_password } => {
                self.settings = (**settings).clone();
                self.has_password = *has_password;
            }
            RoomChange::ChatPosted(line) => {
                if self.chat.len() >= CHAT_KEPT {
                    self.chat.remove(0);
                }
                self.chat.push(line.clone());
            }
            RoomChange::RoomClosed(_) => {
                self.phase = Phase::Closed;
                self.owner = None;
            }
            RoomChange::GameStarted(game, series, score) => self.begin((**game).clone(), *series, *score),
            RoomChange::MovePlayed { game, ply, standing, clocks, .. }
            | RoomChange::TurnPassed { game, ply, standing, clocks } => {
                if let Some(ours) = self.game.as_mut().filter(|ours| ours.id == *game) {
                    ours.advance(*ply, *standing, *clocks);
                }
            }
            RoomChange::OfferMade(Offer::Rematch, side) => self.rematch_offered_by = Some(*side),
            RoomChange::OfferClosed(Offer::Rematch, _) => self.rematch_offered_by = None,
            RoomChange::OfferMade(Offer::Draw, side) => self.offer_draw(Some(*side)),
            RoomChange::OfferClosed(Offer::Draw, _) => self.offer_draw(None),
            RoomChange::GameEnded { game, outcome, series, seats, score } => {
                (self.series, self.score) = (*series, *score);
                self.end(game, *outcome);
                self.reseat(seats.as_deref());
            }
            RoomChange::ClockCredited { micros, clocks } => self.credit(*micros, *clocks),
            RoomChange::SeriesEnded => {
                self.phase = Phase::Lobby;
                self.series = None;
            }
            RoomChange::Created | RoomChange::MoveRefused { .. } | RoomChange::Unknown => {}
        }
    }

    fn begin(&mut self, game: Game, series: Option<Series>, score: Option<SeriesScore>) {
        self.phase = Phase::Playing;
        self.game = Some(game);
        (self.series, self.score) = (series, score);
        self.rematch_offered_by = None;
    }

    fn end(&mut self, game: &GameId, outcome: Outcome) {
        // A series that goes on is announced; without one, seats can be changed again.
        let goes_on = self.series.is_some_and(|series| series.game < series.games);
        self.phase = if goes_on { Phase::Playing } else { Phase::Lobby };
        if let Some(ours) = self.game.as_mut().filter(|ours| ours.id == *game) {
            ours.end(outcome);
        }
    }

    fn credit(&mut self, micros: i64, clocks: Option<Clocks>) {
        if let (Some(game), Some(clocks)) = (&mut self.game, clocks) {
            game.clocks = clocks;
        }
        if let Some(series) = &mut self.series {
            series.next_game_at = series.next_game_at.and_then(|at| shifted(at, micros));
        }
    }

    fn offer_draw(&mut self, side: Option<Color>) {
        if let Some(game) = &mut self.game {
            game.draw_offered_by = side;
        }
    }

    fn reseat(&mut self, seats: Option<&ByColor<Seat>>) {
        if let Some(seats) = seats {
            self.seats = seats.clone();
        }
    }
}

/// Nothing where there is no such moment.
fn shifted(at: SystemTime, micros: i64) -> Option<SystemTime> {
    let by = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 { at.checked_sub(by) } else { at.checked_add(by) }
}

impl Game {
    fn advance(&mut self, ply: Ply, standing: Standing, clocks: Clocks) {
        self.ply = ply.ply + 1;
        self.plies.push(ply);
        self.standing = standing;
        self.clocks = clocks;
        // A draw offer is for the moment in which it was made.
        self.draw_offered_by = self.draw_offered_by.filter(|&by| by == ply.side);
    }

    fn end(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
        self.standing.turn = None;
        self.standing.legal = Bitboard::EMPTY;
        self.clocks.time_left = None;
        self.draw_offered_by = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{move_event, next, room};
    use crate::{EndReason, GameResult};

    #[test]
    fn a_move_advances_the_game() {
        let mut room = room();
        room.apply(&move_event(&room, "d3")).unwrap();
        let game = room.running().unwrap();
        assert_eq!((room.seq, game.ply, game.last_move()), (6, 1, Some("d3".parse().unwrap())));
        assert_eq!(game.standing.turn, Some(Color::White));
    }

    #[test]
    fn a_gap_is_noticed_and_a_repetition_ignored() {
        let mut room = room();
        let before = room.clone();
        let mut event = move_event(&room, "d3");
        event.seq = 8;
        assert_eq!(room.apply(&event), Err(Gap { last: 5, got: 8 }));
        event.seq = 5;
        assert_eq!(room.apply(&event), Ok(()));
        assert_eq!(room, before);
    }

    #[test]
    fn time_given_back_is_in_the_clocks_and_in_the_wait() {
        let mut room = room();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
        room.series = Some(Series { game: 1, games: 2, next_game_at: Some(at) });
        let clocks = Clocks { time_left: Some(Duration::from_secs(55)), ..Clocks::default() };
        let credit = |micros| RoomChange::ClockCredited { micros, clocks: Some(clocks) };
        room.apply(&next(&room, credit(-2_000_000))).unwrap();
        assert_eq!(room.game.as_ref().unwrap().clocks, clocks);
        assert_eq!(room.series.unwrap().next_game_at, Some(at - Duration::from_secs(2)));
        room.apply(&next(&room, credit(i64::MAX))).unwrap();
        room.apply(&next(&room, credit(i64::MAX))).unwrap();
    }

    #[test]
    fn the_end_of_a_game_stops_it() {
        let mut room = room();
        let outcome = Outcome {
            result: GameResult::Won(Color::White),
            reason: EndReason::Resignation,
            discs: ByColor::new(2, 2),
            score: ByColor::default(),
        };
        let game = room.game.as_ref().unwrap().id.clone();
        room.apply(&next(&room, RoomChange::GameEnded { game, outcome, series: None, seats: None, score: None }))
            .unwrap();
        assert_eq!((room.phase, room.running()), (Phase::Lobby, None));
        assert_eq!(room.game.as_ref().unwrap().standing.turn, None);
        room.apply(&next(&room, RoomChange::OfferMade(Offer::Rematch, Color::White))).unwrap();
        assert_eq!(room.rematch_offered_by, Some(Color::White));
    }
}
