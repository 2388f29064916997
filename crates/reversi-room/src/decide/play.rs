//! Starting, playing and ending games.

use reversi_engine::rules::{Color, Square};

use super::{Draft, EndReason, Event, Fact, GameEnd, Issuer, Phase, Rejection, Room, Timestamp};
use crate::{
    event::{Offer, Request},
    game::Game,
    rejection,
    seat::{Occupant, PlayerKind},
    thought::Thought,
};

impl Room {
    /// The events of a move. Repeating a move that was made is not an error and causes no events.
    pub(super) fn judge_move(
        &self,
        [now, arrived]: [Timestamp; 2],
        issuer: Issuer,
        number: u32,
        ply: u16,
        square: Square,
        thought: Option<Box<Thought>>,
    ) -> Result<Vec<Event>, Rejection> {
        let (game, side) = self.mover(issuer, number)?;
        let repeated = ply % 2 == parity(side)
            && game.plies.get(usize::from(ply)).is_some_and(|decided| decided.square == Some(square));
        if repeated && ply >= game.opening {
            return Ok(Vec::new());
        }
        if game.end.is_some() || self.flag_falls().is_none_or(|flag| arrived >= flag) {
            return Err(Rejection::GameOver);
        }
        if ply < game.ply() {
            return Err(Rejection::StalePly);
        }
        if ply > game.ply() || game.position.turn() != side {
            return Err(Rejection::NotYourTurn);
        }
        let played = game.position.play(square).map_err(|_| Rejection::IllegalMove(game.position.legal_moves()))?;

        let mut seq = self.seq;
        let mut event = |fact| {
            seq = seq.next();
            Event { seq, at: now, fact }
        };
        let (after, passed) = played.after_forced_pass();
        let thought = thought.filter(|_| issuer == Issuer::Server);
        // Usually one event, kept until it is stored.
        let mut events = Vec::with_capacity(1);
        // A move declines it. First, as another may be made after the move.
        if game.take_back_offer.is_some() {
            events.push(event(Fact::OfferClosed { offer: Offer::TakeBack, accepted: false }));
        }
        events.push(event(Fact::Played { square, spent: arrived.since(game.turn_began), thought }));
        // A move declines the opponent's draw offer.
        if game.draw_offer == Some(side.opposite()) {
            events.push(event(Fact::OfferClosed { offer: Offer::Draw, accepted: false }));
        }
        if passed.is_some() {
            events.push(event(Fact::Passed));
        }
        if let Some(outcome) = after.outcome() {
            events.push(event(Fact::GameEnded(GameEnd::by_discs(outcome))));
        }
        Ok(events)
    }

    /// The room's last game, if it has that number.
    pub(super) fn game_numbered(&self, number: u32) -> Result<&Game, Rejection> {
        let game = self.game.as_ref().ok_or(Rejection::GameNotFound)?;
        match number.cmp(&game.number) {
            std::cmp::Ordering::Equal => Ok(game),
            std::cmp::Ordering::Less if number > 0 => Err(Rejection::GameOver),
            _ => Err(Rejection::GameNotFound),
        }
    }

    /// The game with that number, and the side for which the issuer may move in it: a player's own, or for the server that
    /// of the AI to move.
    fn mover(&self, issuer: Issuer, number: u32) -> Result<(&Game, Color), Rejection> {
        match issuer {
            Issuer::Player(player) => {
                let side = self.seat_of(player).ok_or(Rejection::NotSeated)?;
                Ok((self.game_numbered(number)?, side))
            }
            Issuer::Server => {
                let game = self.game_numbered(number)?;
                let turn = game.position.turn();
                match self.seats[turn].occupant {
                    Occupant::Ai(_) => Ok((game, turn)),
                    Occupant::Open | Occupant::Reserved(_) | Occupant::Invited(_) | Occupant::Player(_) => {
                        Err(Rejection::NotYourTurn)
                    }
                }
            }
            Issuer::Admin => Err(Rejection::NotSeated),
        }
    }
}

/// Black makes the even plies.
fn parity(side: Color) -> u16 {
    match side {
        Color::Black => 0,
        Color::White => 1,
    }
}

impl Draft {
    pub(super) fn start(&mut self, issuer: Issuer, request: Option<Request>) -> Result<(), Rejection> {
        if issuer != Issuer::Server || self.room.meeting.is_none() {
            self.require_manager(issuer)?;
        }
        self.require_lobby()?;
        if let Ok(seat) = self.seated(issuer)
            && !self.room.seats[seat].marked_ready
        {
            self.emit(Fact::ReadyChanged { seat, ready: true, request: None });
        }
        if !self.room.seats.iter().all(|(_, seat)| seat.ready()) {
            return Err(Rejection::SeatsNotReady);
        }
        self.start_game(0, request);
        Ok(())
    }

    /// Starts the game with that index in its series, from 0.
    pub(super) fn start_game(&mut self, index: u16, request: Option<Request>) {
        let opening = self.opening(index);
        self.begin_game(index, opening, request);
    }

    fn begin_game(&mut self, index: u16, opening: Vec<Square>, request: Option<Request>) {
        let number = self.room.game.as_ref().map_or(0, |game| game.number) + 1;
        self.emit(Fact::GameStarted { number, index, opening, request });
    }

    /// The opening of the next game. The second game of a rated pair has that of the first. A random one depends on the
    /// time of the start, so that players cannot know it before.
    fn opening(&self, index: u16) -> Vec<Square> {
        let Room { id, settings, game, .. } = &self.room;
        match game {
            Some(first) if settings.rated && settings.is_paired() && index % 2 == 1 => {
                first.plies.iter().take(first.opening.into()).filter_map(|ply| ply.square).collect()
            }
            _ => settings.opening_moves(index, id.bits() ^ self.now.0.cast_unsigned()),
        }
    }

    /// Starts the next game, with sides swapped if the settings require it.
    pub(super) fn start_next(&mut self, index: u16) {
        if self.room.settings.swap_sides {
            self.emit(Fact::SeatsSwapped);
        }
        self.start_game(index, None);
    }

    pub(super) fn strike(&mut self, issuer: Issuer, number: u32, ply: u16) -> Result<(), Rejection> {
        Self::require_server(issuer)?;
        let game = self.running(number)?;
        if game.ply() != ply {
            return Err(Rejection::StalePly);
        }
        let (strikes, loser) = (game.strikes + 1, game.position.turn());
        let bot = matches!(&self.room.seats[loser].occupant,
            Occupant::Player(profile) if profile.kind == PlayerKind::Bot);
        if !bot {
            return Ok(());
        }
        self.emit(Fact::Struck);
        if strikes >= Room::STRIKES {
            self.end_game(GameEnd::lost_by(loser, EndReason::Kicked));
        }
        Ok(())
    }

    pub(super) fn resign(&mut self, issuer: Issuer, number: u32) -> Result<(), Rejection> {
        let seat = self.seated(issuer)?;
        self.running(number)?;
        self.end_game(GameEnd::lost_by(seat, EndReason::Resignation));
        Ok(())
    }

    pub(super) fn abort(&mut self, issuer: Issuer, number: u32) -> Result<(), Rejection> {
        let is_seated = self.seated(issuer).is_ok();
        if !is_seated && issuer != Issuer::Admin {
            self.require_trusted(issuer)?;
        }
        let game = self.room.game_numbered(number)?;
        if self.room.phase == Phase::Lobby {
            return Err(Rejection::GameOver);
        }
        let early = !game.both_have_moved() && is_seated;
        if early && self.room.meeting.is_some() {
            return Err(Rejection::WrongPhase(rejection::NO_ABORT));
        }
        if !early {
            self.require_right_to_end_game(issuer)?;
        }
        if self.room.running().is_some() {
            self.abort_by(issuer);
        } else {
            self.emit(Fact::SeriesEnded);
        }
        Ok(())
    }

    pub(super) fn end_series(&mut self, issuer: Issuer) -> Result<(), Rejection> {
        if issuer != Issuer::Admin {
            self.require_trusted(issuer)?;
        }
        let series = self.room.series.ok_or(Rejection::WrongPhase(rejection::NO_SERIES))?;
        // The last game may already be running.
        if self.room.running().is_none() || series.index + 1 < series.games {
            self.emit(Fact::SeriesEnded);
        }
        Ok(())
    }

    pub(super) fn offer(&mut self, issuer: Issuer, offer: Offer, game: Option<u32>) -> Result<(), Rejection> {
        let by = self.seated(issuer)?;
        let open_offer = self.open_offer(offer, game)?;
        if open_offer == Some(by) {
            return Ok(());
        }
        if open_offer.is_some() {
            // To take back another move is not to agree.
            if offer == Offer::TakeBack {
                return Err(Rejection::WrongPhase(rejection::ANSWER_FIRST));
            }
            self.close_offer(offer, true);
            return Ok(());
        }
        self.require_offer_now(offer, by)?;
        self.emit(Fact::OfferMade { offer, by });
        if matches!(self.room.seats[by.opposite()].occupant, Occupant::Ai(_)) {
            // An AI declines every draw and accepts all else.
            self.close_offer(offer, offer != Offer::Draw);
        }
        Ok(())
    }

    fn require_offer_now(&self, offer: Offer, by: Color) -> Result<(), Rejection> {
        let Some(game) = self.room.running() else { return Ok(()) };
        let from = match offer {
            Offer::Draw => game.next_draw_offer(by),
            Offer::TakeBack if self.room.settings.rated => {
                return Err(Rejection::WrongPhase(rejection::RATED_MOVE));
            }
            Offer::TakeBack if self.room.meeting.is_some() => {
                return Err(Rejection::WrongPhase(rejection::TOURNAMENT_MOVE));
            }
            Offer::TakeBack if game.before_last_move(by).is_none() => {
                return Err(Rejection::WrongPhase(rejection::NO_MOVE));
            }
            Offer::TakeBack => game.take_back_closed_at.map_or(0, |last| last.saturating_add(1)),
            Offer::Rematch => 0,
        };
        if game.ply() < from { Err(Rejection::OfferTooSoon(from)) } else { Ok(()) }
    }

    pub(super) fn answer(
        &mut self,
        issuer: Issuer,
        offer: Offer,
        game: Option<u32>,
        accept: bool,
    ) -> Result<(), Rejection> {
        let seat = self.seated(issuer)?;
        let by = self.open_offer(offer, game)?.ok_or(Rejection::WrongPhase(rejection::NO_OFFER))?;
        if by == seat && accept {
            return Err(Rejection::WrongPhase(rejection::OWN_OFFER));
        }
        self.close_offer(offer, accept);
        Ok(())
    }

    /// The side whose offer of that kind is open, in or after the game with this number, if it is given. Fails when no
    /// such offer can be made now.
    fn open_offer(&self, offer: Offer, number: Option<u32>) -> Result<Option<Color>, Rejection> {
        match offer {
            Offer::Draw | Offer::TakeBack => {
                let game = match number {
                    Some(number) => self.running(number)?,
                    None => self.room.running().ok_or(Rejection::GameOver)?,
                };
                // Sent to the game before, it may come late.
                if number.is_none() && game.number > 1 && !game.both_have_moved() {
                    return Err(Rejection::WrongPhase(rejection::WHICH_GAME));
                }
                Ok(if offer == Offer::Draw { game.draw_offer } else { game.take_back_offer })
            }
            Offer::Rematch => {
                self.require_lobby()?;
                let last = self.room.game.as_ref().ok_or(Rejection::WrongPhase(rejection::NO_GAME))?;
                match number {
                    Some(number) if number > last.number => return Err(Rejection::GameNotFound),
                    Some(number) if number < last.number => {
                        return Err(Rejection::WrongPhase(rejection::PLAYED_SINCE));
                    }
                    Some(_) | None => {}
                }
                if !self.room.seats.iter().all(|(_, seat)| seat.occupant.can_play()) {
                    return Err(Rejection::SeatsNotReady);
                }
                Ok(self.room.rematch_offer)
            }
        }
    }

    fn close_offer(&mut self, offer: Offer, accepted: bool) {
        let taken_back = self.room.running().and_then(|game| game.before_last_move(game.take_back_offer?));
        self.emit(Fact::OfferClosed { offer, accepted });
        match (offer, accepted) {
            (Offer::TakeBack, true) => self.go_back(taken_back.unwrap_or_default()),
            (Offer::Draw, true) => self.end_game(GameEnd::without_winner(EndReason::Agreed)),
            (Offer::Rematch, true) => self.start_next(0),
            (_, false) => {}
        }
    }

    /// Ends the running game, and starts the next one after these moves. It has the same place in its series.
    fn go_back(&mut self, opening: Vec<Square>) {
        let (index, games) = self.room.series.map_or((0, 1), |series| (series.index, series.games));
        self.end_game(GameEnd::without_winner(EndReason::TakenBack));
        self.begin_game(index, opening, None);
        if games < self.room.settings.games {
            // It was ended before, and would go on with the new game.
            self.emit(Fact::SeriesEnded);
        }
    }

    pub(super) fn running(&self, number: u32) -> Result<&Game, Rejection> {
        let game = self.room.game_numbered(number)?;
        if game.end.is_some() { Err(Rejection::GameOver) } else { Ok(game) }
    }
}
