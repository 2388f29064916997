//! The states of tournaments that players see. Each is read and computed once for all players of a node.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OnceCell;

use crate::{
    room::{Timestamp, TournamentId},
    runtime::{lifecycle::Lifecycle, outcome::RoomError},
    tournament::{Standing, Strength, Tournament, standings_with_strengths},
};

/// The size of a state above which it is computed off the threads of the server.
const LARGE: usize = 200;

/// The size of all states that are kept; those of one tournament may be larger.
const KEPT: usize = 200_000;

/// The size of a tournament without entrants.
const SETTINGS: usize = 16;

/// A state of a tournament, as some players see it.
#[derive(Debug)]
pub struct Shown {
    tournament: Arc<Tournament>,
    standings: OnceCell<Standings>,
}

type Standings = Arc<[(Standing, Option<Strength>)]>;

impl Shown {
    pub(super) fn new(tournament: Arc<Tournament>) -> Arc<Self> {
        Arc::new(Self { tournament, standings: OnceCell::new() })
    }

    /// The state.
    #[must_use]
    pub fn tournament(&self) -> &Arc<Tournament> {
        &self.tournament
    }

    /// Its standings, computed by the first caller.
    pub(super) async fn standings(&self, lifecycle: &Lifecycle) -> Result<Standings, RoomError> {
        let compute = || self.compute(lifecycle, |tournament| standings_with_strengths(tournament).into());
        self.standings.get_or_try_init(compute).await.cloned()
    }

    async fn compute<T: Send + 'static>(
        &self,
        lifecycle: &Lifecycle,
        work: impl FnOnce(&Tournament) -> T + Send + 'static,
    ) -> Result<T, RoomError> {
        if self.size() <= LARGE {
            return Ok(work(&self.tournament));
        }
        let tournament = Arc::clone(&self.tournament);
        lifecycle.spawn_blocking(move || work(&tournament)).await.map_err(|_| RoomError::Draining)
    }

    /// The memory and time that it takes, where one is that of an entrant or a meeting.
    fn size(&self) -> usize {
        SETTINGS + self.tournament.entrants().len() + self.tournament.meetings().len()
    }
}

/// The last states of a tournament.
#[derive(Default)]
pub(super) struct States {
    pub(super) latest: Option<Arc<Shown>>,
    delayed: Option<Delayed>,
}

/// What is shown of a state when all up to a time in a range may be shown.
struct Delayed {
    of: Arc<Shown>,
    until: Range<Timestamp>,
    shown: Arc<Shown>,
}

impl States {
    /// What may be shown of a state: all up to this time.
    pub(super) async fn delayed(
        &mut self,
        of: &Arc<Shown>,
        until: Timestamp,
        lifecycle: &Lifecycle,
    ) -> Result<Arc<Shown>, RoomError> {
        if let Some(known) =
            self.delayed.as_ref().filter(|known| Arc::ptr_eq(&known.of, of) && known.until.contains(&until))
        {
            return Ok(Arc::clone(&known.shown));
        }
        let delayed = move |tournament: &Tournament| (tournament.delayed(until), tournament.hidden_until(until));
        let (shown, next) = of.compute(lifecycle, delayed).await?;
        let shown = Shown::new(Arc::new(shown));
        let until = until..next.unwrap_or(Timestamp(i64::MAX));
        self.delayed = Some(Delayed { of: Arc::clone(of), until, shown: Arc::clone(&shown) });
        Ok(shown)
    }

    pub(super) fn size(&self) -> usize {
        let delayed = self.delayed.as_ref().map(|delayed| &delayed.shown);
        self.latest.iter().chain(delayed).map(|shown| shown.size()).sum()
    }
}

/// The states of the tournaments that were asked for last.
#[derive(Default)]
pub(crate) struct KeptStates(Mutex<AllKept>);

#[derive(Default)]
struct AllKept {
    uses: u64,
    by_id: BTreeMap<TournamentId, KeptState>,
}

#[derive(Default)]
struct KeptState {
    last_use: u64,
    size: usize,
    states: Arc<tokio::sync::Mutex<States>>,
}

impl KeptStates {
    pub(super) fn of(&self, id: TournamentId) -> Arc<tokio::sync::Mutex<States>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let last_use = kept.uses;
        let one = kept.by_id.entry(id).or_default();
        one.last_use = last_use;
        Arc::clone(&one.states)
    }

    /// Notes the size of the states of a tournament. Forgets others, first those that were not used for the longest time.
    pub(super) fn note_size(&self, id: TournamentId, size: usize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = kept.by_id.get_mut(&id) {
            one.size = size;
        }
        let mut all: usize = kept.by_id.values().map(|one| one.size).sum();
        while all > KEPT && kept.by_id.len() > 1 {
            let oldest = kept.by_id.iter().min_by_key(|(_, one)| one.last_use).map(|(id, _)| *id);
            all -= oldest.and_then(|id| kept.by_id.remove(&id)).map_or(0, |one| one.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_the_longest_time_is_forgotten_first() {
        let kept = KeptStates::default();
        let id = |number| TournamentId::from_random(number);
        let states: Vec<_> = (0..4).map(|number| kept.of(id(number))).collect();
        let is_kept = |number: usize| Arc::ptr_eq(&kept.of(id(number as u64)), &states[number]);
        (0..3).for_each(|number| kept.note_size(id(number), KEPT / 3));
        assert!(is_kept(0));
        kept.note_size(id(3), KEPT / 3);
        assert_eq!([0, 2, 3, 1].map(is_kept), [true, true, true, false]);
        assert!(is_kept(0));
        kept.note_size(id(0), KEPT + 1);
        assert_eq!([0, 2, 3].map(is_kept), [true, false, false]);
    }
}
