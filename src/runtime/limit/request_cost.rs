//! The cost of expensive calls, as the number of simple requests that take the same time.

use super::limits::{
    ANALYSIS_COST, GAMES_RETURNED_PER_REQUEST, LOOKUP_COST, PASSWORD_COST, ROOMS_RETURNED_PER_REQUEST,
    ROOMS_SEARCHED_PER_REQUEST, SEARCH_COST,
};

/// The work of a call that counts in addition to the call itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCost {
    /// A page of the room list.
    Rooms {
        /// Rooms searched.
        searched: usize,
        /// Rooms returned.
        returned: usize,
    },
    /// A query of the archive about one contestant.
    LookUp,
    /// This many snapshots of rooms.
    Snapshots(usize),
    /// This many games returned.
    Games(usize),
    /// This many games found by a search and returned.
    SearchedGames(usize),
    /// Hashing a password.
    Password,
    /// An analysis.
    Analysis {
        /// Positions analysed.
        positions: usize,
        /// The player's seats, each of which is checked for a rated game.
        seats: usize,
    },
}

impl RequestCost {
    pub(crate) fn requests(self) -> u32 {
        let requests = match self {
            Self::Rooms { searched, returned } => searched
                .div_ceil(ROOMS_SEARCHED_PER_REQUEST)
                .saturating_add(returned.div_ceil(ROOMS_RETURNED_PER_REQUEST)),
            Self::LookUp => LOOKUP_COST,
            Self::Snapshots(rooms) => rooms,
            Self::Games(returned) => returned.div_ceil(GAMES_RETURNED_PER_REQUEST),
            Self::SearchedGames(returned) => returned.div_ceil(GAMES_RETURNED_PER_REQUEST).saturating_add(SEARCH_COST),
            Self::Password => PASSWORD_COST,
            Self::Analysis { positions, seats } => positions.saturating_mul(ANALYSIS_COST).saturating_add(seats),
        };
        u32::try_from(requests).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_proportional_to_the_work() {
        let seek = |searched| RequestCost::Rooms { searched, returned: 0 }.requests();
        let list = |returned| RequestCost::Rooms { searched: 0, returned }.requests();
        assert_eq!([0, 1, 20_000].map(seek), [0, 1, 100]);
        assert_eq!([0, 1, 20_000, usize::MAX].map(list), [0, 1, 1_000, u32::MAX]);
        assert_eq!([1, 200].map(|games| RequestCost::Games(games).requests()), [1, 40]);
        assert!(RequestCost::SearchedGames(1).requests() > RequestCost::Games(1).requests());
        assert_eq!(RequestCost::Analysis { positions: 61, seats: 64 }.requests(), 3_114);
    }
}
