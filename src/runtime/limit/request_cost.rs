//! The cost of expensive calls, as the number of simple requests that take the same time.

/// Rooms searched at the cost of one request: comparing their names takes as long as a move.
const ROOMS_SEARCHED_PER_REQUEST: usize = 200;

/// Rooms returned at the cost of one request: each is copied and encoded.
const ROOMS_RETURNED_PER_REQUEST: usize = 20;

/// The cost of a query about one contestant, in requests: it may read from the disk.
const LOOKUP_COST: usize = 2;

/// The cost of a search among the games of all players, in requests: it may skip many private ones.
const SEARCH_COST: usize = 20;

/// Games returned at the cost of one request: each is read from the disk and replayed.
const GAMES_RETURNED_PER_REQUEST: usize = 5;

/// The cost of hashing a password, in requests.
const PASSWORD_COST: usize = 100;

/// The cost of analysing one position, in requests: a game costs as much as a player may request in a second.
const ANALYSIS_COST: usize = 50;

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
