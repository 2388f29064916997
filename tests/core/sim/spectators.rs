//! What spectators see of a room with a delay: nothing that is younger, and all that is older.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reversi::{
    room::{
        ChatText, Command, Credentials, DisplayName, Event, Fact, Game, GameId, Issuer, Offer, Phase, PlayerKind,
        Rejection, Room, RoomId, SeatSpec, Seq, Settings, Timestamp, stored,
    },
    rules::{ByColor, Color, Position},
    runtime::{
        Clock, Limits, LobbyUpdate, NewRoom, Parts, Player, RandomSource, RoomError, Row, RowFilter, RowKey, Runtime,
        Token, Update, Watch, WatchStart, WatchedLobby,
    },
    store::{Append, ExplorerFilter, GameFilter, Journal as _, MemoryStore, Store},
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::{
    rng::Rng,
    simulation::{START_TIME, encode},
};

/// Number of seeds, each for two lives of a server.
const SEEDS: u64 = 12;

/// Number of actions in one life of a server.
const ACTIONS: usize = 80;

/// Within this time public games are counted for the explorer.
const COUNTED: Duration = Duration::from_secs(5);

/// The lag on one server: more than the interval of updates of the list of rooms.
const LAG: Duration = Duration::from_millis(500);

/// The states of a room: each with the time of its last event, and whether that was of a game.
#[derive(Clone, Default)]
struct History(Vec<(Timestamp, Room, bool)>);

impl History {
    fn latest(&self) -> &Room {
        &self.0.last().expect("a room").1
    }

    fn follow(&mut self, update: &Update) {
        match update {
            Update::Snapshot(snapshot) => self.0.push((snapshot.room.created(), (*snapshot.room).clone(), false)),
            Update::Event(bytes) => {
                let event = event(bytes);
                if let Fact::ChatRemoved(posted) = event.fact {
                    // It is shown no more, however early.
                    self.0.iter_mut().for_each(|(_, room, _)| room.remove_chat_line(posted));
                }
                let mut after = self.latest().clone();
                after.apply(&event);
                let is_of_game = [self.latest(), &after].iter().any(|room| room.phase() == Phase::Playing);
                self.0.push((event.at, after, is_of_game));
            }
        }
    }

    /// The games that have ended until a time.
    fn ended(&self, until: Timestamp) -> BTreeSet<GameId> {
        let ended = |(at, room, _): &(Timestamp, Room, bool)| {
            let game = room.game().filter(|game| *at <= until && game.end.is_some())?;
            Some(GameId { room: room.id(), number: game.number })
        };
        self.0.iter().filter_map(ended).collect()
    }

    /// The states that may be shown: what was until `oldest` must be, what was after `newest` must not.
    fn shown(&self, oldest: Timestamp, newest: Timestamp) -> &[(Timestamp, Room, bool)] {
        let until = |time| self.0.iter().take_while(|(at, _, is_of_game)| !is_of_game || *at <= time).count();
        &self.0[until(oldest).saturating_sub(1)..until(newest)]
    }
}

fn event(bytes: &[u8]) -> Event {
    stored::decode_event(bytes).expect("an event as it was encoded")
}

/// A player with a seat sees the room as it is, all others as spectators.
pub(super) struct Viewer {
    runtime: Runtime,
    player: Arc<Player>,
    room: RoomId,
    /// As it was watched.
    watched: Arc<Mutex<Option<Room>>>,
    rows: Arc<Mutex<BTreeMap<RowKey, Row>>>,
    /// Readers of the streams.
    _readers: JoinSet<()>,
}

impl Viewer {
    pub(super) async fn new(runtime: &Runtime, player: &Arc<Player>, room: RoomId) -> Self {
        let start = WatchStart::Snapshot;
        let watch = runtime.streams.room(player, room, Credentials::default(), start).await.expect("a stream");
        let list = runtime.streams.lobby(player, RowFilter::default()).expect("a stream");
        let (watched, rows, mut readers) = (Arc::default(), Arc::default(), JoinSet::new());
        readers.spawn(read_room(watch, Arc::clone(&watched)));
        readers.spawn(read_list(list, Arc::clone(&rows)));
        Self { runtime: runtime.clone(), player: Arc::clone(player), room, watched, rows, _readers: readers }
    }

    /// Fails unless each path shows, at the time at which it is read, what it may.
    async fn check(
        &self,
        may_get: impl Fn(Timestamp, &Room) -> bool,
        may_watch: impl Fn(Timestamp, &Room) -> bool,
        may_list: impl Fn(Timestamp, &Row) -> bool,
    ) {
        let Runtime { rooms, lobby, .. } = &self.runtime;
        let now = || self.runtime.clock().now();
        let got = repeat(async || rooms.snapshot(&self.player, self.room, &Credentials::default()).await).await.room;
        assert!(may_get(now(), &got), "GetRoom shows event {} to {} at {:?}", got.seq(), self.player.name, now());
        let watched = lock(&self.watched).clone().expect("a snapshot");
        assert!(
            may_watch(now(), &watched),
            "WatchRoom shows event {} to {} at {:?}",
            watched.seq(),
            self.player.name,
            now()
        );
        let page = lobby.page(&RowFilter::default(), None, 10).await;
        let listed = page.iter().find(|row| row.id == self.room).expect("a listed room");
        assert!(may_list(now(), listed), "ListRooms shows {listed:?}");
        let watched = lock(&self.rows).values().find(|row| row.id == self.room).cloned().expect("a listed room");
        assert!(may_list(now(), &watched), "WatchRooms shows {watched:?}");
    }
}

impl Viewer {
    /// The games that the archive shows.
    async fn archived(&self, games: &BTreeSet<GameId>) -> BTreeSet<GameId> {
        let filter = GameFilter { now: self.runtime.clock().now(), ..GameFilter::visible_to(self.player.id()) };
        let page = self.runtime.games.page(filter, None, 1_000).await.expect("a page");
        let listed: BTreeSet<_> = page.games.iter().map(|game| game.id).collect();
        for &game in games {
            let got = self.runtime.games.get(&self.player, game).await.is_ok();
            assert_eq!(got, listed.contains(&game), "GetGame of {game} for {}", self.player.name);
        }
        listed
    }

    /// The number of games that the explorer has counted.
    async fn explored(&self) -> usize {
        let all = ExplorerFilter::default();
        let explored = self.runtime.games.explore(&self.player, Position::START, all).await.expect("an exploration");
        explored.moves.iter().map(|explored| explored.results.played() as usize).sum()
    }
}

async fn read_room(mut watch: Watch, seen: Arc<Mutex<Option<Room>>>) {
    while let Ok(update) = watch.next().await {
        match update {
            Update::Snapshot(snapshot) => *lock(&seen) = Some((*snapshot.room).clone()),
            Update::Event(bytes) => lock(&seen).as_mut().expect("a snapshot comes first").apply(&event(&bytes)),
        }
    }
}

async fn read_list(mut list: WatchedLobby, seen: Arc<Mutex<BTreeMap<RowKey, Row>>>) {
    while let Ok(update) = list.next().await {
        let mut rows = lock(&seen);
        match update {
            LobbyUpdate::Page { rows: page, .. } => *rows = page.into_iter().map(|row| (row.key(), row)).collect(),
            LobbyUpdate::Changed { upserted, removed, .. } => {
                rows.extend(upserted.into_iter().map(|row| (row.key(), row)));
                rows.retain(|key, _| !removed.contains(key));
            }
        }
    }
}

async fn read_history(mut live: Watch, history: Arc<Mutex<History>>) {
    while let Ok(update) = live.next().await {
        lock(&history).follow(&update);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether all but the clocks is the same, which run later for spectators. Events have no clocks here.
fn is_same(one: &Room, other: &Room) -> bool {
    let game = |room: &Room| room.game().map(|game| Game { turn_began: Timestamp(0), ..game.clone() });
    let series = |room: &Room| room.series().map(|series| (series.index, series.games));
    one.seq() == other.seq()
        && game(one) == game(other)
        && one.chat().eq(other.chat())
        && (series(one), one.score(), one.rematch_offer()) == (series(other), other.score(), other.rematch_offer())
        && (one.phase(), one.members().len(), one.seats()) == (other.phase(), other.members().len(), other.seats())
}

/// What a row shows of the games of a room.
fn is_row_of(row: &Row, room: &Room) -> bool {
    let game = room.game();
    row.phase == room.phase()
        && row.ply == game.map_or(0, Game::ply)
        && row.board == game.map(|game| game.position.board())
        && row.last_move == game.and_then(Game::last_move)
        && row.finished == (game.is_some() && room.phase() == Phase::Lobby)
}

/// A room with a delay, in which a few players do what they may at random, while all are watched.
pub(super) struct Trial {
    rng: Rng,
    pub(super) delay: Duration,
    /// Within this time watchers get what they may see.
    lag: Duration,
    store: Arc<MemoryStore>,
    wall: Timestamp,
    /// Of the owner, her opponent, a member without a seat, and a stranger.
    tokens: Vec<Token>,
    room: Option<RoomId>,
    history: Arc<Mutex<History>>,
}

impl Trial {
    pub(super) fn new(seed: u64, lag: Duration) -> Self {
        let mut rng = Rng::seeded(seed, 40);
        let delay = rng.millis(1_000..60_000);
        let (store, history) = (Arc::default(), Arc::default());
        Self { rng, delay, lag, store, wall: START_TIME, tokens: Vec::new(), room: None, history }
    }

    /// Runs a server until it is killed.
    fn live(&mut self) {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        tokio.expect("a tokio runtime").block_on(async {
            let hour = Duration::from_secs(3600);
            let runtime = Runtime::start(Parts {
                limits: Limits { presence_grace: hour, idle_close: hour, ..Limits::default() },
                clock: Clock::starting(self.wall),
                random: RandomSource::seeded(self.wall.0.cast_unsigned()),
                ai_threads: Some(0),
                ..Parts::new(Store::shared(&self.store), encode)
            })
            .await
            .expect("a server");
            self.act(&[(); 4].map(|()| runtime.clone())).await;
            self.wall = runtime.clock().now().after(self.rng.millis(0..10_000));
        });
    }

    /// Each player is on the server with its index.
    pub(super) async fn act(&mut self, runtimes: &[Runtime; 4]) {
        let runtime = &runtimes[0];
        let players = self.players(runtimes).await;
        let room = match self.room {
            Some(room) => room,
            None => self.open_room(runtimes, &players).await,
        };
        let started = runtime.clock().now();
        let known = lock(&self.history).0.last().map(|(_, room, _)| room.seq());
        let start = known.map_or(WatchStart::Snapshot, WatchStart::After);
        let live = runtime.streams.room_as_admin(&players[0], room, start).await.expect("a stream");
        let mut readers = JoinSet::new();
        readers.spawn(read_history(live, Arc::clone(&self.history)));
        let seated = Viewer::new(&runtimes[1], &players[1], room).await;
        let mut spectators = Vec::new();
        for (runtime, player) in runtimes.iter().zip(&players).skip(2) {
            spectators.push(Viewer::new(runtime, player, room).await);
        }
        for _ in 0..ACTIONS {
            sleep(self.rng.millis(0..2_000)).await;
            let answered = self.act_once(runtimes, &players).await;
            let answered_at = runtime.clock().now();
            sleep(self.lag).await;
            let history = lock(&self.history).clone();
            let is_latest = |_, room: &Room| room == history.latest();
            seated.check(is_latest, is_latest, |_, _| true).await;
            let oldest = runtime.clock().now().before(self.delay + self.lag);
            let shown = |now: Timestamp| history.shown(oldest, now.before(self.delay));
            // The journal may have no state that is old enough.
            let may_be_hidden = known.is_some() && oldest < started;
            let is_hidden = |room: &Room| may_be_hidden && room.game().is_none() && room.chat().len() == 0;
            let may_get = |now, room: &Room| {
                is_hidden(room) || shown(now).iter().any(|(_, state, _)| *room == state.with_delayed_clocks())
            };
            let may_watch =
                |now, room: &Room| is_hidden(room) || shown(now).iter().any(|(_, state, _)| is_same(state, room));
            let may_list = |now, row: &Row| {
                (may_be_hidden && row.board.is_none()) || shown(now).iter().any(|(_, state, _)| is_row_of(row, state))
            };
            let may_answer = |seq| shown(answered_at).iter().any(|(_, state, _)| state.seq() == seq);
            assert!(
                answered.is_none_or(|seq| may_answer(seq) || may_be_hidden),
                "the answer has number {answered:?}, which is not shown yet"
            );
            let all = history.ended(Timestamp(i64::MAX));
            assert_eq!(seated.archived(&all).await, all);
            for viewer in &spectators {
                viewer.check(may_get, may_watch, may_list).await;
                let (must, listed) = (history.ended(oldest), viewer.archived(&all).await);
                let may = history.ended(viewer.runtime.clock().now().before(self.delay));
                assert!(must.is_subset(&listed) && listed.is_subset(&may), "ListGames shows {listed:?} of {all:?}");
                let explored = viewer.explored().await;
                assert!(explored <= may.len(), "the explorer has {explored} games of {}", may.len());
                let must = history.ended(oldest.before(COUNTED)).len();
                assert!(explored >= must || known.is_some(), "the explorer has {explored} games, not {must}");
            }
        }
    }

    pub(super) async fn players(&mut self, runtimes: &[Runtime; 4]) -> Vec<Arc<Player>> {
        let mut players = Vec::new();
        if self.tokens.is_empty() {
            for (runtime, name) in runtimes.iter().zip(["Ada", "Bea", "Cleo", "Dan"]) {
                let name = DisplayName::parse(name).expect("a name");
                let (player, token) =
                    runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a log-in");
                self.tokens.push(token);
                players.push(player);
            }
        } else {
            for (runtime, token) in runtimes.iter().zip(&self.tokens) {
                players.push(runtime.sessions.bearer(token).await.expect("a player").expect("a player"));
            }
        }
        players
    }

    pub(super) async fn open_room(&mut self, runtimes: &[Runtime; 4], players: &[Arc<Player>]) -> RoomId {
        let settings = Settings { spectator_delay: self.delay, ..Settings::named((&players[0].name).into()) };
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, SeatSpec::Open) };
        let room = repeat(async || runtimes[0].rooms.create(&players[0], new.clone(), None).await).await.room.id();
        for (runtime, player) in runtimes.iter().zip(players).skip(1).take(2) {
            repeat(async || runtime.rooms.join(player, room, Credentials::default()).await).await;
        }
        repeat(async || runtimes[1].rooms.command(&players[1], room, Command::TakeSeat(Color::White)).await).await;
        self.room = Some(room);
        room
    }

    /// Some of what members do. The room refuses what is wrong at the moment. Returns the answer to a member without a
    /// seat.
    async fn act_once(&mut self, runtimes: &[Runtime; 4], players: &[Arc<Player>]) -> Option<Seq> {
        let id = self.room.expect("a room");
        let rooms = runtimes.each_ref().map(|runtime| &runtime.rooms);
        let room = repeat(async || rooms[0].snapshot_as_admin(id).await).await.room;
        let member = self.rng.below(3);
        let command = match (room.running(), self.rng.below(100)) {
            (_, 0..12) => Command::Chat(ChatText::parse("a word").expect("a line")),
            (_, 90..94) if room.chat().len() > 0 => {
                let lines: Vec<_> = room.chat().map(|line| line.at).collect();
                let _ = rooms[0].command_as_admin(id, Command::RemoveChat(self.rng.pick(&lines))).await;
                return None;
            }
            (Some(_), 12..16) => Command::Offer(Offer::Draw, None),
            (Some(game), 16..18) if game.ply() > 0 => Command::Resign { game: game.number },
            (Some(game), _) => {
                let legal: Vec<_> = game.position.legal_moves().into_iter().collect();
                let side = game.turn().expect("a turn");
                let mover =
                    players.iter().position(|player| room.seat_of(player.id()) == Some(side)).expect("a player");
                let played = GameId { room: id, number: game.number };
                let _ = rooms[mover].play(&players[mover], played, game.ply(), self.rng.pick(&legal)).await;
                return None;
            }
            (None, 12..30) => Command::SwapSeats,
            (None, _) => {
                let _ = rooms[1].command(&players[1], id, Command::SetReady(true)).await;
                let _ = rooms[0].command(&players[0], id, Command::Start(None)).await;
                return None;
            }
        };
        let done = rooms[member].command(&players[member], id, command).await;
        done.ok().filter(|_| room.is_delayed_for(players[member].id())).map(|accepted| accepted.seq)
    }
}

/// Repeats what a lost link has failed.
async fn repeat<T>(action: impl AsyncFn() -> Result<T, RoomError>) -> T {
    loop {
        match action().await {
            Err(RoomError::Unreachable) => {}
            done => return done.expect("an action"),
        }
    }
}

#[test]
fn spectators_see_all_that_is_older_than_the_delay_and_nothing_that_is_younger() {
    for seed in 0..SEEDS {
        let mut trial = Trial::new(seed, LAG);
        trial.live();
        trial.live();
        assert!(lock(&trial.history).0.iter().any(|(_, room, _)| room.game().is_some()), "seed {seed}");
    }
}

const DELAY: Duration = Duration::from_secs(10);

async fn start(store: &Arc<MemoryStore>, clock: Clock) -> Runtime {
    let parts = Parts { clock, ai_threads: Some(0), ..Parts::new(Store::shared(store), encode) };
    Runtime::start(parts).await.expect("a server")
}

/// A game that Ada plays against Bea, and that Cleo watches. Ada has made one move.
struct Story {
    trial: Trial,
    runtime: Runtime,
    players: Vec<Arc<Player>>,
    room: RoomId,
    game: GameId,
    bea: Viewer,
    cleo: Viewer,
}

impl Story {
    fn tell(story: impl AsyncFnOnce(Self)) {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        tokio.expect("a tokio runtime").block_on(async {
            let mut trial = Trial { delay: DELAY, ..Trial::new(0, LAG) };
            let runtime = start(&trial.store, Clock::starting(START_TIME)).await;
            let runtimes = [(); 4].map(|()| runtime.clone());
            let players = trial.players(&runtimes).await;
            let room = trial.open_room(&runtimes, &players).await;
            runtime.rooms.command(&players[1], room, Command::SetReady(true)).await.expect("ready");
            let game = runtime.rooms.command(&players[0], room, Command::Start(None)).await.expect("a game").game;
            let game = game.expect("a game");
            let square = Position::START.legal_moves().into_iter().next().expect("a move");
            runtime.rooms.play(&players[0], game, 0, square).await.expect("a move");
            let bea = Viewer::new(&runtime, &players[1], room).await;
            let cleo = Viewer::new(&runtime, &players[2], room).await;
            story(Self { trial, runtime, players, room, game, bea, cleo }).await;
        });
    }

    /// Writes what another server does in the room, of which this one learns when it writes there next.
    async fn write_elsewhere(&self, player: usize, commands: impl IntoIterator<Item = Command>) -> Room {
        let mut room = Room::clone(&*self.runtime.rooms.snapshot_as_admin(self.room).await.expect("a room").room);
        for command in commands {
            let (now, issuer) = (self.runtime.clock().now(), Issuer::Player(self.players[player].id()));
            let events = room.decide(now, issuer, command).expect("a possible command");
            let append = Append { room: self.room, expected: room.seq(), events: &events, games: &[] };
            self.trial.store.append(append).await.expect("a write");
            events.iter().for_each(|event| room.apply(event));
        }
        let chat = Command::Chat(ChatText::parse("a word").expect("a line"));
        let refused = self.runtime.rooms.command(&self.players[2], self.room, chat).await;
        assert_eq!(refused.unwrap_err(), RoomError::StoreUnavailable);
        sleep(LAG).await;
        room
    }

    async fn command(&self, player: usize, command: Command) {
        self.runtime.rooms.command(&self.players[player], self.room, command).await.expect("a command");
        sleep(LAG).await;
    }
}

impl Viewer {
    pub(super) fn sees(&self) -> Room {
        lock(&self.watched).clone().expect("a snapshot")
    }
}

#[test]
fn a_room_that_closes_is_shown_to_its_end() {
    Story::tell(async |story| {
        story.runtime.rooms.command_as_admin(story.room, Command::Close).await.expect("closed");
        sleep(DELAY / 2).await;
        assert!(story.cleo.sees().game().is_none());
        assert!(matches!(
            story.runtime.lobby.page(&RowFilter::default(), None, 9).await[..],
            [Row { board: None, .. }]
        ));
        sleep(DELAY).await;
        let seen = story.cleo.sees();
        assert_eq!((seen.phase(), seen.game().map(Game::ply)), (Phase::Closed, Some(1)));
        assert_eq!(story.runtime.lobby.page(&RowFilter::default(), None, 9).await, []);
        let gone = story.runtime.rooms.snapshot_as_admin(story.room).await.unwrap_err();
        assert_eq!(gone, Rejection::RoomNotFound.into());
    });
}

#[test]
fn a_player_who_leaves_the_seat_is_a_spectator_until_it_has_one() {
    Story::tell(async |story| {
        story.command(1, Command::Resign { game: story.game.number }).await;
        let over = |viewer: &Viewer| viewer.sees().game().is_some_and(|game| game.end.is_some());
        assert!(over(&story.bea));
        let invited = story.runtime.rooms.snapshot_for_invited(story.room).await.expect("a room").room;
        assert_eq!((invited.phase(), invited.game()), (Phase::Lobby, None), "no more than spectators see");
        story.command(1, Command::LeaveSeat).await;
        assert!(!over(&story.bea), "the game still runs for her");
        story.command(2, Command::TakeSeat(Color::White)).await;
        assert!(over(&story.cleo));
        sleep(DELAY).await;
        assert!(over(&story.bea));
        let chat = Command::Chat(ChatText::parse("a word").expect("a line"));
        let told = story.runtime.rooms.command(&story.players[1], story.room, chat).await.expect("a line").seq;
        sleep(LAG).await;
        assert_eq!(told, story.bea.sees().seq(), "with her own line");
    });
}

#[test]
fn the_delay_changes_between_games_and_clocks_run_with_it() {
    Story::tell(async |story| {
        sleep(DELAY).await;
        let live = story.runtime.rooms.snapshot_as_admin(story.room).await.expect("a room").room;
        let flag = live.flag_falls().expect("a clock runs");
        let seen = story.runtime.rooms.snapshot(&story.players[2], story.room, &Credentials::default()).await;
        assert_eq!(seen.expect("a room").room.flag_falls(), Some(flag.after(DELAY)));
        let viewer = Viewer::new(&story.runtime, &story.players[2], story.room).await;
        sleep(LAG).await;
        assert_eq!(viewer.sees().flag_falls(), Some(flag.after(DELAY)), "in the first message of a stream");
        story.command(1, Command::Resign { game: story.game.number }).await;
        let settings = |spectator_delay| Box::new(Settings { spectator_delay, ..live.settings().clone() });
        let ended = |room: Room| room.game().is_some_and(|game| game.end.is_some());
        assert!(!ended(story.cleo.sees()));
        story.command(0, Command::Configure(settings(Duration::ZERO), None)).await;
        assert!(ended(story.cleo.sees()), "without a delay all is public");
        story.command(0, Command::Configure(settings(DELAY), None)).await;
        story.command(1, Command::SetReady(true)).await;
        story.command(0, Command::Start(None)).await;
        assert!(ended(story.cleo.sees()), "the new game is not shown yet");
        sleep(DELAY).await;
        assert!(!ended(story.cleo.sees()));
    });
}

#[test]
fn a_server_stops_before_all_of_a_closed_room_is_shown_and_the_next_one_shows_its_game_in_time() {
    Story::tell(async |mut story| {
        story.command(1, Command::Resign { game: story.game.number }).await;
        story.runtime.rooms.command_as_admin(story.room, Command::Close).await.expect("closed");
        let asked = Instant::now();
        assert!(story.runtime.shut_down(DELAY).await && asked.elapsed() < DELAY / 2);
        let next = start(&story.trial.store, story.runtime.clock()).await;
        let cleo = &story.trial.players(&[(); 4].map(|()| next.clone())).await[2];
        let seen = next.rooms.snapshot(cleo, story.room, &Credentials::default()).await;
        assert_eq!(seen.unwrap_err(), Rejection::RoomNotFound.into());
        assert_eq!(next.lobby.page(&RowFilter::default(), None, 9).await, []);
        assert!(next.games.get(cleo, story.game).await.is_err());
        sleep(DELAY).await;
        assert!(next.games.get(cleo, story.game).await.is_ok());
    });
}

#[test]
fn what_another_server_has_written_is_shown_by_the_settings_that_it_has_left() {
    Story::tell(async |story| {
        story.command(1, Command::Resign { game: story.game.number }).await;
        sleep(DELAY).await;
        let before = story.cleo.sees();
        // Enough for the journal to move its base.
        let readiness = || (0..40).map(|number| Command::SetReady(number % 2 == 0));
        let room = story.write_elsewhere(1, readiness()).await;
        assert!(is_same(&story.cleo.sees(), &before), "of what is not known when it happened");
        sleep(DELAY).await;
        assert!(is_same(&story.cleo.sees(), &room));
        let settings = Settings { spectator_delay: Duration::ZERO, ..room.settings().clone() };
        story.write_elsewhere(0, [Command::Configure(Box::new(settings), None)]).await;
        let room = story.write_elsewhere(1, readiness()).await;
        assert!(is_same(&story.cleo.sees(), &room), "without a delay all is public");
    });
}
