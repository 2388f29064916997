//! What finished games make of those who played them: counts, and a rating.

use std::{fmt, str::FromStr, sync::Arc};

use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, glicko2},
};
use thiserror::Error;

use crate::{
    room::{GameRecord, Participant, PlayerId, PlayerKind},
    rules::{ByColor, Color},
};

/// Who is counted and rated: a player, or an AI at one of its levels. Written `PLAYER` or `kind:level`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Contestant {
    /// A player.
    Player(PlayerId),
    /// An AI.
    Ai {
        /// Such as "roxanne".
        kind: Arc<str>,
        /// From 1.
        level: u8,
    },
}

/// A text that names no contestant.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("malformed contestant")]
pub struct ParseContestantError;

/// Whom a game was played against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpponentKind {
    /// A person.
    Human,
    /// A program that has logged in.
    Bot,
    /// A seat of the server's own.
    Ai,
}

/// Results of finished games; aborted ones do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Won.
    pub won: u32,
    /// Drawn.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
}

/// A Glicko-2 rating (Glickman, "Example of the Glicko-2 system", 2012), where every game is a rating period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// The strength, 1500 to begin with.
    pub value: f64,
    /// How unsure it is: the strength lies within twice this with 95 % confidence.
    pub deviation: f64,
    /// How much it is expected to change.
    pub volatility: f64,
    /// The rated games behind it.
    pub games: u32,
}

/// What a contestant made of all games.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// Against people.
    pub humans: Stats,
    /// Against bots.
    pub bots: Stats,
    /// Against AI seats.
    pub ais: Stats,
    /// None before the first rated game.
    pub rating: Option<Rating>,
}

/// What a game makes of those who played it. `before` tells what they were; both sides may be one AI, which then is
/// counted for both and not rated.
pub(super) fn settle<E>(
    record: &GameRecord,
    mut before: impl FnMut(&Contestant) -> Result<Standing, E>,
) -> Result<Vec<(Contestant, Standing)>, E> {
    if !record.end.counts() {
        return Ok(Vec::new());
    }
    let who = ByColor::from_fn(|side| Contestant::from(&record.players[side]));
    let mut standings = ByColor::new(before(&who.black)?, before(&who.white)?);
    if who.black == who.white {
        let mut both = standings.black;
        Color::ALL.into_iter().for_each(|side| both.count(record, side));
        return Ok(vec![(who.black, both)]);
    }
    if record.rated {
        let ratings = ByColor::from_fn(|side| standings[side].rating.unwrap_or_default());
        let (black, white) = ratings.black.meets(ratings.white, record.end.winner);
        (standings.black.rating, standings.white.rating) = (Some(black), Some(white));
    }
    for side in Color::ALL {
        standings[side].count(record, side);
    }
    Ok(vec![(who.black, standings.black), (who.white, standings.white)])
}

impl Standing {
    /// Of all games.
    #[must_use]
    pub fn total(&self) -> Stats {
        let all = [self.humans, self.bots, self.ais];
        let sum = |count: fn(&Stats) -> u32| all.iter().map(count).sum();
        Stats { won: sum(|stats| stats.won), drawn: sum(|stats| stats.drawn), lost: sum(|stats| stats.lost) }
    }

    /// Against one kind of opponents.
    pub(super) fn against(&mut self, kind: OpponentKind) -> &mut Stats {
        match kind {
            OpponentKind::Human => &mut self.humans,
            OpponentKind::Bot => &mut self.bots,
            OpponentKind::Ai => &mut self.ais,
        }
    }

    fn count(&mut self, record: &GameRecord, side: Color) {
        let opponent = OpponentKind::from(&record.players[side.opposite()]);
        self.against(opponent).count(side, record.end.winner);
    }
}

impl Stats {
    /// Games that counted.
    #[must_use]
    pub fn played(&self) -> u32 {
        self.won + self.drawn + self.lost
    }

    fn count(&mut self, side: Color, winner: Option<Color>) {
        match winner {
            Some(winner) if winner == side => self.won += 1,
            Some(_) => self.lost += 1,
            None => self.drawn += 1,
        }
    }
}

impl Rating {
    /// What black and white are rated after a game between them.
    fn meets(self, white: Self, winner: Option<Color>) -> (Self, Self) {
        let outcome = match winner {
            Some(Color::Black) => Outcomes::WIN,
            Some(Color::White) => Outcomes::LOSS,
            None => Outcomes::DRAW,
        };
        let (one, other) = glicko2(&self.into(), &white.into(), &outcome, &Glicko2Config::new());
        (self.become_one_of(one), white.become_one_of(other))
    }

    fn become_one_of(self, Glicko2Rating { rating, deviation, volatility }: Glicko2Rating) -> Self {
        Self { value: rating, deviation, volatility, games: self.games + 1 }
    }
}

impl Default for Rating {
    fn default() -> Self {
        let Glicko2Rating { rating, deviation, volatility } = Glicko2Rating::new();
        Self { value: rating, deviation, volatility, games: 0 }
    }
}

impl From<Rating> for Glicko2Rating {
    fn from(Rating { value, deviation, volatility, .. }: Rating) -> Self {
        Self { rating: value, deviation, volatility }
    }
}

impl From<&Participant> for Contestant {
    fn from(participant: &Participant) -> Self {
        match participant {
            Participant::Player(profile) => Self::Player(profile.id),
            Participant::Ai(ai) => Self::Ai { kind: Arc::clone(&ai.kind), level: ai.level },
        }
    }
}

impl From<&Participant> for OpponentKind {
    fn from(participant: &Participant) -> Self {
        match participant {
            Participant::Player(profile) if profile.kind == PlayerKind::Human => Self::Human,
            Participant::Player(_) => Self::Bot,
            Participant::Ai(_) => Self::Ai,
        }
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Player(player) => player.fmt(f),
            Self::Ai { kind, level } => write!(f, "{kind}:{level}"),
        }
    }
}

impl FromStr for Contestant {
    type Err = ParseContestantError;

    fn from_str(text: &str) -> Result<Self, ParseContestantError> {
        match text.split_once(':') {
            Some((kind, level)) => {
                let level = level.parse().map_err(|_| ParseContestantError)?;
                Ok(Self::Ai { kind: kind.into(), level })
            }
            None => text.parse().map(Self::Player).map_err(|_| ParseContestantError),
        }
    }
}
