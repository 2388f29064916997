//! The events that watchers of a room receive. They are applied to it without checks: the server has made them.

use std::time::{Duration, SystemTime};

use thiserror::Error;

use super::{
    ChatLine, Clocks, CloseReason, Game, GameId, LeaveReason, Malformed, Member, Offer, Outcome, Phase, Player,
    PlayerId, Ply, Room, RoomCloseReason, Seat, Series, SeriesScore, Settings, Standing, parse,
    room::{parse_owner, parse_players, parse_score},
    seat::parse_seats,
};
use crate::{
    rules::{Bitboard, ByColor, Color},
    v1,
};

/// A message to a watcher.
#[derive(Clone, Debug, PartialEq)]
pub enum RoomUpdate {
    /// The room's current state: the first message, and again after the watcher has lagged too far.
    Snapshot(Box<Room>),
    /// The next event.
    Event(Box<RoomEvent>),
    /// A heartbeat.
    Heartbeat,
    /// The stream ends.
    Closing(Closing),
}

impl RoomUpdate {
    /// `None` for a message that this client does not know.
    pub(super) fn parse(response: v1::WatchRoomResponse) -> Result<Option<Self>, Malformed> {
        use v1::watch_room_response::Message;
        Ok(match response.message {
            Some(Message::Snapshot(room)) => Some(Self::Snapshot(Box::new(room.try_into()?))),
            Some(Message::Event(event)) => Some(Self::Event(Box::new(event.try_into()?))),
            Some(Message::Heartbeat(_)) => Some(Self::Heartbeat),
            Some(Message::Closing(closing)) => Some(Self::Closing(closing.try_into()?)),
            None => None,
        })
    }
}

/// A message of a stream with heartbeats.
pub(super) trait StreamMessage {
    /// The end of the stream, if the message announces it.
    fn closing(&self) -> Option<&Closing> {
        None
    }
}

impl StreamMessage for RoomUpdate {
    fn closing(&self) -> Option<&Closing> {
        match self {
            Self::Closing(closing) => Some(closing),
            _ => None,
        }
    }
}

impl CloseReason {
    /// Whether a client should open the stream again.
    #[must_use]
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Draining | Self::SlowConsumer | Self::Banned | Self::Unavailable | Self::Unspecified)
    }
}

/// The last message of a stream that the server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The reason.
    pub reason: CloseReason,
    /// The time after which to try again.
    pub retry_after: Option<Duration>,
}

impl TryFrom<v1::Closing> for Closing {
    type Error = Malformed;

    fn try_from(closing: v1::Closing) -> Result<Self, Malformed> {
        Ok(Self { reason: closing.reason(), retry_after: parse::maybe_duration(closing.retry_after, "retry after")? })
    }
}

/// An event of a room.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomEvent {
    /// The number, consecutive in a room.
    pub seq: u64,
    /// The time.
    pub at: Option<SystemTime>,
    /// The change.
    pub change: RoomChange,
    /// The state after the event; `None` if unchanged.
    pub state: Option<Box<RoomState>>,
}

/// The small fields of a room after an event.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomState {
    /// The phase.
    pub phase: Phase,
    /// As [`Room::owner`].
    pub owner: Option<PlayerId>,
    /// The co-owners.
    pub co_owners: Vec<PlayerId>,
    /// The seat of each side.
    pub seats: ByColor<Seat>,
    /// The running series.
    pub series: Option<Series>,
    /// The side that has offered a rematch.
    pub rematch_offered_by: Option<Color>,
    /// The score of a series in pairs.
    pub score: Option<SeriesScore>,
    /// The side that has offered a draw in the running game.
    pub draw_offered_by: Option<Color>,
    /// The side that has offered to take its last move back in the running game.
    pub take_back_offered_by: Option<Color>,
}

impl TryFrom<v1::RoomState> for RoomState {
    type Error = Malformed;

    fn try_from(state: v1::RoomState) -> Result<Self, Malformed> {
        Ok(Self {
            phase: Phase::parse(state.phase())?,
            draw_offered_by: parse::maybe_side(state.draw_offered_by, "draw offer")?,
            take_back_offered_by: parse::maybe_side(state.take_back_offered_by, "offer to take back")?,
            owner: parse_owner(state.owner_id)?,
            co_owners: parse_players(state.co_owner_ids)?,
            seats: parse_seats(state.seats)?,
            series: state.series.map(Series::try_from).transpose()?,
            rematch_offered_by: state.rematch_offered_by.map(|seat| parse::seat(seat, "rematch offer")).transpose()?,
            score: state.score.map(parse_score).transpose()?,
        })
    }
}

/// The change of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum RoomChange {
    /// The room was created.
    Created,
    /// A member joined.
    MemberJoined(Member),
    /// A member left.
    MemberLeft(PlayerId, LeaveReason),
    /// A member's connection was lost or restored.
    PresenceChanged(PlayerId, bool),
    /// The room has another owner.
    OwnerChanged(PlayerId),
    /// A player became a co-owner (true), or is one no more.
    CoOwnerChanged(PlayerId, bool),
    /// A seat has another occupant.
    SeatChanged(Color, Box<Seat>),
    /// A seat that was kept for a player is open.
    InvitationEnded {
        /// The seat.
        side: Color,
        /// The player for whom it was kept.
        player: Player,
        /// False if the player declined.
        expired: bool,
        /// Why the player declined, perhaps empty.
        reason: String,
    },
    /// The occupants changed sides.
    SeatsSwapped,
    /// A seat became ready, or no longer is.
    ReadyChanged(Color, bool),
    /// The settings were changed.
    SettingsChanged {
        /// All settings.
        settings: Box<Settings>,
        /// Whether there is a password.
        has_password: bool,
    },
    /// A game began, after its opening; with its series.
    GameStarted(Box<Game>, Option<Series>),
    /// A move was made.
    MovePlayed {
        /// The game.
        game: GameId,
        /// The move.
        ply: Ply,
        /// The position after it.
        standing: Standing,
        /// The clocks after it.
        clocks: Clocks,
        /// The flipped discs.
        flipped: Bitboard,
    },
    /// A side had no move.
    TurnPassed {
        /// The game.
        game: GameId,
        /// The pass.
        ply: Ply,
        /// The position after it.
        standing: Standing,
        /// The clocks after it.
        clocks: Clocks,
    },
    /// A bot's move was illegal.
    MoveRefused {
        /// The bot's side.
        side: Color,
        /// The number of illegal moves in this turn; the third forfeits.
        strikes: u32,
    },
    /// A side made an offer.
    OfferMade(Offer, Color),
    /// An offer was accepted (true), or was declined or is void.
    OfferClosed(Offer, bool),
    /// A game ended.
    GameEnded {
        /// The game.
        game: GameId,
        /// The result.
        outcome: Outcome,
        /// The last position, in which no side is to move.
        standing: Standing,
        /// The score of a series in pairs.
        score: Option<SeriesScore>,
    },
    /// The server was down and credits the downtime to the clocks.
    ClockCredited {
        /// The credit; negative if the server's clock was set back.
        micros: i64,
        /// The clocks after it, if a game runs.
        clocks: Option<Clocks>,
    },
    /// A line of chat, and the number of last lines that the room keeps.
    ChatPosted(ChatLine, usize),
    /// An administrator removed a line of chat; these are left.
    ChatRemoved(Vec<ChatLine>),
    /// The room was closed.
    RoomClosed(RoomCloseReason),
    /// A series ended early: it was aborted, or its test has a verdict.
    SeriesEnded,
    /// A change that this client does not know.
    Unknown,
}

impl TryFrom<v1::RoomEvent> for RoomEvent {
    type Error = Malformed;

    fn try_from(event: v1::RoomEvent) -> Result<Self, Malformed> {
        Ok(Self {
            seq: event.seq,
            at: parse::maybe_time(event.at, "time of an event")?,
            change: event.event.map_or(Ok(RoomChange::Unknown), parse_change)?,
            state: event.state.map(RoomState::try_from).transpose()?.map(Box::new),
        })
    }
}

fn parse_change(event: v1::room_event::Event) -> Result<RoomChange, Malformed> {
    use v1::room_event::Event;
    Ok(match event {
        Event::Created(_) => RoomChange::Created,
        Event::MemberJoined(joined) => {
            RoomChange::MemberJoined(parse::required(joined.member, "member who joined")?.try_into()?)
        }
        Event::MemberLeft(left) => {
            let reason = left.reason();
            RoomChange::MemberLeft(PlayerId::parse(left.player_id)?, reason)
        }
        Event::PresenceChanged(change) => {
            RoomChange::PresenceChanged(PlayerId::parse(change.player_id)?, change.present)
        }
        Event::OwnerChanged(change) => RoomChange::OwnerChanged(PlayerId::parse(change.owner_id)?),
        Event::CoOwnerChanged(change) => {
            RoomChange::CoOwnerChanged(PlayerId::parse(change.player_id)?, change.co_owner)
        }
        Event::SeatChanged(change) => {
            let seat = parse::required(change.occupant, "seat that changed")?.try_into()?;
            RoomChange::SeatChanged(parse::seat(change.seat, "seat")?, Box::new(seat))
        }
        Event::InvitationEnded(ended) => parse_ended_invitation(ended)?,
        Event::SeatsSwapped(_) => RoomChange::SeatsSwapped,
        Event::SeriesEnded(_) => RoomChange::SeriesEnded,
        Event::ReadyChanged(change) => RoomChange::ReadyChanged(parse::seat(change.seat, "seat")?, change.ready),
        Event::SettingsChanged(change) => RoomChange::SettingsChanged {
            settings: Box::new(parse::required(change.settings, "settings")?.try_into()?),
            has_password: change.has_password,
        },
        Event::ChatPosted(posted) => RoomChange::ChatPosted(
            parse::required(posted.line, "chat line")?.try_into()?,
            usize::try_from(posted.lines).map_err(|_| Malformed::new("chat lines", posted.lines))?,
        ),
        Event::ChatRemoved(removed) => RoomChange::ChatRemoved(parse::all(removed.chat)?),
        Event::RoomClosed(closed) => RoomChange::RoomClosed(closed.reason()),
        Event::GameStarted(started) => RoomChange::GameStarted(
            Box::new(parse::required(started.game, "game")?.try_into()?),
            started.series.map(Series::try_from).transpose()?,
        ),
        Event::MovePlayed(played) => RoomChange::MovePlayed {
            game: GameId::parse(played.game_id)?,
            ply: parse::required(played.ply, "ply")?.try_into()?,
            standing: parse::required(played.position, "position")?.try_into()?,
            clocks: played.clocks.unwrap_or_default().try_into()?,
            flipped: parse::squares(&played.flipped, "flipped")?,
        },
        Event::TurnPassed(passed) => RoomChange::TurnPassed {
            game: GameId::parse(passed.game_id)?,
            ply: parse::required(passed.ply, "ply")?.try_into()?,
            standing: parse::required(passed.position, "position")?.try_into()?,
            clocks: passed.clocks.unwrap_or_default().try_into()?,
        },
        Event::MoveRefused(refused) => RoomChange::MoveRefused {
            side: parse::side(refused.side, "side refused")?,
            strikes: parse::count(refused.strikes, "strikes")?,
        },
        Event::OfferMade(made) => RoomChange::OfferMade(Offer::parse(made.offer())?, parse::seat(made.seat, "seat")?),
        Event::OfferClosed(closed) => RoomChange::OfferClosed(Offer::parse(closed.offer())?, closed.accepted),
        Event::ClockCredited(credited) => RoomChange::ClockCredited {
            micros: parse::micros(credited.credit.unwrap_or_default()),
            clocks: credited.clocks.map(Clocks::try_from).transpose()?,
        },
        Event::GameEnded(ended) => RoomChange::GameEnded {
            game: GameId::parse(ended.game_id)?,
            outcome: parse::required(ended.outcome, "outcome")?.try_into()?,
            standing: parse::required(ended.position, "last position")?.try_into()?,
            score: ended.score.map(parse_score).transpose()?,
        },
    })
}

fn parse_ended_invitation(ended: v1::InvitationEnded) -> Result<RoomChange, Malformed> {
    Ok(RoomChange::InvitationEnded {
        side: parse::seat(ended.seat, "seat")?,
        player: parse::required(ended.player, "invited player")?.try_into()?,
        expired: ended.expired,
        reason: parse::plain(ended.reason, "reason")?,
    })
}

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
            | RoomChange::CoOwnerChanged(..)
            | RoomChange::SeatChanged(..)
            | RoomChange::InvitationEnded { .. }
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
        let RoomState { phase, owner, co_owners, seats, series, rematch_offered_by, score, .. } = state.clone();
        (self.phase, self.owner, self.co_owners, self.seats) = (phase, owner, co_owners, seats);
        (self.series, self.rematch_offered_by, self.score) = (series, rematch_offered_by, score);
        if let Some(game) = &mut self.game {
            game.draw_offered_by = state.draw_offered_by;
            game.take_back_offered_by = state.take_back_offered_by;
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
