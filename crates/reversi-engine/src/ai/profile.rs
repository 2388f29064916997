//! The descriptions of the computer players.
use super::{AiKind, expert};

/// The description of a computer player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The kind.
    pub kind: AiKind,
    /// Its way of play in one sentence for users.
    pub summary: &'static str,
    /// The highest level; the lowest is 1.
    pub levels: u8,
    /// The level at which it plays as its source describes.
    pub default_level: u8,
    /// The measured strength in words for users, at the default level unless stated: the score of `reversi arena`, with half a
    /// point for a draw.
    pub strength: &'static str,
    /// The measured strength of each level; empty if not measured.
    pub elo: &'static [Elo],
    /// The unit of its evaluations.
    pub unit: Unit,
}

/// A strength in Elo relative to `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elo {
    /// The maximum-likelihood estimate.
    pub elo: i16,
    /// The half-width of the 95 % interval.
    pub error: u16,
}

/// The unit of a choice's evaluation, always for the side that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No evaluation.
    None,
    /// Points on the kind's own scale, for comparisons only.
    Points,
    /// The expected final difference in discs.
    Discs,
    /// The expected points of a game, 0 to 1; a draw is one half.
    WinShare,
}

impl AiKind {
    /// Its levels and description.
    #[must_use]
    pub fn profile(self) -> &'static Profile {
        match self {
            Self::Random => &RANDOM,
            Self::Greedy => &GREEDY,
            Self::Roxanne => &ROXANNE,
            Self::Positional => &POSITIONAL,
            Self::AlphaBeta => &ALPHA_BETA,
            Self::Mcts => &MCTS,
            Self::MctsRoxanne => &MCTS_ROXANNE,
            Self::Expert => &EXPERT,
        }
    }
}

const RANDOM: Profile = Profile {
    kind: AiKind::Random,
    summary: "Plays any legal move, each as likely as the others.",
    levels: 1,
    default_level: 1,
    strength: "the weakest: for a first game",
    elo: &[Elo { elo: 0, error: 0 }],
    unit: Unit::None,
};

const GREEDY: Profile = Profile {
    kind: AiKind::Greedy,
    summary: "Takes the move that flips the most discs.",
    levels: 1,
    default_level: 1,
    strength: "scores 63 % against random",
    elo: &[],
    unit: Unit::None,
};

const ROXANNE: Profile = Profile {
    kind: AiKind::Roxanne,
    summary: "Prefers corners and avoids the squares beside them, by a fixed table.",
    levels: 1,
    default_level: 1,
    strength: "scores 79 % against random and against greedy",
    elo: &[],
    unit: Unit::None,
};

const POSITIONAL: Profile = Profile {
    kind: AiKind::Positional,
    summary: "Looks as many moves ahead as its level says and counts what the last square taken is worth.",
    levels: 8,
    default_level: 4,
    strength: "scores 95 % against random; odd levels are weaker than the even ones beside them",
    elo: &[],
    unit: Unit::Points,
};

const ALPHA_BETA: Profile = Profile {
    kind: AiKind::AlphaBeta,
    summary: "Looks several moves ahead and weighs corners, safe edges, choice of moves and open discs.",
    levels: 8,
    default_level: 4,
    strength: "scores 99 % against roxanne and against positional",
    elo: &[],
    unit: Unit::Points,
};

const MCTS: Profile = Profile {
    kind: AiKind::Mcts,
    summary: "Plays thousands of random games on from here and makes the move that ends with the most discs.",
    levels: 12,
    default_level: 10,
    strength: "scores 97 % against roxanne at level 5 already",
    elo: &[],
    unit: Unit::Discs,
};

const MCTS_ROXANNE: Profile = Profile {
    kind: AiKind::MctsRoxanne,
    summary: "Plays thousands of sensible games on from here and makes the move that wins most of them.",
    levels: 12,
    default_level: 10,
    strength: "scores 99 % against roxanne and 63 % against mcts at level 5 already",
    elo: &[],
    unit: Unit::WinShare,
};

const EXPERT: Profile = Profile {
    kind: AiKind::Expert,
    summary: "Looks far ahead with a judgement learned from its own games; the higher the level, the earlier it knows how the game ends.",
    levels: expert::LEVELS,
    default_level: 13,
    strength: "level 1 scores 81 % against random, and each other level 67 to 80 % against the one below",
    elo: &[
        Elo { elo: 235, error: 26 },
        Elo { elo: 397, error: 36 },
        Elo { elo: 575, error: 44 },
        Elo { elo: 700, error: 49 },
        Elo { elo: 822, error: 54 },
        Elo { elo: 950, error: 59 },
        Elo { elo: 1071, error: 63 },
        Elo { elo: 1223, error: 67 },
        Elo { elo: 1404, error: 71 },
        Elo { elo: 1608, error: 75 },
        Elo { elo: 1849, error: 79 },
        Elo { elo: 2084, error: 83 },
        Elo { elo: 2293, error: 91 },
        Elo { elo: 2474, error: 98 },
        Elo { elo: 2655, error: 107 },
        Elo { elo: 2778, error: 113 },
    ],
    unit: Unit::Discs,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_profile_with_a_valid_default() {
        for kind in AiKind::ALL {
            let profile = kind.profile();
            assert_eq!(profile.kind, kind);
            assert!((1..=profile.levels).contains(&profile.default_level), "{kind}");
            assert!(!profile.summary.is_empty() && !profile.strength.is_empty(), "{kind}");
            assert!(profile.elo.is_empty() || profile.elo.len() == usize::from(profile.levels), "{kind}");
            // 70 more win three games of five.
            assert!(profile.elo.is_sorted_by(|below, above| below.elo + 70 <= above.elo), "{kind}");
        }
    }
}
