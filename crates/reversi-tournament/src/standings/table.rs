//! Points and tie-breaks.

use std::{cmp::Reverse, collections::BTreeMap};

use reversi_engine::match_statistics::Score;

use crate::{
    entrant::EntrantId,
    lot::lot,
    meeting::{Forfeiter, Meeting, Outcome, Stage},
    points::HalfPoints,
    state::Tournament,
};

/// The discs of a game that was not played.
const HALF_THE_BOARD: u32 = 32;

/// What the points of an opponent are worth in the Brightwell quotient, in discs for half a point.
const DISCS_PER_HALF_POINT: u32 = 3;

/// A row of the standings. Without the play-off, but for the rank and [`Self::playoff_wins`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The rank, from 1; no two entrants share one.
    pub rank: u32,
    /// The entrant.
    pub entrant: EntrantId,
    /// Finished meetings, with byes.
    pub meetings: u32,
    /// Meetings won in the play-off.
    pub playoff_wins: u32,
    /// Points of all games.
    pub points: HalfPoints,
    /// The Brightwell quotient, in discs: own discs and 6 times the sum of the opponents' points. A bye and an opponent
    /// who has left count as 32 discs a game and 6 times the own points.
    pub brightwell: u32,
    /// Own discs; 32 for each game of a bye.
    pub discs: u32,
    /// Games and pairs that were played.
    pub score: Score,
}

/// The standings, best first: by meetings won in the play-off, then points, Brightwell quotient, discs, and a lot by
/// the tournament's seed.
#[must_use]
pub fn standings(tournament: &Tournament) -> Vec<Standing> {
    let mut rows = main_standings(tournament);
    let ranks: BTreeMap<EntrantId, u32> = rows.iter().map(|row| (row.entrant, row.rank)).collect();
    let playoff = tournament.meetings().rev().take_while(|meeting| meeting.stage == Stage::Playoff);
    let mut wins: BTreeMap<EntrantId, u32> = BTreeMap::new();
    for winner in playoff.filter_map(|meeting| winner(meeting, tournament.games(), &ranks)) {
        *wins.entry(winner).or_default() += 1;
    }
    rows.iter_mut().for_each(|row| row.playoff_wins = wins.get(&row.entrant).copied().unwrap_or(0));
    rows.sort_by_key(|row| Reverse(row.playoff_wins));
    ranked(rows)
}

/// The standings before the play-off.
pub(crate) fn main_standings(tournament: &Tournament) -> Vec<Standing> {
    let games = tournament.games();
    let ids: Vec<EntrantId> = tournament.entrants.keys().copied().collect();
    let mut rows = vec![Row::default(); ids.len()];
    let counted = |meeting: &&Meeting| meeting.stage == Stage::Main && meeting.is_finished();
    let indexes = |meeting: &Meeting| {
        let index = |entrant| ids.binary_search(&entrant).ok();
        [index(meeting.pairing.first), meeting.pairing.second.and_then(index)]
    };
    let meetings: Vec<_> = tournament.meetings().filter(counted).map(|meeting| (meeting, indexes(meeting))).collect();
    for (meeting, [first, second]) in &meetings {
        for (index, points) in [first, second].into_iter().zip(meeting.points(games)) {
            if let Some(row) = index.and_then(|index| rows.get_mut(index)) {
                row.points += points;
            }
        }
    }
    // Of the entrants that are still in.
    let points = rows.iter().zip(tournament.entrants.values());
    let points: Vec<_> = points.map(|(row, entrant)| entrant.left.is_none().then_some(row.points)).collect();
    for (meeting, [first, second]) in &meetings {
        for (side, own, opponent) in [(0, first, second), (1, second, first)] {
            if let Some(row) = own.and_then(|own| rows.get_mut(own)) {
                let opponent = opponent.and_then(|opponent| points.get(opponent).copied().flatten());
                row.count(meeting, side, games, opponent);
            }
        }
    }
    let mut rows: Vec<Standing> = ids.into_iter().zip(rows).map(|(entrant, row)| row.standing(entrant)).collect();
    let seed = tournament.settings.seed;
    rows.sort_by_key(|row| (Reverse((row.points, row.brightwell, row.discs)), lot(seed, row.entrant.0.into())));
    ranked(rows)
}

/// The winner of a meeting of the play-off: by points, then discs, then the rank before the play-off; `None` until it
/// is finished.
pub(crate) fn winner(meeting: &Meeting, games: u32, ranks: &BTreeMap<EntrantId, u32>) -> Option<EntrantId> {
    let discs = match meeting.outcome {
        Some(Outcome::Played { discs, .. }) => discs,
        Some(Outcome::Forfeit { .. } | Outcome::Void) | None => [0; 2],
    };
    let sides = meeting.sides().zip(meeting.points(games)).zip(discs);
    let best = sides.max_by_key(|((entrant, points), discs)| {
        (*points, *discs, Reverse(ranks.get(entrant).copied().unwrap_or(u32::MAX)))
    });
    meeting.is_finished().then_some(best?.0.0)
}

fn ranked(mut rows: Vec<Standing>) -> Vec<Standing> {
    rows.iter_mut().zip(1..).for_each(|(row, rank)| row.rank = rank);
    rows
}

/// A row while it is added up.
#[derive(Clone, Default)]
struct Row {
    points: HalfPoints,
    meetings: u32,
    quotient: u32,
    discs: u32,
    score: Score,
}

impl Row {
    /// Adds a finished meeting; `opponent` has the points of an opponent who has not left.
    fn count(&mut self, meeting: &Meeting, side: usize, games: u32, opponent: Option<HalfPoints>) {
        let mut unplayed = false;
        let discs = match &meeting.outcome {
            Some(Outcome::Void) => return,
            Some(Outcome::Played { score, discs, .. }) => {
                self.score += if side == 0 { *score } else { score.opposite() };
                discs.get(side).copied().unwrap_or(0)
            }
            Some(Outcome::Forfeit { by, .. }) if loses(*by, side) => 0,
            Some(Outcome::Forfeit { .. }) | None => {
                unplayed = true;
                HALF_THE_BOARD.saturating_mul(games)
            }
        };
        self.meetings += 1;
        self.discs = self.discs.saturating_add(discs);
        let counted = match opponent {
            Some(points) if !unplayed => discs.saturating_add(DISCS_PER_HALF_POINT.saturating_mul(points.0)),
            _ => {
                HALF_THE_BOARD.saturating_mul(games).saturating_add(DISCS_PER_HALF_POINT.saturating_mul(self.points.0))
            }
        };
        self.quotient = self.quotient.saturating_add(counted);
    }

    fn standing(self, entrant: EntrantId) -> Standing {
        let Self { points, meetings, quotient, discs, score } = self;
        Standing { rank: 0, entrant, meetings, playoff_wins: 0, points, brightwell: quotient, discs, score }
    }
}

fn loses(by: Forfeiter, side: usize) -> bool {
    match by {
        Forfeiter::First => side == 0,
        Forfeiter::Second => side == 1,
        Forfeiter::Both => true,
    }
}
