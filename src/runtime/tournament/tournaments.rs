//! The tournaments of the server, for players and administrators.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering::Relaxed},
};

use super::{actor, journal::read, pool::Pool, shown::KeptStates};
use crate::{
    room::{Issuer, Participant, PasswordHash, PlayerKind, RoomId, Seq, Timestamp, TournamentId},
    runtime::{
        cluster::{
            cluster::MoveWait,
            peers::{Ask, Question},
        },
        limit::{limits::STORE_RETRY, rate_limiter::TooFast, request_cost::RequestCost},
        outcome::RoomError,
        player::player::Player,
        room::{actor::ActorContext, rooms::Rooms},
    },
    store::{AppendError, Contestant, Shard, StoreError, TournamentAppend, TournamentJournal, TournamentKey},
    tournament::{Command, Creation, Event, Fact, Phase, Settings, Tournament, stored::encode_event},
};

/// The tournaments. Clones are handles to the same ones.
#[derive(Clone)]
pub struct Tournaments {
    pub(crate) rooms: Rooms,
    pub(crate) journal: Arc<dyn TournamentJournal>,
    /// The pools that this server keeps.
    pub(crate) pools: Arc<[Pool]>,
    pub(super) kept: Arc<KeptStates>,
}

impl Tournaments {
    pub(crate) fn new(rooms: Rooms, journal: Arc<dyn TournamentJournal>, pools: Vec<Pool>) -> Self {
        Self { rooms, journal, pools: pools.into(), kept: Arc::default() }
    }

    /// Creates a tournament that the player organises.
    ///
    /// # Errors
    /// When a limit or a rate is reached, or the store is unavailable.
    pub async fn create(&self, organiser: &Player, settings: Settings) -> Result<Arc<Tournament>, RoomError> {
        let context = &self.rooms.host.context;
        context.lifecycle.require_running()?;
        let room = context.cluster.new_room(self.rooms.random.bits()).ok_or(RoomError::Unreachable)?;
        let id = TournamentId::from_random(room.bits());
        let place = context.tournaments.reserve(id, organiser)?;
        organiser.admit_tournament().map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
        let settings = Settings { seed: self.rooms.random.bits(), ..settings };
        let creation = Creation { id, organiser: organiser.id(), settings };
        let at = context.clock.now();
        let tournament = Tournament::new(creation.clone(), at);
        let created = Event { seq: Seq(1), at, fact: Fact::Created(Box::new(creation)) };
        let append = TournamentAppend {
            id,
            expected: Seq(0),
            events: vec![encode_event(&created)],
            snapshot: None,
            ended: false,
            at,
        };
        let this = self.clone();
        let create = async move {
            match this.journal.append_tournament(append).await {
                Ok(()) => {}
                Err(AppendError::Unknown(_)) if matches!(read(&*this.journal, id).await, Ok(Some(_))) => {}
                Err(error) => {
                    tracing::error!(%error, "a tournament could not be created");
                    return Err(match error {
                        AppendError::Fenced => this.rooms.host.context.cluster.moved(),
                        AppendError::Damaged(_) => RoomError::Damaged,
                        _ => RoomError::StoreUnavailable,
                    });
                }
            }
            let created = Arc::new(tournament.clone());
            actor::start(&this.rooms, &this.journal, tournament, None);
            drop(place);
            Ok(created)
        };
        context.lifecycle.run_to_end(create).await
    }

    /// A tournament.
    ///
    /// # Errors
    /// [`RoomError::TournamentNotFound`], or when the store is unavailable.
    pub async fn get(&self, id: TournamentId) -> Result<Arc<Tournament>, RoomError> {
        if let Some(live) = self.rooms.host.context.tournaments.get(id) {
            return Ok(Arc::clone(&live.state.borrow()));
        }
        let stored = read(&*self.journal, id).await?;
        stored.map(Arc::new).ok_or(RoomError::TournamentNotFound)
    }

    /// The rating with which a player or an AI joins, rounded.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn rating(&self, who: &Participant) -> Result<u16, RoomError> {
        let stats = self.rooms.archive.player_stats(Contestant::from(who)).await?;
        Ok(stats.rating.unwrap_or_default().rounded())
    }

    /// At most `limit` tournaments, perhaps only those that have not ended, before a key, the newest first, and the key for
    /// the next page; none on the last page, which is empty. Damaged ones are left out.
    ///
    /// # Errors
    /// When the store is unavailable.
    pub async fn page(
        &self,
        unfinished: bool,
        before: Option<TournamentKey>,
        limit: usize,
    ) -> Result<(Vec<Arc<Tournament>>, Option<TournamentKey>), RoomError> {
        let keys = self.journal.tournament_page(unfinished, before, limit).await?;
        let mut page = Vec::new();
        for (_, id) in &keys {
            match self.get(*id).await {
                Ok(found) => page.push(found),
                // It has been logged.
                Err(RoomError::Damaged | RoomError::TournamentNotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((page, keys.last().copied()))
    }

    /// Executes a command of a player or an administrator, on whichever node the tournament is. Returns the state after
    /// it.
    ///
    /// # Errors
    /// Why the command was refused or failed.
    pub async fn command(
        &self,
        id: TournamentId,
        issuer: Issuer,
        command: Command,
    ) -> Result<Arc<Tournament>, RoomError> {
        let ActorContext { tournaments, cluster, clock, lifecycle, .. } = &*self.rooms.host.context;
        let mut wait = MoveWait::new(cluster);
        loop {
            match tournaments.command(id, issuer, command.clone()).await {
                Err(RoomError::Moved) => {}
                done => return done,
            }
            let stored = self.get(id).await?;
            if matches!(stored.phase(), Phase::Ended(_)) {
                let refused = stored.decide(clock.now(), issuer, command);
                return refused.map(|_| stored).map_err(RoomError::Tournament);
            }
            lifecycle.require_running()?;
            let player = if let Issuer::Player(player) = issuer { Some(player) } else { None };
            let what = Question::Tournament(player, Box::new(command.clone()));
            if let Some(answer) = cluster.ask(&Ask { room: RoomId::from_random(id.bits()), what }).await? {
                answer.accepted()?;
                return self.get(id).await;
            }
            wait.wait().await?;
        }
    }

    /// Enters a player.
    ///
    /// # Errors
    /// Why the player is not admitted.
    pub async fn join(
        &self,
        player: &Arc<Player>,
        id: TournamentId,
        password: Option<&str>,
    ) -> Result<Arc<Tournament>, RoomError> {
        let tournament = self.get(id).await?;
        let password = match &tournament.settings().password {
            Some(hash) => self.matching_hash(player, id, hash, password).await?,
            None => None,
        };
        let who = Participant::Player(player.profile());
        let rating = self.rating(&who).await?;
        let joined = self.command(id, Issuer::Player(player.id()), Command::Join { who, rating, password }).await?;
        player.note_played();
        Ok(joined)
    }

    /// The hash, if the password is right; none without a password.
    async fn matching_hash(
        &self,
        player: &Player,
        id: TournamentId,
        hash: &PasswordHash,
        password: Option<&str>,
    ) -> Result<Option<PasswordHash>, RoomError> {
        let Some(password) = password else { return Ok(None) };
        // Guesses are counted by the room; a tournament has the id of none.
        let matches = self.rooms.check_password(player, RoomId::from_random(id.bits()), hash, password).await?;
        Ok(matches.then(|| hash.clone()))
    }

    /// The pool with this clock, such as "60+1", that admits players of this kind.
    ///
    /// # Errors
    /// [`RoomError::TournamentNotFound`] if the server keeps no such pool.
    pub fn pool(&self, name: &str, kind: PlayerKind) -> Result<TournamentId, RoomError> {
        let pool = self.pools.iter().find(|pool| pool.is_for(name, kind));
        pool.map(Pool::id).ok_or(RoomError::TournamentNotFound)
    }

    /// Charges a player for a list that is computed for it.
    ///
    /// # Errors
    /// When the player has asked for too much.
    pub fn charge(&self, player: &Player, rows: usize) -> Result<(), RoomError> {
        let charged = player.charge(RequestCost::Rooms { searched: 0, returned: rows });
        charged.map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))
    }

    /// Starts the actors of the tournaments of shards that this node serves now, each with the time at which it was last
    /// running, if that is known. What cannot be read is tried again in the background: the rooms of the shards must not
    /// be restored twice.
    pub(crate) async fn restore_surely(&self, shards: BTreeMap<Shard, Option<Timestamp>>) {
        if self.restore(&shards).await.is_ok() {
            return;
        }
        let this = self.clone();
        let ActorContext { lifecycle, registry, .. } = &*self.rooms.host.context;
        let stop = lifecycle.stop.clone();
        // Until then the store must keep the times.
        registry.uncredited.fetch_add(1, Relaxed);
        let again = async move {
            while let Err(error) = this.restore(&shards).await {
                tracing::warn!(%error, "tournaments could not be restored; trying again");
                tokio::time::sleep(STORE_RETRY).await;
            }
            this.rooms.host.context.registry.uncredited.fetch_sub(1, Relaxed);
        };
        lifecycle.spawn(async move { stop.run_until_cancelled(again).await });
    }

    async fn restore(&self, shards: &BTreeMap<Shard, Option<Timestamp>>) -> Result<(), StoreError> {
        let cluster = &self.rooms.host.context.cluster;
        let served: BTreeSet<Shard> = shards.keys().copied().filter(|shard| cluster.serves_shard(*shard)).collect();
        for id in self.journal.running_tournaments(served.clone()).await? {
            let alive = shards.get(&Shard::of_tournament(id)).copied().flatten();
            match read(&*self.journal, id).await {
                Ok(Some(tournament)) => actor::start(&self.rooms, &self.journal, tournament, alive),
                Ok(None) => {}
                Err(StoreError::Damaged(error)) => tracing::error!(tournament = %id, error, "a tournament is damaged"),
                Err(error) => return Err(error),
            }
        }
        for pool in self.pools.iter().filter(|pool| served.contains(&Shard::of_tournament(pool.id()))) {
            self.begin_pool(pool).await?;
        }
        Ok(())
    }

    /// Begins a pool unless it is stored. One that an administrator has ended stays so.
    async fn begin_pool(&self, pool: &Pool) -> Result<(), StoreError> {
        let id = pool.id();
        match self.journal.tournament(id).await {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(()),
            Err(StoreError::Damaged(error)) => {
                tracing::error!(pool = pool.name, error, "the pool is damaged");
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let at = self.rooms.host.context.clock.now();
        let (begun, events) = match pool.begin(self.rooms.random.bits(), at) {
            Ok(begun) => begun,
            Err(error) => {
                tracing::error!(pool = pool.name, %error, "the pool cannot begin");
                return Ok(());
            }
        };
        let events = events.iter().map(encode_event).collect();
        let append = TournamentAppend { id, expected: Seq(0), events, snapshot: None, ended: false, at };
        match self.journal.append_tournament(append).await {
            Ok(()) => actor::start(&self.rooms, &self.journal, begun, None),
            // It is tried again when this node or another one has the shard.
            Err(error) => tracing::warn!(pool = pool.name, %error, "the pool could not begin"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;
    use crate::{
        room::{
            Command as RoomCommand, DisplayName, EndReason, Opponents, RoomName, Settings as RoomSettings, TimeControl,
        },
        rules::Color,
        runtime::{Notice, Parts, Runtime, TournamentNews, Turns},
        store::{MemoryStore, Store},
        tournament::{Control, Ending, Format, HalfPoints, Outcome},
    };

    async fn start(store: &Arc<MemoryStore>) -> Runtime {
        let parts = Parts { ai_threads: Some(0), ..Parts::new(Store::shared(store), |_, _| Bytes::new()) };
        Runtime::start(parts).await.unwrap()
    }

    async fn log_in(runtime: &Runtime, name: &str) -> Arc<Player> {
        let name = DisplayName::parse(name).unwrap();
        runtime.sessions.log_in(name, PlayerKind::Bot, 1, None, None).await.unwrap().0
    }

    async fn news(turns: &mut Turns) -> TournamentNews {
        loop {
            if let Notice::Tournament { news, .. } = turns.next().await.unwrap() {
                return news;
            }
        }
    }

    /// A Swiss tournament of one round, which the first player organises and both join.
    async fn pair(runtime: &Runtime, players: [&Arc<Player>; 2]) -> TournamentId {
        let name = RoomName::parse("Weekend").unwrap();
        let game = RoomSettings::named(name.clone());
        let mut settings = Settings::new(name, Format::Swiss { rounds: 1 }, game);
        settings.admits = Opponents { people: false, ..Opponents::default() };
        let id = runtime.tournaments.create(players[0], settings).await.unwrap().id();
        // No deadline falls on one of the times, once a second, at which it is noted who is there.
        tokio::time::sleep(Duration::from_millis(500)).await;
        for player in players {
            runtime.tournaments.join(player, id, None).await.unwrap();
        }
        let start = Command::Control(Control::Start);
        runtime.tournaments.command(id, Issuer::Player(players[0].id()), start).await.unwrap();
        id
    }

    #[tokio::test(start_paused = true)]
    async fn an_entrant_who_does_not_come_forfeits_and_the_other_is_told() {
        let runtime = start(&Arc::default()).await;
        let (ada, gone) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Gone").await);
        let mut turns = runtime.streams.turns(&ada).await.unwrap();
        // Its last call was long ago.
        tokio::time::sleep(runtime.limits().presence_grace * 2).await;
        let began = tokio::time::Instant::now();
        let id = pair(&runtime, [&ada, &gone]).await;
        assert!(matches!(news(&mut turns).await, TournamentNews::Paired { round: 1, meeting: 1, .. }));
        assert_eq!(news(&mut turns).await, TournamentNews::Forfeited { meeting: 1, lost: false });
        assert!(began.elapsed() >= Settings::NO_SHOW);
        let over = TournamentNews::Ended { ending: Ending::Completed, rank: 1, entrants: 2 };
        assert_eq!(news(&mut turns).await, over);
        let tournament = runtime.tournaments.get(id).await.unwrap();
        let meeting = tournament.meeting(1).unwrap();
        assert!(matches!(meeting.outcome, Some(Outcome::Forfeit { .. })));
        assert!(runtime.rooms.snapshot_as_admin(meeting.pairing.room).await.is_err(), "no room was opened");
    }

    #[tokio::test(start_paused = true)]
    async fn an_entrant_who_comes_at_the_last_moment_does_not_forfeit() {
        let runtime = start(&Arc::default()).await;
        let (ada, late) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Late").await);
        let _adas = runtime.streams.turns(&ada).await.unwrap();
        tokio::time::sleep(runtime.limits().presence_grace * 2).await;
        pair(&runtime, [&ada, &late]).await;
        tokio::time::sleep(Settings::NO_SHOW - Duration::from_millis(100)).await;
        let mut turns = runtime.streams.turns(&late).await.unwrap();
        let started = async { while !matches!(turns.next().await.unwrap(), Notice::GameStarted { .. }) {} };
        tokio::time::timeout(Settings::NO_SHOW, started).await.unwrap();
    }

    /// The time in which the server is down is nobody's absence.
    #[tokio::test(start_paused = true)]
    async fn a_restart_does_not_make_an_entrant_forfeit() {
        let store = Arc::new(MemoryStore::default());
        let runtime = start(&store).await;
        let (ada, bea) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Bea").await);
        let _adas = runtime.streams.turns(&ada).await.unwrap();
        tokio::time::sleep(runtime.limits().presence_grace * 2).await;
        let id = pair(&runtime, [&ada, &bea]).await;
        tokio::time::sleep(Settings::NO_SHOW / 2).await;
        assert!(runtime.shut_down(Duration::from_secs(60)).await);
        tokio::time::sleep(Settings::NO_SHOW * 3).await;
        let runtime = start(&store).await;
        let players = runtime.players();
        let back = [ada.id(), bea.id()].map(|id| players.get(id).unwrap());
        tokio::time::sleep(Settings::NO_SHOW / 4).await;
        let mut turns = runtime.streams.turns(&back[1]).await.unwrap();
        let _adas = runtime.streams.turns(&back[0]).await.unwrap();
        let started = async { while !matches!(turns.next().await.unwrap(), Notice::GameStarted { .. }) {} };
        started.await;
        assert!(runtime.tournaments.get(id).await.unwrap().meeting(1).unwrap().outcome.is_none());
    }

    /// All players count as having called when the server starts.
    #[tokio::test(start_paused = true)]
    async fn a_restart_makes_no_entrant_present_who_was_away() {
        let store = Arc::new(MemoryStore::default());
        let runtime = start(&store).await;
        let (ada, gone) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Gone").await);
        let _turns = runtime.streams.turns(&ada).await.unwrap();
        tokio::time::sleep(runtime.limits().presence_grace * 2).await;
        let id = pair(&runtime, [&ada, &gone]).await;
        assert!(runtime.shut_down(Duration::from_secs(60)).await);
        let runtime = start(&store).await;
        tokio::time::sleep(Settings::NO_SHOW / 2).await;
        let tournament = runtime.tournaments.get(id).await.unwrap();
        let entrant = tournament.entrants().values().find(|entrant| entrant.who.is(gone.id())).unwrap();
        assert!(!entrant.present);
    }

    /// Otherwise a lost game could be left without losing it.
    #[tokio::test(start_paused = true)]
    async fn an_entrant_who_leaves_loses_the_running_game() {
        let runtime = start(&Arc::default()).await;
        let (ada, bea) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Bea").await);
        let mut turns = runtime.streams.turns(&ada).await.unwrap();
        let mut beas = runtime.streams.turns(&bea).await.unwrap();
        let id = pair(&runtime, [&ada, &bea]).await;
        while !matches!(turns.next().await.unwrap(), Notice::GameStarted { .. }) {}
        runtime.tournaments.command(id, Issuer::Player(bea.id()), Command::Leave).await.unwrap();
        let ended = loop {
            if let Notice::GameEnded { side, end, .. } = turns.next().await.unwrap() {
                break (end.reason, end.winner == Some(side));
            }
        };
        assert_eq!(ended, (EndReason::Left, true));
        assert!(matches!(news(&mut turns).await, TournamentNews::Ended { .. }));
        let is_told_the_end = async { while !matches!(news(&mut beas).await, TournamentNews::Ended { .. }) {} };
        tokio::time::timeout(Duration::from_secs(60), is_told_the_end).await.unwrap_err();
        let tournament = runtime.tournaments.get(id).await.unwrap();
        assert!(matches!(tournament.meeting(1).unwrap().outcome, Some(Outcome::Forfeit { .. })));
    }

    /// A guest who has closed the page until the start is still known then.
    #[tokio::test(start_paused = true)]
    async fn an_entrant_and_an_organiser_are_not_forgotten_as_guests_are() {
        let store = Arc::new(MemoryStore::default());
        let runtime = start(&store).await;
        let (ada, bea) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Bea").await);
        let guest = log_in(&runtime, "Guest").await;
        let name = RoomName::parse("Weekend").unwrap();
        let settings = Settings::new(name.clone(), Format::Swiss { rounds: 1 }, RoomSettings::named(name));
        let id = runtime.tournaments.create(&ada, settings).await.unwrap().id();
        runtime.tournaments.join(&bea, id, None).await.unwrap();
        assert!(runtime.shut_down(Duration::from_secs(60)).await);
        let runtime = start(&store).await;
        tokio::time::sleep(runtime.limits().guest_idle * 3).await;
        let is_known = [&ada, &bea, &guest].map(|player| runtime.players().get(player.id()).is_some());
        assert_eq!(is_known, [true, true, false]);
    }

    /// She loses the first game on time and is not there for the second: both are the other's.
    #[tokio::test(start_paused = true)]
    async fn an_entrant_who_is_gone_at_the_second_game_loses_it_too() {
        let runtime = start(&Arc::default()).await;
        let (ada, bea) = (log_in(&runtime, "Ada").await, log_in(&runtime, "Bea").await);
        let mut turns = runtime.streams.turns(&ada).await.unwrap();
        let beas = runtime.streams.turns(&bea).await.unwrap();
        let id = pair(&runtime, [&ada, &bea]).await;
        let (mut beas, mut sides) = (Some(beas), Vec::new());
        loop {
            match turns.next().await.unwrap() {
                Notice::GameStarted { side, .. } => {
                    sides.push(side);
                    drop(beas.take());
                }
                Notice::TurnRequested(turn) => {
                    let square = turn.position.legal_moves().first().unwrap();
                    let command = RoomCommand::Play { game: turn.game.number, ply: turn.ply, square, thought: None };
                    runtime.rooms.command(&ada, turn.game.room, command).await.unwrap();
                }
                Notice::Tournament { news: TournamentNews::Ended { rank, .. }, .. } => {
                    assert_eq!(rank, 1);
                    break;
                }
                _ => {}
            }
        }
        let tournament = runtime.tournaments.get(id).await.unwrap();
        let meeting = tournament.meeting(1).unwrap();
        let adas = tournament.entrants().iter().find(|(_, entrant)| entrant.who.is(ada.id())).unwrap().0;
        assert_eq!(sides.first() == Some(&Color::Black), meeting.side_of(*adas) == Some(0), "the first has black");
        let points = meeting.points(2)[meeting.side_of(*adas).unwrap()];
        assert_eq!(points, HalfPoints::of_wins(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_player_who_stays_away_leaves_a_pool() {
        let time = TimeControl { per_move: None, total: Some(Duration::from_secs(60)), increment: Duration::ZERO };
        let admits = Opponents { people: false, ..Opponents::default() };
        let pool = Pool { name: "60+0".into(), time, admits, rated: true };
        let store = Store::of(MemoryStore::default());
        let parts = Parts { ai_threads: Some(0), pools: vec![pool.clone()], ..Parts::new(store, |_, _| Bytes::new()) };
        let runtime = Runtime::start(parts).await.unwrap();
        let ada = log_in(&runtime, "Ada").await;
        let turns = runtime.streams.turns(&ada).await.unwrap();
        runtime.tournaments.join(&ada, pool.id(), None).await.unwrap();
        drop(turns);
        let is_in = async || {
            let tournament = runtime.tournaments.get(pool.id()).await.unwrap();
            tournament.entrants().values().any(|entrant| entrant.who.is(ada.id()) && entrant.left.is_none())
        };
        tokio::time::sleep(Duration::from_secs(5 * 60)).await;
        assert!(is_in().await);
        tokio::time::sleep(Duration::from_secs(20 * 60)).await;
        assert!(!is_in().await);
    }
}
