//! What a call costs that is dearer than others: as many requests as could be answered meanwhile.

use super::{
    limits::{ANALYSIS, GAMES_TOLD, LOOKUP, ROOMS_SOUGHT, ROOMS_TOLD, SEARCH},
    rate_limiter::TooFast,
};
use crate::runtime::player::directory::Player;

/// What there is to do for a call beyond what every call takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// To look through so many rooms, and to tell of so many.
    Rooms {
        /// Looked through.
        sought: usize,
        /// Told.
        told: usize,
    },
    /// To ask the archive about one contestant.
    LookUp,
    /// To look at so many rooms.
    Looks(usize),
    /// To tell of so many games.
    Games(usize),
    /// To look for so many games among many, and to tell of them.
    SearchedGames(usize),
    /// To analyse so many positions, for a player in so many seats.
    Analysis {
        /// Analysed.
        positions: usize,
        /// Whether a rated game is played there is looked for.
        seats: usize,
    },
}

impl Work {
    /// In requests.
    fn price(self) -> u32 {
        let price = match self {
            Self::Rooms { sought, told } => sought.div_ceil(ROOMS_SOUGHT).saturating_add(told.div_ceil(ROOMS_TOLD)),
            Self::LookUp => LOOKUP,
            Self::Looks(rooms) => rooms,
            Self::Games(told) => told.div_ceil(GAMES_TOLD),
            Self::SearchedGames(told) => told.div_ceil(GAMES_TOLD).saturating_add(SEARCH),
            Self::Analysis { positions, seats } => positions.saturating_mul(ANALYSIS).saturating_add(seats),
        };
        u32::try_from(price).unwrap_or(u32::MAX)
    }
}

impl Player {
    /// Counts work at the rates of the player and of its address, before it is done, for a call that was counted as one.
    ///
    /// # Errors
    /// When there was too much of late.
    pub fn pay(&self, work: Work) -> Result<(), TooFast> {
        self.admit_more(work.price())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind},
        runtime::{Limits, player::directory::Players},
    };

    #[test]
    fn work_costs_in_proportion() {
        let seek = |sought| Work::Rooms { sought, told: 0 }.price();
        let tell = |told| Work::Rooms { sought: 0, told }.price();
        assert_eq!([0, 1, 20_000].map(seek), [0, 1, 100]);
        assert_eq!([0, 1, 20_000, usize::MAX].map(tell), [0, 1, 1_000, u32::MAX]);
        assert_eq!([1, 200].map(|games| Work::Games(games).price()), [1, 40]);
        assert!(Work::SearchedGames(1).price() > Work::Games(1).price());
        assert_eq!(Work::Analysis { positions: 61, seats: 64 }.price(), 3_114);
    }

    #[test]
    fn who_has_much_done_has_to_wait_for_the_next_request() {
        let limits = Limits { requests_per_second: 1, request_burst: 100, ..Limits::default() };
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = Players::default().log_in(name, PlayerKind::Human, 0, &limits).unwrap();
        ada.admit().unwrap();
        ada.pay(Work::Rooms { sought: 19_800, told: 0 }).unwrap();
        assert!(ada.admit().is_err());
    }
}
