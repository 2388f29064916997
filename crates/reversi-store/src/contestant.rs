//! The players and AIs that statistics count and rate.

use std::{fmt, str::FromStr, sync::Arc};

use reversi_room::{AiSeat, Participant, PlayerId};
use thiserror::Error;

/// A player, or an AI at one of its levels. As text: the player's id, or `kind:level`.
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

/// The error of parsing a [`Contestant`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("malformed contestant")]
pub struct ParseContestantError;

impl Contestant {
    /// The AI, with the seed 0.
    #[must_use]
    pub fn ai(&self) -> Option<AiSeat> {
        match self {
            Self::Player(_) => None,
            Self::Ai { kind, level } => Some(AiSeat { kind: Arc::clone(kind), level: *level, seed: 0 }),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_round_trip() {
        let ai = Contestant::Ai { kind: "mcts-roxanne".into(), level: 1 };
        for who in [Contestant::Player(PlayerId::from_random(1)), ai] {
            assert_eq!(who.to_string().parse(), Ok(who));
        }
        for wrong in ["", "ada", "mcts:", "mcts:256", ":1:1"] {
            assert_eq!(wrong.parse::<Contestant>(), Err(ParseContestantError), "{wrong}");
        }
    }
}
