//! Deciding commands: one file for each kind of command, each adding events to a [`Draft`].
//!
//! Rights come first: from a refusal, a member without a seat must not learn what the delay for spectators hides.

mod claim;
mod membership;
mod ownership;
mod play;
mod seating;
mod tick;

use reversi_engine::rules::Color;

use super::{
    command::{Command, Credentials, Issuer},
    event::{CloseReason, Event, Fact},
    game::{EndReason, GameEnd},
    ids::PlayerId,
    rejection::{self, Rejection},
    settings::Visibility,
    state::{Phase, Room},
    timestamp::Timestamp,
};

impl Room {
    /// The events that a command causes at a given time; none if there is nothing to change.
    ///
    /// If [`Room::deadline`] has passed, the driver must issue a [`Command::Tick`] first.
    ///
    /// # Errors
    /// Why the command is rejected.
    pub fn decide(&self, now: Timestamp, issuer: Issuer, command: Command) -> Result<Vec<Event>, Rejection> {
        self.decide_arrived(now, now, issuer, command)
    }

    /// As [`Room::decide`], for a command that waited since it arrived: whether a move is in time, and how long it
    /// took, is judged by its arrival. The opponent's time begins now.
    ///
    /// # Errors
    /// Why the command is rejected.
    pub fn decide_arrived(
        &self,
        now: Timestamp,
        arrived: Timestamp,
        issuer: Issuer,
        command: Command,
    ) -> Result<Vec<Event>, Rejection> {
        if self.phase == Phase::Closed {
            return match command {
                Command::Tick | Command::Credit { .. } | Command::SetPresence(..) | Command::Leave => Ok(Vec::new()),
                _ => Err(Rejection::RoomClosed),
            };
        }
        self.hide_private_room(issuer, &command)?;
        // By far the most frequent command, and it needs no copy of the room.
        if let Command::Play { game, ply, square, thought } = command {
            return self.judge_move([now, arrived], issuer, game, ply, square, thought);
        }
        let mut draft = Draft { room: self.clone(), now, events: Vec::new() };
        draft.judge(issuer, command)?;
        Ok(draft.events)
    }

    /// Fails with [`Rejection::RoomNotFound`] where a player may not enter a private room, except for
    /// [`Command::Join`], which has credentials.
    fn hide_private_room(&self, issuer: Issuer, command: &Command) -> Result<(), Rejection> {
        match issuer {
            Issuer::Player(player)
                if self.settings.visibility == Visibility::Private
                    && !matches!(command, Command::Join(..))
                    && self.member(player).is_none()
                    && self.may_enter(player, &Credentials::default()) == Err(Rejection::RoomNotFound) =>
            {
                Err(Rejection::RoomNotFound)
            }
            _ => Ok(()),
        }
    }
}

/// The events of a command so far, and a copy of the room with them applied.
struct Draft {
    room: Room,
    now: Timestamp,
    events: Vec<Event>,
}

impl Draft {
    fn emit(&mut self, fact: Fact) {
        let event = Event { seq: self.room.seq.next(), at: self.now, fact };
        self.room.apply(&event);
        self.events.push(event);
    }

    fn judge(&mut self, issuer: Issuer, command: Command) -> Result<(), Rejection> {
        match command {
            Command::Join(profile, credentials) => self.join(issuer, profile, &credentials),
            Command::Leave => self.leave(issuer),
            Command::Kick { player, ban } => self.kick(issuer, player, ban),
            Command::Transfer(player) => self.transfer(issuer, player),
            Command::SetCoOwner(player, named) => self.set_co_owner(issuer, player, named),
            Command::Configure(settings, current) => self.configure(issuer, *settings, current.as_deref()),
            Command::Close => self.close_by(issuer),
            Command::Chat(text) => self.chat(issuer, text),
            Command::RemoveChat(posted) => self.remove_chat(issuer, posted),
            Command::SetPresence(player, present) => self.set_presence(issuer, player, present),
            Command::TakeSeat(seat) => self.take_seat(issuer, seat),
            Command::JoinGame(profile, seat, request) => self.join_game(issuer, profile, seat, request),
            Command::LeaveSeat => self.leave_seat(issuer),
            Command::Vacate => self.vacate(issuer),
            Command::SwapSeats => self.swap_seats(issuer),
            Command::SetSeat(seat, setting) => self.set_seat(issuer, seat, setting),
            Command::DeclineInvitation(reason) => self.decline_invitation(issuer, reason),
            Command::SetReady(ready) => self.set_ready(issuer, ready),
            Command::Start(request) => self.start(issuer, request),
            Command::EndSeries => self.end_series(issuer),
            Command::Play { game, ply, square, thought } => {
                self.events = self.room.judge_move([self.now; 2], issuer, game, ply, square, thought)?;
                Ok(())
            }
            Command::Strike { game, ply } => self.strike(issuer, game, ply),
            Command::Resign { game } => self.resign(issuer, game),
            Command::Abort { game } => self.abort(issuer, game),
            Command::Claim { game, claim } => self.claim(issuer, game, claim),
            Command::Offer(offer, game) => self.offer(issuer, offer, game),
            Command::Answer(offer, game, accept) => self.answer(issuer, offer, game, accept),
            Command::Credit { micros } => self.credit(issuer, micros),
            Command::Tick => {
                self.tick();
                Ok(())
            }
        }
    }

    fn require_lobby(&self) -> Result<(), Rejection> {
        match self.room.phase {
            // Its game starts with the room.
            Phase::Lobby if self.room.meeting.is_some() && self.room.game.is_some() => {
                Err(Rejection::WrongPhase(rejection::ONE_MEETING))
            }
            Phase::Lobby => Ok(()),
            Phase::Playing => Err(Rejection::RoomInGame),
            Phase::Closed => Err(Rejection::RoomClosed),
        }
    }

    fn require_server(issuer: Issuer) -> Result<(), Rejection> {
        if issuer == Issuer::Server { Ok(()) } else { Err(Rejection::NotAdmin) }
    }

    /// Allows an administrator, and, while no person is seated, the owner and the co-owners. These may not end a rated
    /// game in which the owner or a co-owner plays.
    ///
    /// # Errors
    /// [`Rejection::NotOwner`], or [`Rejection::RoomInGame`] where a game may not be ended.
    fn require_right_to_end_game(&self, issuer: Issuer) -> Result<(), Rejection> {
        if issuer == Issuer::Admin {
            return Ok(());
        }
        self.require_trusted(issuer)?;
        let excluded = self.room.has_human_player() || self.room.manager_plays_rated();
        if excluded { Err(Rejection::RoomInGame) } else { Ok(()) }
    }

    fn member(&self, issuer: Issuer) -> Result<PlayerId, Rejection> {
        match issuer {
            Issuer::Player(player) if self.room.member(player).is_some() => Ok(player),
            Issuer::Player(_) | Issuer::Admin | Issuer::Server => Err(Rejection::NotMember),
        }
    }

    /// The side of the issuer's seat.
    fn seated(&self, issuer: Issuer) -> Result<Color, Rejection> {
        let player = self.member(issuer)?;
        self.room.seat_of(player).ok_or(Rejection::NotSeated)
    }

    fn end_game(&mut self, end: GameEnd) {
        debug_assert!(self.room.running().is_some());
        self.emit(Fact::GameEnded(end));
    }

    /// Ends the running game without a result.
    fn abort_by(&mut self, issuer: Issuer) {
        let why = match self.seated(issuer) {
            Ok(side) => EndReason::aborted_by(side),
            Err(_) if issuer == Issuer::Admin => EndReason::AbortedByAdmin,
            Err(_) => EndReason::AbortedByOwner,
        };
        self.end_game(GameEnd::without_winner(why));
    }

    fn close(&mut self, reason: CloseReason) {
        if self.room.running().is_some() {
            let why = if reason == CloseReason::Server { EndReason::Server } else { EndReason::Aborted };
            self.end_game(GameEnd::without_winner(why));
        }
        self.emit(Fact::Closed(reason));
    }
}
