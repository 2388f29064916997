//! Records of finished games.

use std::time::Duration;

use reversi_engine::rules::{ByColor, Color, Position, Square};

use super::{
    event::{Event, Fact},
    game::{EndReason, GameEnd, Ply},
    ids::{GameId, MeetingRef, PlayerId},
    seat::{AiSeat, Occupant, Profile},
    settings::Visibility,
    state::Room,
    text::RoomName,
    thought::Thought,
    time_control::TimeControl,
    timestamp::Timestamp,
};

/// A participant of a finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Participant {
    /// A player.
    Player(Profile),
    /// A server-side AI.
    Ai(AiSeat),
}

impl Participant {
    /// The player's id; none for an AI.
    #[must_use]
    pub fn id(&self) -> Option<PlayerId> {
        match self {
            Self::Player(profile) => Some(profile.id),
            Self::Ai(_) => None,
        }
    }

    /// Whether both are the same player, or the same kind of AI at the same level.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Player(one), Self::Player(other)) => one.id == other.id,
            (Self::Ai(one), Self::Ai(other)) => one.kind == other.kind && one.level == other.level,
            (Self::Player(_), Self::Ai(_)) | (Self::Ai(_), Self::Player(_)) => false,
        }
    }

    /// Whether it is the player with that id.
    #[must_use]
    pub fn is(&self, player: PlayerId) -> bool {
        matches!(self, Self::Player(profile) if profile.id == player)
    }
}

/// What a finished game did to the rating of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatingChange {
    /// It counted.
    Rated {
        /// The rating after the game, rounded.
        after: u16,
        /// The deviation after the game, rounded.
        deviation: u16,
        /// How much the game counted, in sixteenths.
        weight: u8,
        /// Whether the rating would have risen further without the limits on how fast it may rise.
        limited: bool,
    },
    /// It changed nothing.
    Unrated(UnratedReason),
}

/// Why a finished game did not change a rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnratedReason {
    /// The game was not rated, or both sides were the same AI.
    Unrated,
    /// The game was given up, or agreed to be drawn, in its first plies, and this side had not given it up.
    TooShort,
    /// Both players had logged in from the same address.
    SameAddress,
    /// The game was aborted.
    Aborted,
    /// An AI of the server had less time to think than it should have had.
    HouseShort,
}

impl UnratedReason {
    /// All reasons.
    pub const ALL: [Self; 5] = [Self::Unrated, Self::TooShort, Self::SameAddress, Self::Aborted, Self::HouseShort];

    /// The name in stored games and exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unrated => "unrated",
            Self::TooShort => "too_short",
            Self::SameAddress => "same_address",
            Self::Aborted => "aborted",
            Self::HouseShort => "house_short",
        }
    }
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The game's id.
    pub id: GameId,
    /// The room's name when the game ended.
    pub room_name: RoomName,
    /// The participants, by side.
    pub players: ByColor<Participant>,
    /// When the game started; [`Timestamp::UNKNOWN`] for an imported game without a date.
    pub started: Timestamp,
    /// When the game ended; likewise.
    pub ended: Timestamp,
    /// Winner and reason.
    pub end: GameEnd,
    /// Black's lead in discs by the file of an imported game, if its moves do not end it.
    pub margin: Option<i8>,
    /// Every ply from the standard start.
    pub plies: Vec<Ply>,
    /// Number of plies made by the room's opening.
    pub opening: u16,
    /// The final position.
    pub position: Position,
    /// The time control.
    pub time: TimeControl,
    /// Whether only its players and the members of its room may see it.
    pub private: bool,
    /// From when on others than its players may see it; `None` from its end on.
    pub public_from: Option<Timestamp>,
    /// The meeting of a tournament of which it was a part.
    pub meeting: Option<MeetingRef>,
    /// Whether it counts for ratings.
    pub rated: bool,
    /// The ratings of the players before the game, rounded. The store adds them when the game ends.
    pub ratings: ByColor<Option<u16>>,
    /// What the game did to the ratings. The store adds it with them; imported games and those of earlier versions have none.
    pub rating_changes: ByColor<Option<RatingChange>>,
    /// Search reports of AI seats with their plies, in ascending order.
    pub thoughts: Vec<(u16, Thought)>,
}

impl GameRecord {
    /// The same game, with the players' public data as `change` returns them.
    #[must_use]
    pub fn with_profiles(self, mut change: impl FnMut(Profile) -> Profile) -> Self {
        let players = self.players.map(|participant| match participant {
            Participant::Player(profile) => Participant::Player(change(profile)),
            ai @ Participant::Ai(_) => ai,
        });
        Self { players, ..self }
    }

    /// Whether the player may not know the game yet.
    #[must_use]
    pub fn is_delayed_for(&self, player: PlayerId, now: Timestamp) -> bool {
        let played = || self.players.iter().any(|(_, participant)| participant.is(player));
        self.public_from.is_some_and(|from| from > now) && !played()
    }

    /// Whether the player made this move.
    #[must_use]
    pub fn has_move_of(&self, player: PlayerId, ply: u16, square: Square) -> bool {
        // Passes are plies, too.
        let side = if ply.is_multiple_of(2) { Color::Black } else { Color::White };
        let is_made = self.plies.get(usize::from(ply)).is_some_and(|made| made.square == Some(square));
        is_made && ply >= self.opening && self.players[side].is(player)
    }
}

/// Plies that the players must make before a game that somebody gives up changes ratings.
const RATED_PLIES: usize = 10;

impl GameRecord {
    /// An unrated public game at an unknown time, with its moves only.
    #[must_use]
    pub fn of_moves(
        id: GameId,
        room_name: RoomName,
        players: ByColor<Participant>,
        end: GameEnd,
        plies: Vec<Ply>,
        position: Position,
    ) -> Self {
        Self {
            id,
            room_name,
            players,
            started: Timestamp::UNKNOWN,
            ended: Timestamp::UNKNOWN,
            end,
            margin: None,
            plies,
            opening: 0,
            position,
            time: TimeControl { per_move: None, total: None, increment: Duration::ZERO },
            private: false,
            public_from: None,
            meeting: None,
            rated: false,
            ratings: ByColor::default(),
            rating_changes: ByColor::default(),
            thoughts: Vec::new(),
        }
    }

    /// Why the game does not change the rating of a side, as far as it says so itself. If it is given up, or agreed to
    /// be drawn, in its first plies, only the side that has given it up loses points. If an AI runs out of time, or
    /// moves before its level is reached, which the load of the server may cause, no side does.
    #[must_use]
    pub fn unrated(&self, side: Color) -> Option<UnratedReason> {
        let GameEnd { winner, reason } = self.end;
        let played = self.plies.len().saturating_sub(usize::from(self.opening));
        let is_long = reason == EndReason::Discs || played >= RATED_PLIES;
        let is_slow_ai = |loser: Color| reason == EndReason::Timeout && self.players[loser].id().is_none();
        let is_cut_short = self.thoughts.iter().any(|(_, thought)| thought.cut_short);
        if !self.end.counts() {
            Some(UnratedReason::Aborted)
        } else if !self.rated {
            Some(UnratedReason::Unrated)
        } else if is_cut_short || winner.is_some_and(|winner| is_slow_ai(winner.opposite())) {
            Some(UnratedReason::HouseShort)
        } else if !is_long && winner != Some(side.opposite()) {
            Some(UnratedReason::TooShort)
        } else {
            None
        }
    }

    /// Whether the game changes a rating.
    #[must_use]
    pub fn changes_ratings(&self) -> bool {
        Color::ALL.into_iter().any(|side| self.unrated(side).is_none())
    }
}

impl GameRecord {
    /// The search report of the AI that made the ply at this index.
    #[must_use]
    pub fn thought(&self, index: usize) -> Option<&Thought> {
        let at = self.thoughts.binary_search_by_key(&index, |&(ply, _)| ply.into()).ok()?;
        Some(&self.thoughts[at].1)
    }

    /// The positions after each disc, without the start. The other side moves, if it can.
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        self.plies.iter().filter_map(|ply| ply.square).scan(Position::START, |position, square| {
            *position = position.play_unchecked(square).after_forced_pass().0;
            Some(*position)
        })
    }
}

impl Room {
    /// The record of the game that just ended, while its players are still seated.
    #[must_use]
    pub fn record(&self, ended: Timestamp) -> Option<GameRecord> {
        let game = self.game.as_ref()?;
        Some(GameRecord {
            id: GameId { room: self.id, number: game.number },
            room_name: self.settings.name.clone(),
            players: ByColor::new(self.participant(Color::Black)?, self.participant(Color::White)?),
            started: game.started,
            ended,
            end: game.end?,
            margin: None,
            plies: game.plies.clone(),
            opening: game.given,
            position: game.position,
            time: self.settings.time,
            private: self.settings.visibility == Visibility::Private,
            public_from: (!self.settings.spectator_delay.is_zero()).then(|| ended.after(self.settings.spectator_delay)),
            meeting: self.meeting,
            rated: self.settings.rated && self.settings.begins_fairly(),
            ratings: ByColor::default(),
            rating_changes: ByColor::default(),
            thoughts: game.thoughts.clone(),
        })
    }

    /// The records of the games that end in `events`, which are not yet applied.
    #[must_use]
    pub fn records(&self, events: &[Event]) -> Vec<GameRecord> {
        if !events.iter().any(|event| matches!(event.fact, Fact::GameEnded(_))) {
            return Vec::new();
        }
        let mut room = self.clone();
        let after = events.iter().filter_map(|event| {
            room.apply(event);
            matches!(event.fact, Fact::GameEnded(_)).then(|| room.record(event.at))?
        });
        after.collect()
    }

    fn participant(&self, side: Color) -> Option<Participant> {
        match &self.seats[side].occupant {
            Occupant::Player(profile) => Some(Participant::Player(profile.clone())),
            Occupant::Ai(ai) => Some(Participant::Ai(ai.clone())),
            Occupant::Open | Occupant::Reserved(_) | Occupant::Invited(_) => None,
        }
    }
}

#[cfg(any(test, feature = "fixtures"))]
impl GameRecord {
    /// A rated game of ten plies in a public room, without clocks.
    #[must_use]
    pub fn sample(players: ByColor<Participant>, ended: Timestamp, end: GameEnd) -> Self {
        let id = GameId { room: super::ids::RoomId::from_random(1), number: 1 };
        let (name, plies) = (RoomName::parse("room").expect("a name"), vec![Ply { square: None, spent_ms: 0 }; 10]);
        let game = Self::of_moves(id, name, players, end, plies, Position::START);
        Self { started: Timestamp(0), ended, rated: true, ..game }
    }
}
