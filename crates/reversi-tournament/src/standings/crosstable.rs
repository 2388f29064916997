//! The results of each entrant against each other.

use std::collections::BTreeMap;

use reversi_engine::match_statistics::Score;

use crate::{entrant::EntrantId, points::HalfPoints, state::Tournament};

/// The results of one entrant against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Finished meetings.
    pub meetings: u32,
    /// The points of the first of the two, with those of forfeits.
    pub points: HalfPoints,
    /// The games that were played, for the first of the two.
    pub score: Score,
}

/// A cell for each two entrants who have met, in both orders.
pub type Crosstable = BTreeMap<(EntrantId, EntrantId), Cell>;

/// The crosstable of all finished meetings, with the play-off.
#[must_use]
pub fn crosstable(tournament: &Tournament) -> Crosstable {
    let mut cells = Crosstable::new();
    for meeting in tournament.meetings().filter(|meeting| meeting.is_finished()) {
        let Some(second) = meeting.pairing.second else { continue };
        let [mine, other] = meeting.points(tournament.games());
        let score = meeting.score().unwrap_or_default();
        let first = meeting.pairing.first;
        for (key, points, score) in [((first, second), mine, score), ((second, first), other, score.opposite())] {
            let cell = cells.entry(key).or_default();
            cell.meetings += 1;
            cell.points += points;
            cell.score += score;
        }
    }
    cells
}
