//! The names of the computer players.
use std::fmt;
use std::str::FromStr;

use super::Profile;

/// A way of choosing moves. Its levels and its description are in its [`Profile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AiKind {
    /// Any legal move.
    Random,
    /// The move that flips most.
    Greedy,
    /// The best kind of square by a fixed table.
    Roxanne,
    /// Minimax over the worth of the squares taken.
    Positional,
    /// Alpha-beta over corners, edges, mobility and frontier.
    AlphaBeta,
    /// A tree of random games.
    Mcts,
    /// A tree of games played by `Roxanne`.
    MctsRoxanne,
    /// The engine.
    Expert,
}

impl AiKind {
    /// Every kind: those that look at one position, then those that search.
    pub const ALL: [Self; 8] = [
        Self::Random,
        Self::Greedy,
        Self::Roxanne,
        Self::Positional,
        Self::AlphaBeta,
        Self::Mcts,
        Self::MctsRoxanne,
        Self::Expert,
    ];

    /// Its description for players.
    #[must_use]
    pub fn profile(self) -> &'static Profile {
        Profile::of(self)
    }
}

impl fmt::Display for AiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Random => "random",
            Self::Greedy => "greedy",
            Self::Roxanne => "roxanne",
            Self::Positional => "positional",
            Self::AlphaBeta => "alphabeta",
            Self::Mcts => "mcts",
            Self::MctsRoxanne => "mcts-roxanne",
            Self::Expert => "expert",
        })
    }
}

impl FromStr for AiKind {
    type Err = UnknownAi;

    fn from_str(text: &str) -> Result<Self, UnknownAi> {
        Self::ALL.into_iter().find(|kind| text.eq_ignore_ascii_case(&kind.to_string())).ok_or(UnknownAi)
    }
}

/// The error of a name that no computer player has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAi;

impl fmt::Display for UnknownAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such computer player; there are")?;
        for (index, kind) in AiKind::ALL.into_iter().enumerate() {
            write!(f, "{} {kind}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownAi {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for kind in AiKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!("MCTS-Roxanne".parse(), Ok(AiKind::MctsRoxanne));
        let error = "deepblue".parse::<AiKind>().unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("there are random, greedy, roxanne, positional, alphabeta, mcts, mcts-roxanne, expert")
        );
    }
}
