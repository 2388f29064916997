//! The invitations that a player accepts.

use std::time::Duration;

use crate::room::{PlayerKind, Settings};

/// The invitations that a player accepts. A player who has set none accepts all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Availability {
    /// False: none at all.
    pub available: bool,
    /// Whether people may invite.
    pub people: bool,
    /// Whether bots may invite.
    pub bots: bool,
    /// Only rated games, or only unrated ones; `None` for both.
    pub rated: Option<bool>,
    /// Bounds of the time for a move.
    pub per_move: TimeRange,
    /// Bounds of a side's time for all moves, without increments.
    pub total: TimeRange,
}

/// Bounds of a time. A game without a limit has an endless one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeRange {
    /// The shortest one.
    pub shortest: Option<Duration>,
    /// The longest one.
    pub longest: Option<Duration>,
}

impl Default for Availability {
    fn default() -> Self {
        let all = TimeRange::default();
        Self { available: true, people: true, bots: true, rated: None, per_move: all, total: all }
    }
}

impl Availability {
    /// The field of the API that does not allow an invitation of a player of this kind to a room.
    #[must_use]
    pub fn refused_by(&self, inviter: PlayerKind, settings: &Settings) -> Option<&'static str> {
        let is_welcome = match inviter {
            PlayerKind::Human => self.people,
            PlayerKind::Bot => self.bots,
        };
        let (per_move, total) = (settings.time.per_move, settings.time.total);
        [
            ("unavailable", self.available),
            ("kinds", is_welcome),
            ("rated", self.rated.is_none_or(|rated| rated == settings.rated)),
            ("shortest_move", self.per_move.allows_short(per_move)),
            ("longest_move", self.per_move.allows_long(per_move)),
            ("shortest_total", self.total.allows_short(total)),
            ("longest_total", self.total.allows_long(total)),
        ]
        .into_iter()
        .find_map(|(field, allowed)| (!allowed).then_some(field))
    }
}

impl TimeRange {
    fn allows_short(self, time: Option<Duration>) -> bool {
        time.is_none_or(|time| self.shortest.is_none_or(|shortest| time >= shortest))
    }

    fn allows_long(self, time: Option<Duration>) -> bool {
        self.longest.is_none_or(|longest| time.is_some_and(|time| time <= longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::{RoomName, TimeControl};

    #[test]
    fn the_first_field_that_does_not_allow_a_game_is_named() {
        let secs = |seconds| Some(Duration::from_secs(seconds));
        let settings = |per_move, total, rated| Settings {
            time: TimeControl { per_move, total, increment: Duration::ZERO },
            rated,
            ..Settings::named(RoomName::parse("room").unwrap())
        };
        let usual = settings(secs(60), None, false);
        let all = Availability::default();
        let range = |shortest, longest| TimeRange { shortest, longest };
        let blitz = Availability { total: range(secs(60), secs(300)), ..all };
        for (accepted, game, refused_by) in [
            (all, usual.clone(), None),
            (Availability { available: false, people: false, ..all }, usual.clone(), Some("unavailable")),
            (Availability { people: false, ..all }, usual.clone(), Some("kinds")),
            (Availability { bots: false, rated: Some(false), ..all }, usual.clone(), None),
            (Availability { rated: Some(true), ..all }, usual.clone(), Some("rated")),
            (Availability { per_move: range(secs(61), None), ..all }, usual.clone(), Some("shortest_move")),
            (Availability { per_move: range(None, secs(59)), ..all }, usual.clone(), Some("longest_move")),
            (blitz, usual, Some("longest_total")),
            (blitz, settings(None, secs(59), false), Some("shortest_total")),
            (blitz, settings(None, secs(300), true), None),
            (blitz, settings(None, secs(301), true), Some("longest_total")),
        ] {
            assert_eq!(accepted.refused_by(PlayerKind::Human, &game), refused_by, "{accepted:?} {game:?}");
        }
    }
}
