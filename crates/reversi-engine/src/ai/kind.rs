//! The names of the computer players.
use std::fmt;
use std::str::FromStr;

/// A kind of computer player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AiKind {
    /// Any legal move.
    Random,
    /// The move that flips the most discs.
    Greedy,
    /// The best kind of square by a fixed table.
    Roxanne,
    /// Minimax over the value of the last square taken.
    Positional,
    /// Alpha-beta over corners, edges, mobility and frontier.
    AlphaBeta,
    /// Monte-Carlo tree search with random playouts.
    Mcts,
    /// Monte-Carlo tree search with playouts by `Roxanne`.
    MctsRoxanne,
    /// The engine.
    Expert,
}

impl AiKind {
    /// Every kind: first those without search.
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

/// The error of an unknown name.
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
