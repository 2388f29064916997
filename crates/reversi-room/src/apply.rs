//! Applying events. Nothing here fails or decides.

use std::time::Duration;

use reversi_engine::rules::{ByColor, Color, Square};

use super::{
    event::{Event, Fact, LeaveReason, Offer},
    game::{EndReason, Game, GameEnd},
    ids::PlayerId,
    seat::{Occupant, Profile, Seat},
    series_score::SeriesScore,
    state::{ChatLine, Member, Phase, Room, Series},
    text::ChatText,
    thought::Thought,
    timestamp::Timestamp,
};

impl Room {
    /// Applies the next event of the room, as returned by [`Room::decide`].
    pub fn apply(&mut self, event: &Event) {
        debug_assert_eq!(event.seq, self.seq.next());
        self.seq = event.seq;
        let at = event.at;
        if !matches!(event.fact, Fact::PresenceChanged { .. }) {
            self.last_activity = at;
        }
        match &event.fact {
            Fact::Created(_) => debug_assert!(false, "a room is created once"),
            Fact::MemberJoined(profile) => {
                self.members.push(Member { profile: profile.clone(), joined: at, absent_since: None });
            }
            Fact::MemberLeft { player, reason } => self.remove_member(*player, *reason),
            Fact::PresenceChanged { player, present } => {
                if let Some(member) = self.members.iter_mut().find(|member| member.profile.id == *player) {
                    member.absent_since = (!present).then_some(at);
                }
            }
            Fact::OwnerChanged { owner, stands_in_for } => {
                (self.owner, self.absent_owner) = (*owner, *stands_in_for);
            }
            Fact::CoOwnerChanged { player, named: true } => drop(self.co_owners.insert(*player)),
            Fact::CoOwnerChanged { player, named: false } => drop(self.co_owners.remove(player)),
            Fact::SeatChanged { seat, occupant } => self.change_occupant(*seat, occupant.clone()),
            Fact::InvitationEnded { seat, .. } => self.change_occupant(*seat, Occupant::Open),
            Fact::SeatsSwapped => {
                let Room { seats, rematch_offer, .. } = self;
                std::mem::swap(&mut seats.black, &mut seats.white);
                *rematch_offer = rematch_offer.map(Color::opposite);
                self.score = self.score.map(SeriesScore::swapped);
            }
            Fact::ReadyChanged { seat, ready, .. } => self.seats[*seat].marked_ready = *ready,
            Fact::SettingsChanged(settings) => self.settings = (**settings).clone(),
            Fact::GameStarted { number, index, opening, .. } => self.start_game(at, *number, *index, opening),
            Fact::Played { square, spent, thought } => self.place(at, *square, *spent, thought.as_deref()),
            Fact::Passed => self.pass(at),
            Fact::Struck => self.with_game(|game| game.strikes += 1),
            Fact::OfferMade { offer: Offer::Draw, by } => self.with_game(|game| game.draw_offer = Some(*by)),
            Fact::OfferMade { offer: Offer::Rematch, by } => self.rematch_offer = Some(*by),
            Fact::OfferMade { offer: Offer::TakeBack, by } => self.with_game(|game| game.take_back_offer = Some(*by)),
            Fact::OfferClosed { offer: Offer::Draw, .. } => self.with_game(|game| {
                if let Some(by) = game.draw_offer.take() {
                    game.draw_closed_at[by] = Some(game.ply());
                }
            }),
            Fact::OfferClosed { offer: Offer::Rematch, .. } => self.rematch_offer = None,
            Fact::OfferClosed { offer: Offer::TakeBack, .. } => self.with_game(|game| {
                (game.take_back_offer, game.take_back_closed_at) = (None, Some(game.ply()));
            }),
            Fact::SeriesEnded if self.running().is_some() => {
                if let Some(series) = &mut self.series {
                    series.games = series.index + 1;
                }
            }
            Fact::SeriesEnded => {
                self.series = None;
                self.phase = Phase::Lobby;
            }
            Fact::GameEnded(end) => self.end_game(at, *end),
            Fact::ClockCredited { micros } => self.credit(at, *micros),
            Fact::ChatPosted { from, text } => self.add_chat_line(at, from, text),
            Fact::ChatRemoved(posted) => self.remove_chat_line(*posted),
            Fact::Closed(_) => {
                self.phase = Phase::Closed;
                self.series = None;
                self.rematch_offer = None;
            }
        }
    }

    fn remove_member(&mut self, player: PlayerId, reason: LeaveReason) {
        self.members.retain(|member| member.profile.id != player);
        if matches!(reason, LeaveReason::Kicked | LeaveReason::Banned) {
            self.co_owners.remove(&player);
        }
        if reason == LeaveReason::Banned {
            self.bans.insert(player);
            self.absent_owner = self.absent_owner.filter(|owner| *owner != player);
        }
    }

    /// The room after all of its events; `None` unless the first is [`Fact::Created`].
    #[must_use]
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let first = events.next()?;
        let Fact::Created(creation) = &first.fact else {
            return None;
        };
        let mut room = Self::new((**creation).clone(), first.at);
        events.for_each(|event| room.apply(event));
        Some(room)
    }

    /// The start times of everything with a deadline: the turn, the wait for the next game, the absences.
    pub(super) fn start_times_mut(&mut self) -> impl Iterator<Item = &mut Timestamp> {
        let Self { game, series, members, .. } = self;
        let turn = game.as_mut().filter(|game| game.end.is_none()).map(|game| &mut game.turn_began);
        let next = series.as_mut().and_then(|series| series.next_at.as_mut());
        let absences = members.iter_mut().filter_map(|member| member.absent_since.as_mut());
        turn.into_iter().chain(next).chain(absences)
    }

    /// Shifts all start times; absences at most to `at`, because the downtime is known only to the second.
    fn credit(&mut self, at: Timestamp, micros: i64) {
        self.credited_since = Some(at.shifted(micros.saturating_neg()));
        self.start_times_mut().for_each(|began| *began = began.shifted(micros));
        let absences = self.members.iter_mut().filter_map(|member| member.absent_since.as_mut());
        absences.for_each(|since| *since = at.min(*since));
    }

    fn with_game(&mut self, change: impl FnOnce(&mut Game)) {
        if let Some(game) = &mut self.game {
            change(game);
        }
    }

    /// A new occupant is a new pairing: scores are cleared, and a series of the old pairing is over.
    fn change_occupant(&mut self, seat: Color, occupant: Occupant) {
        self.seats[seat] = Seat::of(occupant);
        let other = &mut self.seats[seat.opposite()];
        (other.wins, other.draws) = (0, 0);
        self.rematch_offer = None;
        self.score = None;
        if self.running().is_none() {
            self.series = None;
            self.phase = Phase::Lobby;
        }
    }

    fn start_game(&mut self, at: Timestamp, number: u32, index: u16, opening: &[Square]) {
        let Self { seats, settings, .. } = &*self;
        let players = ByColor::new(seats.black.occupant.clone(), seats.white.occupant.clone());
        let mut game = Game::start(number, players, at, &settings.time, opening);
        let taken_back =
            self.game.as_ref().filter(|last| last.end.is_some_and(|end| end.reason == EndReason::TakenBack));
        if let Some(before) = taken_back {
            game.continues(before);
        }
        self.game = Some(game);
        self.begin_turn(at);
        if index == 0 {
            self.score = self.settings.is_paired().then(SeriesScore::new);
        }
        self.series = Some(Series { index, games: self.settings.games, next_at: None });
        self.rematch_offer = None;
        self.phase = Phase::Playing;
    }

    fn place(&mut self, at: Timestamp, square: Square, spent: Duration, thought: Option<&Thought>) {
        let time = self.settings.time;
        self.with_game(|game| {
            let side = game.position.turn();
            game.thoughts.extend(thought.map(|thought| (game.ply(), thought.clone())));
            game.clocks[side] = time.after_move(game.clocks[side], spent);
            game.place(square, u32::try_from(spent.as_millis()).unwrap_or(u32::MAX));
        });
        self.begin_turn(at);
    }

    fn pass(&mut self, at: Timestamp) {
        self.with_game(Game::pass);
        self.begin_turn(at);
    }

    /// Starts the clock of the side to move, after the pause before an AI's move.
    fn begin_turn(&mut self, at: Timestamp) {
        let Some(game) = &mut self.game else { return };
        let pause = match self.seats[game.position.turn()].occupant {
            Occupant::Ai(_) => self.settings.ai_pause,
            Occupant::Open | Occupant::Reserved(_) | Occupant::Invited(_) | Occupant::Player(_) => Duration::ZERO,
        };
        game.turn_began = at.after(pause);
    }

    fn end_game(&mut self, at: Timestamp, end: GameEnd) {
        self.with_game(|game| {
            game.end = Some(end);
            (game.draw_offer, game.take_back_offer) = (None, None);
        });
        if let Some(winner) = end.winner {
            let seat = &mut self.seats[winner];
            seat.wins = seat.wins.saturating_add(1);
        } else if end.counts() {
            for seat in [&mut self.seats.black, &mut self.seats.white] {
                seat.draws = seat.draws.saturating_add(1);
            }
        }
        if let (Some(score), Some(series), true) = (&mut self.score, self.series, end.counts()) {
            score.count(series.index, end.winner);
        }
        self.seats.black.marked_ready = false;
        self.seats.white.marked_ready = false;

        let gap = if self.has_human_player() { Self::PEOPLE_GAP } else { self.settings.ai_pause };
        match &mut self.series {
            Some(series) if end.continues_series() && series.index + 1 < series.games => {
                series.next_at = Some(at.after(gap));
            }
            _ => {
                self.series = None;
                self.phase = Phase::Lobby;
            }
        }
    }

    fn add_chat_line(&mut self, at: Timestamp, from: &Profile, text: &ChatText) {
        if self.chat.len() == Self::CHAT_LINES {
            self.chat.pop_front();
        }
        self.chat.push_back(ChatLine { from: from.clone(), text: text.clone(), at });
    }
}
