//! What players see of tournaments, now and after changes.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{journal::read, shown::Shown, tournaments::Tournaments};
use crate::{
    room::{Timestamp, TournamentId},
    runtime::{
        outcome::{RoomError, StreamEnd},
        player::player::Player,
        server_metrics::StreamKind,
        watch::open_stream::OpenStream,
    },
    tournament::{Phase, Standing, Strength, Tournament},
};

/// For each of these numbers of entrants a watcher waits once more between two states.
const PACED_ENTRANTS: usize = 64;

impl Tournaments {
    /// A tournament as it may be shown: what comes of its meetings is delayed, but not for its organiser, nor for `admin`.
    /// The same state is returned to all who see it until it changes.
    ///
    /// # Errors
    /// [`RoomError::TournamentNotFound`], or when the store is unavailable.
    pub async fn shown(&self, viewer: &Player, admin: bool, id: TournamentId) -> Result<Arc<Shown>, RoomError> {
        let context = &self.rooms.host.context;
        let live = || context.tournaments.get(id).map(|live| Arc::clone(&live.state.borrow()));
        let stored = match live() {
            Some(_) => None,
            None => Some(self.journal.tournament_seq(id).await?.ok_or(RoomError::TournamentNotFound)?),
        };
        let states = self.kept.of(id);
        let mut states = states.lock().await;
        let size = states.size();
        let known = states.latest.clone();
        // Not a later state: the database may have lost events.
        let latest = match live() {
            Some(live) => {
                known.filter(|known| Arc::ptr_eq(known.tournament(), &live)).unwrap_or_else(|| Shown::new(live))
            }
            None => match known.filter(|known| stored == Some(known.tournament().seq())) {
                Some(known) => known,
                None => {
                    let read = read(&*self.journal, id).await?.ok_or(RoomError::TournamentNotFound)?;
                    Shown::new(Arc::new(read))
                }
            },
        };
        states.latest = Some(Arc::clone(&latest));
        let shown = match self.shown_until(viewer, admin, latest.tournament()) {
            Some(until) => states.delayed(&latest, until, &context.lifecycle).await?,
            None => latest,
        };
        if states.size() != size {
            self.kept.note_size(id, states.size());
        }
        Ok(shown)
    }

    /// As [`Self::shown`], of a tournament that was read.
    #[must_use]
    pub fn as_shown(&self, viewer: &Player, admin: bool, found: Arc<Tournament>) -> Arc<Tournament> {
        self.shown_until(viewer, admin, &found)
            .map_or_else(|| Arc::clone(&found), |until| Arc::new(found.delayed(until)))
    }

    /// The time up to which a viewer may see what comes of meetings; none if all may be seen.
    fn shown_until(&self, viewer: &Player, admin: bool, found: &Tournament) -> Option<Timestamp> {
        let delay = found.settings().game.spectator_delay;
        let sees_all = delay.is_zero() || admin || found.organiser() == viewer.id();
        (!sees_all).then(|| self.rooms.host.context.clock.now().before(delay))
    }

    /// The standings of a state, best first, with the strength of each entrant that has results. They are computed once for
    /// each state.
    ///
    /// # Errors
    /// [`RoomError::Draining`] when the server stops.
    pub async fn standings(&self, of: &Shown) -> Result<Arc<[(Standing, Option<Strength>)]>, RoomError> {
        of.standings(&self.rooms.host.context.lifecycle).await
    }

    /// Watches a tournament: its state now and after changes, at most once in `pace`, or less often with many entrants.
    ///
    /// # Errors
    /// As [`Self::shown`], or when the player or its address has too many streams.
    pub async fn watch(
        &self,
        player: &Arc<Player>,
        admin: bool,
        id: TournamentId,
        pace: Duration,
    ) -> Result<WatchedTournament, RoomError> {
        let found = self.shown(player, admin, id).await?;
        self.charge(player, found.tournament().entrants().len())?;
        let open = OpenStream::new(&self.rooms.host, player, StreamKind::Tournament)?;
        let (player, tournaments) = (Arc::clone(player), self.clone());
        Ok(WatchedTournament { open, player, admin, tournaments, id, pace, next: Instant::now(), last: None })
    }
}

/// A tournament as watched by one player.
pub struct WatchedTournament {
    open: OpenStream,
    player: Arc<Player>,
    admin: bool,
    tournaments: Tournaments,
    id: TournamentId,
    pace: Duration,
    /// When it is looked at next.
    next: Instant,
    /// The state that was returned last.
    last: Option<Arc<Shown>>,
}

impl WatchedTournament {
    /// The next state; none after the end of the tournament. Cancel safe.
    ///
    /// # Errors
    /// Why the stream has ended.
    pub async fn next(&mut self) -> Result<Option<Arc<Shown>>, StreamEnd> {
        if self.last.as_ref().is_some_and(|last| matches!(last.tournament().phase(), Phase::Ended(_))) {
            return Ok(None);
        }
        loop {
            tokio::select! {
                biased;
                end = self.open.ended() => return Err(end),
                () = sleep_until(self.next) => {}
            }
            let shown = self.tournaments.shown(&self.player, self.admin, self.id).await;
            let entrants = shown.as_ref().map_or(0, |shown| shown.tournament().entrants().len());
            self.next = Instant::now() + pace(self.pace, entrants);
            // What cannot be read now is looked at again.
            let Ok(now) = shown else { continue };
            if self.last.as_ref().is_none_or(|last| is_later(last, &now)) {
                self.last = Some(Arc::clone(&now));
                return Ok(Some(now));
            }
        }
    }

    /// The standings of a state, as [`Tournaments::standings`].
    ///
    /// # Errors
    /// [`RoomError::Draining`] when the server stops.
    pub async fn standings(&self, of: &Shown) -> Result<Arc<[(Standing, Option<Strength>)]>, RoomError> {
        self.tournaments.standings(of).await
    }
}

fn is_later(last: &Arc<Shown>, now: &Arc<Shown>) -> bool {
    let [before, after] = [last, now].map(|shown| shown.tournament());
    after.seq() >= before.seq() && !Arc::ptr_eq(last, now) && before != after
}

/// The standings of many take longer, and more bytes.
fn pace(least: Duration, entrants: usize) -> Duration {
    least.saturating_mul(u32::try_from(1 + entrants / PACED_ENTRANTS).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{DisplayName, Issuer, PlayerKind, RoomName, Settings as RoomSettings},
        runtime::{Parts, Runtime},
        store::{MemoryStore, Store},
        tournament::{Command, Control, Format, Settings},
    };

    async fn start(store: &Arc<MemoryStore>, name: &str) -> (Runtime, Arc<Player>) {
        let parts = Parts { ai_threads: Some(0), ..Parts::new(Store::shared(store), |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let player = log_in(&runtime, name).await;
        (runtime, player)
    }

    async fn log_in(runtime: &Runtime, name: &str) -> Arc<Player> {
        let name = DisplayName::parse(name).unwrap();
        runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.unwrap().0
    }

    async fn create(runtime: &Runtime, organiser: &Player, delay: Duration) -> TournamentId {
        let name = RoomName::parse("Weekend").unwrap();
        let game = RoomSettings { spectator_delay: delay, ..RoomSettings::named(name.clone()) };
        let settings = Settings { max_entrants: 999, ..Settings::new(name, Format::Swiss { rounds: 1 }, game) };
        runtime.tournaments.create(organiser, settings).await.unwrap().id()
    }

    async fn enter(runtime: &Runtime, id: TournamentId, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let player = log_in(runtime, &format!("p{number}-{id}")).await;
            runtime.tournaments.join(&player, id, None).await.unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_is_computed_once_for_all_who_see_it() {
        let (runtime, ada) = start(&Arc::default(), "Ada").await;
        let bea = log_in(&runtime, "Bea").await;
        for delay in [Duration::ZERO, Duration::from_secs(60)] {
            let id = create(&runtime, &ada, delay).await;
            enter(&runtime, id, 0..300).await;
            let start = Command::Control(Control::Start);
            runtime.tournaments.command(id, Issuer::Player(ada.id()), start).await.unwrap();
            let tournaments = &runtime.tournaments;
            while tournaments.get(id).await.unwrap().meetings().len() == 0 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let shown = async |player, admin| tournaments.shown(player, admin, id).await.unwrap();
            let (one, other) = (shown(&bea, false).await, shown(&bea, false).await);
            let (rows, same) = tokio::join!(tournaments.standings(&one), tournaments.standings(&other));
            assert!(Arc::ptr_eq(&rows.unwrap(), &same.unwrap()));
            let (own, of_admin) = (shown(&ada, false).await, shown(&bea, true).await);
            assert!(Arc::ptr_eq(&own, &of_admin));
            assert_eq!(Arc::ptr_eq(&own, &one), delay.is_zero());
            assert_eq!(own.tournament().meetings().len(), 150);
            assert_eq!(one.tournament().meetings().len(), if delay.is_zero() { 150 } else { 0 });
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_sees_less_often_what_has_got_more_entrants() {
        let (runtime, ada) = start(&Arc::default(), "Ada").await;
        let id = create(&runtime, &ada, Duration::ZERO).await;
        let mut watched = runtime.tournaments.watch(&ada, false, id, Duration::from_secs(1)).await.unwrap();
        assert_eq!(watched.next().await.unwrap().unwrap().tournament().entrants().len(), 0);
        enter(&runtime, id, 0..64).await;
        let began = Instant::now();
        assert_eq!(watched.next().await.unwrap().unwrap().tournament().entrants().len(), 64);
        assert!(began.elapsed() <= Duration::from_secs(1));
        let before = Instant::now();
        enter(&runtime, id, 64..65).await;
        watched.next().await.unwrap();
        assert_eq!(before.elapsed().as_secs(), 2);
    }

    /// Of a tournament of another node, as of one that has ended, only the number of the last event is read again.
    #[tokio::test(start_paused = true)]
    async fn a_stored_tournament_is_read_once_for_all() {
        let store = Arc::default();
        let (runtime, ada) = start(&store, "Ada").await;
        let id = create(&runtime, &ada, Duration::ZERO).await;
        let cancel = Command::Control(Control::Cancel);
        runtime.tournaments.command(id, Issuer::Player(ada.id()), cancel).await.unwrap();
        assert!(runtime.shut_down(Duration::from_secs(60)).await);
        let (runtime, bea) = start(&store, "Bea").await;
        let one = runtime.tournaments.shown(&bea, false, id).await.unwrap();
        let other = runtime.tournaments.shown(&bea, true, id).await.unwrap();
        assert!(Arc::ptr_eq(&one, &other));
        let unknown = runtime.tournaments.shown(&bea, false, TournamentId::from_random(1)).await;
        assert!(matches!(unknown, Err(RoomError::TournamentNotFound)));
    }

    #[test]
    fn the_pace_is_that_of_64_entrants_a_second() {
        let paces = [0, 63, 64, 1_000].map(|entrants| pace(Duration::from_secs(1), entrants).as_secs());
        assert_eq!(paces, [1, 1, 2, 16]);
    }
}
