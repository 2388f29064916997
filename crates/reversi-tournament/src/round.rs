//! Who meets whom next.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use reversi_room::Timestamp;

use super::{
    entrant::{Entrant, EntrantId},
    lot::lot,
    meeting::{Forfeiter, Meeting, Outcome, Stage},
    pairing::{Candidate, Cost, Pairs, bracket, circle, gauntlet, pair},
    points::HalfPoints,
    settings::Format,
    standings::{main_standings, winner},
    state::Tournament,
};

/// The pairs of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) stage: Stage,
    pub(super) number: u32,
    /// The first has black in the first game; none for a bye.
    pub(super) pairs: Vec<(EntrantId, Option<EntrantId>)>,
}

/// How much more the distance of a bye from the lowest score counts than that of two opponents.
const BYE_DISTANCE: u32 = 8;

/// Above any sum of repeats of a round: such a bye is the last resort.
const REFUSED_BYE: u16 = 1000;

/// The number of latest meetings of an entrant whose repeat an arena avoids.
const RECENT: usize = 10;

/// Above the repeats of a pair in an arena.
const REMATCH: u16 = 100;

/// Below a rematch and above other repeats: who had no opponent at the last pairing of an arena is paired now.
const LEFT_OUT: u16 = 50;

impl Tournament {
    /// The next round, of the entrants that can be paired now; `None` if all rounds are played.
    pub(super) fn next_round(&self, now: Timestamp) -> Option<Round> {
        if self.in_playoff() {
            return self.next_playoff_round();
        }
        let last = self.round(Stage::Main);
        let main = |number, pairs| Round { stage: Stage::Main, number, pairs };
        let next = match &self.settings.format {
            _ if !self.has_opponents() => None,
            Format::AllPlayAll { .. } => {
                let tested = self.tested();
                let has_untested = |id: &EntrantId| !tested.contains(id);
                let is_over = self.settings.is_gauntlet() && !self.challengers().0.iter().any(has_untested);
                (last + 1..=if is_over { last } else { self.main_rounds() })
                    .map(|number| main(number, self.all_play_all(number, &tested, now)))
                    .find(|round| !round.pairs.is_empty())
            }
            Format::Swiss { .. } => {
                (last < self.main_rounds()).then(|| main(last + 1, self.swiss_pairs(last + 1, now)))
            }
            Format::Arena { .. } => Some(main(last + 1, self.arena_pairs(last + 1, now))),
        };
        next.or_else(|| self.first_playoff_round())
    }

    /// The number of rounds before the play-off; unbounded for an arena.
    pub(super) fn main_rounds(&self) -> u32 {
        match &self.settings.format {
            Format::AllPlayAll { cycles, .. } => self.cycle().saturating_mul((*cycles).into()),
            Format::Swiss { rounds } => (*rounds).into(),
            Format::Arena { .. } => u32::MAX,
        }
    }

    /// The number of rounds of a cycle of an all-play-all, at least 1.
    pub(super) fn cycle(&self) -> u32 {
        let (challengers, others) = self.challengers();
        let rounds = match challengers.len() {
            0 => (others.len() + others.len() % 2).saturating_sub(1),
            count => count.max(others.len()),
        };
        u32::try_from(rounds).unwrap_or(u32::MAX).max(1)
    }

    /// The challengers and the others, as they were at the start.
    fn challengers(&self) -> (Vec<EntrantId>, Vec<EntrantId>) {
        let is_challenger =
            |id: &EntrantId| self.entrants.get(id).is_some_and(|one| self.settings.is_challenger(&one.who));
        self.order.iter().partition(|id| is_challenger(id))
    }

    fn all_play_all(
        &self,
        number: u32,
        tested: &BTreeSet<EntrantId>,
        now: Timestamp,
    ) -> Vec<(EntrantId, Option<EntrantId>)> {
        let (challengers, others) = self.challengers();
        let round = number.saturating_sub(1) as usize;
        let (cycle, round) = (round / self.cycle() as usize, round % self.cycle() as usize);
        let pairs: Vec<(EntrantId, EntrantId)> = if challengers.is_empty() {
            let pairs = circle(others.len(), round).into_iter();
            pairs.filter_map(|(a, b)| Some((*others.get(a)?, *others.get(b)?))).collect()
        } else {
            let pairs = gauntlet(challengers.len(), others.len(), round).into_iter();
            let pair = |((a, b), is_first)| {
                let (challenger, other) = (*challengers.get(a)?, *others.get(b)?);
                Some(if is_first { (challenger, other) } else { (other, challenger) })
            };
            pairs.filter_map(pair).collect()
        };
        // Colours change from cycle to cycle.
        let pairs = pairs.into_iter().map(|(a, b)| if cycle.is_multiple_of(2) { (a, b) } else { (b, a) });
        let plays = |id: EntrantId| self.entrants.get(&id).is_some_and(|entrant| can_be_paired(entrant, now));
        let pairs = pairs.filter(|(a, b)| !tested.contains(a) && !tested.contains(b));
        pairs.filter_map(|(a, b)| present_sides(a, b, plays)).collect()
    }

    /// The challengers whose tests have ended: they have no more meetings.
    pub(super) fn tested(&self) -> BTreeSet<EntrantId> {
        let Some(sprt) = self.settings.sprt else { return BTreeSet::new() };
        let is_challenger =
            |id| self.entrants.get(&id).is_some_and(|entrant| self.settings.is_challenger(&entrant.who));
        let rows = main_standings(self).into_iter().filter(|row| is_challenger(row.entrant));
        rows.filter(|row| sprt.verdict(&row.score).is_some()).map(|row| row.entrant).collect()
    }

    fn swiss_pairs(&self, round: u32, now: Timestamp) -> Vec<(EntrantId, Option<EntrantId>)> {
        let pairable = self.contenders().filter(|(_, entrant)| can_be_paired(entrant, now));
        let mut free: Vec<EntrantId> = pairable.map(|(id, _)| id).collect();
        if free.len() % 2 == 1 {
            free.extend(self.active().find(|(_, one)| self.settings.is_filler(&one.who)).map(|(id, _)| id));
        }
        let field = self.candidates(&free);
        let by_id: BTreeMap<EntrantId, Candidate> = field.iter().map(|one| (one.id, *one)).collect();
        let scores: BTreeSet<HalfPoints> = field.iter().map(|one| one.score).collect();
        let last = Candidate {
            id: EntrantId::default(),
            score: scores.first().copied().unwrap_or_default(),
            rating: field.iter().map(|one| one.rating).min().unwrap_or(0),
        };
        let seed = lot(self.settings.seed, round.into());
        let refused = self.refused_byes(&field, seed);
        let history = History::of(self, usize::MAX);
        let cost = |a: EntrantId, b: Option<EntrantId>| {
            let of = |id| by_id.get(&id).copied().unwrap_or(last);
            let Some(b) = b else {
                let Cost { score, rating, .. } = distance(of(a), last);
                let repeat = refused.get(&a).copied().unwrap_or(0);
                return Cost { repeat, score: score.saturating_mul(BYE_DISTANCE), colour: 0, rating };
            };
            Cost { repeat: history.meetings(a, b), colour: history.colour_cost(a, b), ..distance(of(a), of(b)) }
        };
        let Pairs { pairs, bye } = pair(&field, cost, seed);
        let pairs = pairs.into_iter().map(|(a, b)| history.with_colours(a, b, seed)).map(|(a, b)| (a, Some(b)));
        pairs.chain(bye.map(|bye| (bye, None))).collect()
    }

    /// The cost of a bye for each entrant that had one, or a meeting that its opponent forfeited, or is in the top third.
    fn refused_byes(&self, field: &[Candidate], seed: u64) -> BTreeMap<EntrantId, u16> {
        let mut best = field.to_vec();
        best.sort_by_key(|one| (Reverse((one.score, one.rating)), lot(seed, one.id.0.into())));
        let unplayed = self.meetings.iter().filter_map(|Meeting { pairing, outcome, .. }| match outcome {
            _ if pairing.second.is_none() => Some(pairing.first),
            Some(Outcome::Forfeit { by: Forfeiter::First, .. }) => pairing.second,
            Some(Outcome::Forfeit { by: Forfeiter::Second, .. }) => Some(pairing.first),
            _ => None,
        });
        let refused = best.iter().take(field.len() / 3).map(|one| one.id);
        let mut costs: BTreeMap<EntrantId, u16> = BTreeMap::new();
        for id in refused.chain(unplayed) {
            let cost = costs.entry(id).or_default();
            *cost = cost.saturating_add(REFUSED_BYE);
        }
        costs
    }

    fn arena_pairs(&self, round: u32, now: Timestamp) -> Vec<(EntrantId, Option<EntrantId>)> {
        let (mut free, mut ais): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
        for (id, entrant) in self.active().filter(|(_, entrant)| is_free(entrant) && can_be_paired(entrant, now)) {
            if entrant.is_ai() { ais.push((entrant.waits_since, id)) } else { free.push(id) }
        }
        // Each meeting has two sides, so on average these are twice as many of each entrant as are needed.
        let history = History::of(self, RECENT * self.active().count());
        let meets_again = matches!(free[..], [a, b] if history.recent_meetings(a, b) >= REMATCH);
        let players = self.active().filter(|(_, entrant)| entrant.present && !entrant.is_ai()).count();
        // Among few players two would else meet again and again, always free together.
        let wanted = if meets_again && ais.len() > 1 && players < Self::SMALL_ARENA { 2 } else { free.len() % 2 };
        // The AIs that have waited longest.
        ais.sort_unstable();
        free.extend(ais.into_iter().take(wanted).map(|(_, id)| id));
        let field = self.candidates(&free);
        let by_id: BTreeMap<EntrantId, Candidate> = field.iter().map(|one| (one.id, *one)).collect();
        let cost = |a: EntrantId, b: Option<EntrantId>| {
            let Some(b) = b else {
                let left_out = self.entrants.get(&a).is_some_and(|entrant| entrant.waits_since <= self.paired);
                return Cost { repeat: if left_out { LEFT_OUT } else { 0 }, ..Cost::default() };
            };
            let between = by_id.get(&a).zip(by_id.get(&b)).map(|(a, b)| distance(*a, *b)).unwrap_or_default();
            Cost { repeat: history.recent_meetings(a, b), colour: history.colour_cost(a, b), ..between }
        };
        let seed = lot(self.settings.seed, round.into());
        let pairs = pair(&field, cost, seed).pairs.into_iter();
        let is_good = |&(a, b): &_| free.len() == 2 || history.recent_meetings(a, b) < REMATCH;
        pairs.filter(is_good).map(|(a, b)| history.with_colours(a, b, seed)).map(|(a, b)| (a, Some(b))).collect()
    }

    fn candidates(&self, free: &[EntrantId]) -> Vec<Candidate> {
        let mut points: BTreeMap<EntrantId, HalfPoints> = free.iter().map(|id| (*id, HalfPoints::default())).collect();
        // In a pool points only tell who has played longest.
        let counted = if self.settings.is_pool() { 0 } else { self.meetings.len() };
        for meeting in self.meetings.iter().take(counted).filter(|meeting| meeting.is_finished()) {
            for (id, won) in meeting.sides().zip(meeting.points(self.games())) {
                if let Some(points) = points.get_mut(&id) {
                    *points += won;
                }
            }
        }
        let candidate = |(id, score): (EntrantId, HalfPoints)| {
            self.entrants.get(&id).map(|entrant| Candidate { id, score, rating: entrant.rating })
        };
        points.into_iter().filter_map(candidate).collect()
    }

    /// The best of those who have not left, if the settings want a play-off and there are at least two.
    fn first_playoff_round(&self) -> Option<Round> {
        let wanted = self.settings.playoff?.size();
        let takes_part = |id: &EntrantId| {
            let entrant = self.entrants.get(id);
            entrant.is_some_and(|one| one.left.is_none() && !self.settings.is_filler(&one.who))
        };
        let best: Vec<EntrantId> = self.playoff_order().into_iter().filter(takes_part).take(wanted).collect();
        let size = [8, 4, 2].into_iter().find(|size| *size <= best.len())?;
        let pairs = bracket(size).into_iter();
        let pairs = pairs.filter_map(|(a, b)| Some((*best.get(a)?, Some(*best.get(b)?)))).collect();
        Some(Round { stage: Stage::Playoff, number: 1, pairs })
    }

    /// All entrants by their ranks, or by their ratings if there was no round.
    fn playoff_order(&self) -> Vec<EntrantId> {
        let mut rows = main_standings(self);
        if self.main_rounds() == 0 {
            rows.sort_by_key(|row| Reverse(self.entrants.get(&row.entrant).map_or(0, |entrant| entrant.rating)));
        }
        rows.into_iter().map(|row| row.entrant).collect()
    }

    /// The winners of adjacent meetings; `None` after the final.
    fn next_playoff_round(&self) -> Option<Round> {
        let last = self.round(Stage::Playoff);
        let ranks = self.playoff_order().into_iter().zip(1..).collect();
        let meetings = self.meetings.iter().filter(|meeting| meeting.stage == Stage::Playoff && meeting.round == last);
        let winners: Vec<EntrantId> = meetings.filter_map(|meeting| winner(meeting, self.games(), &ranks)).collect();
        let plays = |id: EntrantId| self.entrants.get(&id).is_some_and(|entrant| entrant.left.is_none());
        let pairs = winners.chunks_exact(2).filter_map(|pair| match *pair {
            // If both have left, the first goes on, so that the bracket stays whole.
            [a, b] => Some(present_sides(a, b, plays).unwrap_or((a, None))),
            _ => None,
        });
        (winners.len() >= 2).then(|| Round { stage: Stage::Playoff, number: last + 1, pairs: pairs.collect() })
    }
}

/// The pair, or a bye for the side that plays; `None` if neither does.
fn present_sides(
    a: EntrantId,
    b: EntrantId,
    plays: impl Fn(EntrantId) -> bool,
) -> Option<(EntrantId, Option<EntrantId>)> {
    match (plays(a), plays(b)) {
        (true, true) => Some((a, Some(b))),
        (true, false) => Some((a, None)),
        (false, true) => Some((b, None)),
        (false, false) => None,
    }
}

fn can_be_paired(entrant: &Entrant, now: Timestamp) -> bool {
    entrant.pairable_from().is_some_and(|from| from <= now)
}

/// Whether an entrant of an arena is there and not playing.
pub(super) fn is_free(entrant: &Entrant) -> bool {
    entrant.present && entrant.meeting.is_none() && entrant.left.is_none()
}

/// The cost of the distance of two entrants: large distances of scores are worse than several small ones.
fn distance(a: Candidate, b: Candidate) -> Cost {
    let score = a.score.0.abs_diff(b.score.0);
    Cost { score: score.saturating_mul(score), rating: a.rating.abs_diff(b.rating), ..Cost::default() }
}

/// What pairing needs to know of earlier meetings.
struct History {
    met: BTreeMap<(EntrantId, EntrantId), u16>,
    /// The last opponents of each entrant, the latest first.
    recent: BTreeMap<EntrantId, Vec<EntrantId>>,
    /// How much more often each has had black; empty where meetings have several games.
    blacks: BTreeMap<EntrantId, i32>,
}

impl History {
    /// Of the last `limit` meetings.
    fn of(tournament: &Tournament, limit: usize) -> Self {
        let mut history = Self { met: BTreeMap::new(), recent: BTreeMap::new(), blacks: BTreeMap::new() };
        // A meeting that was not played may be repeated.
        let played = |meeting: &&Meeting| matches!(meeting.outcome, None | Some(Outcome::Played { .. }));
        for meeting in tournament.meetings.iter().rev().take(limit).filter(played) {
            let Some(second) = meeting.pairing.second else { continue };
            let first = meeting.pairing.first;
            let met = history.met.entry((first.min(second), first.max(second))).or_default();
            *met = met.saturating_add(1);
            for (one, other, black) in [(first, second, 1), (second, first, -1)] {
                let recent = history.recent.entry(one).or_default();
                if recent.len() < RECENT {
                    recent.push(other);
                }
                if tournament.games() == 1 {
                    *history.blacks.entry(one).or_default() += black;
                }
            }
        }
        history
    }

    fn meetings(&self, a: EntrantId, b: EntrantId) -> u16 {
        self.met.get(&(a.min(b), a.max(b))).copied().unwrap_or(0)
    }

    /// Meetings among the last ones of both; at least [`REMATCH`] if one of them has just met the other.
    fn recent_meetings(&self, a: EntrantId, b: EntrantId) -> u16 {
        let of = |one: EntrantId, other: EntrantId| {
            let recent = self.recent.get(&one).map_or(&[][..], Vec::as_slice);
            let again = if recent.first() == Some(&other) { REMATCH } else { 0 };
            again + recent.iter().filter(|opponent| **opponent == other).count() as u16
        };
        of(a, b) + of(b, a)
    }

    /// The unbalance of colours of both after a game in which the first has black.
    fn unbalance(&self, black: EntrantId, white: EntrantId) -> u32 {
        let after = |id, change: i32| {
            let balance = self.blacks.get(&id).copied().unwrap_or(0).saturating_add(change).unsigned_abs();
            balance.saturating_mul(balance)
        };
        after(black, 1).saturating_add(after(white, -1))
    }

    fn colour_cost(&self, a: EntrantId, b: EntrantId) -> u16 {
        let least = if self.blacks.is_empty() { 0 } else { self.unbalance(a, b).min(self.unbalance(b, a)) };
        u16::try_from(least).unwrap_or(u16::MAX)
    }

    /// The pair with the colours that balance best; by lot among equals.
    fn with_colours(&self, a: EntrantId, b: EntrantId, seed: u64) -> (EntrantId, EntrantId) {
        let swapped = match self.unbalance(a, b).cmp(&self.unbalance(b, a)) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => lot(seed, u64::from(a.0) << 32 | u64::from(b.0)) % 2 == 1,
        };
        if swapped { (b, a) } else { (a, b) }
    }
}
