//! The anchors of the ratings: AIs with measured strengths, whose ratings never change, so that the ratings of all others
//! keep their meaning from year to year and from server to server.

use std::sync::Arc;

use reversi_engine::ai::AiKind;

use super::{contestant::Contestant, player_stats::glicko::Rating};

/// The kind of all anchors.
const KIND: AiKind = AiKind::Expert;

/// Their levels.
const LEVELS: [u8; 5] = [1, 3, 6, 9, 13];

/// The rating of play at random. The strengths of the anchors are measured above it, in Elo, whose points Glicko-2 has too.
const RANDOM: f64 = 1000.0;

/// The half-width of a 95 % interval, in standard deviations.
const HALF_WIDTH: f64 = 1.96;

/// All anchors, the weakest first.
pub fn all() -> impl Iterator<Item = (Contestant, Rating)> {
    let kind: Arc<str> = KIND.to_string().into();
    LEVELS.into_iter().filter_map(move |level| {
        let who = Contestant::Ai { kind: Arc::clone(&kind), level };
        Some((who, rating_at(level)?))
    })
}

/// The rating of a contestant that is an anchor.
#[must_use]
pub fn rating_of(who: &Contestant) -> Option<Rating> {
    match who {
        Contestant::Ai { kind, level } if LEVELS.contains(level) && kind.parse() == Ok(KIND) => rating_at(*level),
        _ => None,
    }
}

/// The kind and level of the anchor whose rating is next to this one.
#[must_use]
pub fn nearest(rating: u16) -> Option<(String, u8)> {
    let distance = |level: &u8| rating_at(*level).map_or(u16::MAX, |anchor| anchor.rounded().abs_diff(rating));
    Some((KIND.to_string(), LEVELS.into_iter().min_by_key(distance)?))
}

fn rating_at(level: u8) -> Option<Rating> {
    let measured = KIND.profile().elo.get(usize::from(level).checked_sub(1)?)?;
    let (value, deviation) = (RANDOM + f64::from(measured.elo), f64::from(measured.error) / HALF_WIDTH);
    Some(Rating { value, deviation, ..Rating::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_certain_and_in_order() {
        let anchors: Vec<_> = all().collect();
        assert_eq!(anchors.len(), LEVELS.len());
        assert!(anchors.is_sorted_by(|(_, weaker), (_, stronger)| weaker.value < stronger.value));
        for (who, rating) in anchors {
            assert_eq!(rating_of(&who), Some(rating));
            assert!(!rating.is_provisional());
        }
        assert_eq!(rating_of(&"expert:2".parse().unwrap()), None);
        assert_eq!(rating_of(&"mcts:3".parse().unwrap()), None);
    }
}
