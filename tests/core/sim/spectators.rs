//! What those who have no seat see of a room with a delay: nothing that is younger, and all that is older.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use reversi::{
    room::{
        ChatText, Command, Credentials, DisplayName, Event, Game, GameId, Offer, Phase, PlayerKind, Room, RoomId,
        SeatSpec, Settings, Timestamp, stored,
    },
    rules::{ByColor, Color},
    runtime::{
        Clock, Limits, LobbyUpdate, NewRoom, Parts, Player, RandomSource, Row, RowFilter, RowKey, Runtime, Token,
        Update, Watch, WatchStart, WatchedLobby,
    },
    store::{MemoryStore, Store},
};
use tokio::time::sleep;

use super::{
    rng::Rng,
    simulation::{START_TIME, encode},
};

/// Number of seeds, each for two lives of a server.
const SEEDS: u64 = 12;

/// Number of actions in one life of a server.
const ACTIONS: usize = 80;

/// Within this time watchers get what they may see.
const LAG: Duration = Duration::from_millis(500);

/// The states of a room: each with the time of its last event, and whether that was of a game.
#[derive(Default)]
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
                let mut after = self.latest().clone();
                after.apply(&event);
                let is_of_game = [self.latest(), &after].iter().any(|room| room.phase() == Phase::Playing);
                self.0.push((event.at, after, is_of_game));
            }
        }
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
struct Viewer {
    runtime: Runtime,
    player: Arc<Player>,
    room: RoomId,
    watch: Watch,
    /// As it was watched.
    watched: Option<Room>,
    list: WatchedLobby,
    rows: BTreeMap<RowKey, Row>,
}

impl Viewer {
    async fn new(runtime: &Runtime, player: &Arc<Player>, room: RoomId) -> Self {
        Self {
            watch: runtime
                .streams
                .room(player, room, Credentials::default(), WatchStart::Snapshot)
                .await
                .expect("a stream"),
            list: runtime.streams.lobby(player, RowFilter::default()).expect("a stream"),
            runtime: runtime.clone(),
            player: Arc::clone(player),
            room,
            watched: None,
            rows: BTreeMap::new(),
        }
    }

    /// Reads all that has arrived.
    fn read(&mut self) {
        while let Some(update) = self.watch.next().now_or_never() {
            match update.expect("the stream is open") {
                Update::Snapshot(snapshot) => self.watched = Some((*snapshot.room).clone()),
                Update::Event(bytes) => self.watched.as_mut().expect("a snapshot comes first").apply(&event(&bytes)),
            }
        }
        while let Some(update) = self.list.next().now_or_never() {
            match update.expect("the stream is open") {
                LobbyUpdate::Page { rows, .. } => self.rows = rows.into_iter().map(|row| (row.key(), row)).collect(),
                LobbyUpdate::Changed { upserted, removed, .. } => {
                    self.rows.extend(upserted.into_iter().map(|row| (row.key(), row)));
                    self.rows.retain(|key, _| !removed.contains(key));
                }
            }
        }
    }

    /// Fails unless each path shows one of the states.
    async fn check(&mut self, is_shown: impl Fn(&Room) -> bool, states: &[(Timestamp, Room, bool)]) {
        self.read();
        let got =
            self.runtime.rooms.snapshot(&self.player, self.room, &Credentials::default()).await.expect("a room").room;
        assert!(is_shown(&got), "GetRoom shows {got:?}, not one of {states:?}");
        let watched = self.watched.as_ref().expect("a snapshot");
        assert!(is_shown(watched), "WatchRoom shows {watched:?}, not one of {states:?}");
    }

    async fn check_rows(&self, is_listed: impl Fn(&Row) -> bool) {
        let pages = self.runtime.lobby.page(&RowFilter::default(), None, 10).await;
        let listed = pages.iter().find(|row| row.id == self.room).expect("a listed room");
        assert!(is_listed(listed), "ListRooms shows {listed:?}");
        let watched = self.rows.values().find(|row| row.id == self.room).expect("a listed room");
        assert!(is_listed(watched), "WatchRooms shows {watched:?}");
    }
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

struct Trial {
    rng: Rng,
    delay: Duration,
    store: Arc<MemoryStore>,
    wall: Timestamp,
    /// Of the owner, her opponent, a member without a seat, and a stranger.
    tokens: Vec<Token>,
    room: Option<RoomId>,
    history: History,
}

impl Trial {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::seeded(seed, 40);
        let delay = rng.millis(1_000..20_000);
        let (store, history) = (Arc::default(), History::default());
        Self { rng, delay, store, wall: START_TIME, tokens: Vec::new(), room: None, history }
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
            self.act(&runtime).await;
            self.wall = runtime.clock().now().after(self.rng.millis(0..30_000));
        });
    }

    async fn act(&mut self, runtime: &Runtime) {
        let players = self.players(runtime).await;
        let room = match self.room {
            Some(room) => room,
            None => self.open_room(runtime, &players).await,
        };
        let started = runtime.clock().now();
        let start = self.history.0.last().map_or(WatchStart::Snapshot, |(_, room, _)| WatchStart::After(room.seq()));
        let mut live = runtime.streams.room_as_admin(&players[0], room, start).await.expect("a stream");
        let mut seated = Viewer::new(runtime, &players[1], room).await;
        let mut spectators = Vec::new();
        for player in &players[2..] {
            spectators.push(Viewer::new(runtime, player, room).await);
        }
        for _ in 0..ACTIONS {
            sleep(self.rng.millis(0..2_000)).await;
            self.act_once(runtime, &players).await;
            sleep(LAG / 2).await;
            // A change of the list is collected from when it is read.
            spectators.iter_mut().for_each(Viewer::read);
            sleep(LAG / 2).await;
            while let Some(update) = live.next().now_or_never() {
                self.history.follow(&update.expect("the stream is open"));
            }
            let now = runtime.clock().now();
            seated.check(|room| room == self.history.latest(), &[]).await;
            let states = self.history.shown(now.before(self.delay + LAG), now.before(self.delay));
            // The journal may have no state that is old enough.
            let is_new = self.history.0[0].0 < started && now.before(self.delay + LAG) < started;
            let is_hidden = |room: &Room| is_new && room.game().is_none() && room.chat().len() == 0;
            for viewer in &mut spectators {
                let is_shown = |room: &Room| is_hidden(room) || states.iter().any(|(_, state, _)| state == room);
                viewer.check(is_shown, states).await;
                viewer
                    .check_rows(|row| {
                        (is_new && row.board.is_none()) || states.iter().any(|(_, state, _)| is_row_of(row, state))
                    })
                    .await;
            }
        }
    }

    async fn players(&mut self, runtime: &Runtime) -> Vec<Arc<Player>> {
        let mut players = Vec::new();
        if self.tokens.is_empty() {
            for name in ["Ada", "Bea", "Cleo", "Dan"] {
                let name = DisplayName::parse(name).expect("a name");
                let (player, token) =
                    runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.expect("a log-in");
                self.tokens.push(token);
                players.push(player);
            }
        } else {
            for token in &self.tokens {
                players.push(runtime.sessions.bearer(token).await.expect("a player").expect("a player"));
            }
        }
        players
    }

    async fn open_room(&mut self, runtime: &Runtime, players: &[Arc<Player>]) -> RoomId {
        let settings = Settings { spectator_delay: self.delay, ..Settings::named((&players[0].name).into()) };
        let new = NewRoom { settings, seats: ByColor::new(SeatSpec::Me, SeatSpec::Open) };
        let room = runtime.rooms.create(&players[0], new, None).await.expect("a room").room.id();
        for player in &players[1..3] {
            runtime.rooms.join(player, room, Credentials::default()).await.expect("a member");
        }
        runtime.rooms.command(&players[1], room, Command::TakeSeat(Color::White)).await.expect("a seat");
        self.room = Some(room);
        room
    }

    /// Some of what members do. The room refuses what is wrong at the moment.
    async fn act_once(&mut self, runtime: &Runtime, players: &[Arc<Player>]) {
        let id = self.room.expect("a room");
        let rooms = &runtime.rooms;
        let room = rooms.snapshot_as_admin(id).await.expect("a room").room;
        let member = &players[self.rng.below(3)];
        let command = match (room.running(), self.rng.below(100)) {
            (_, 0..12) => Command::Chat(ChatText::parse("a word").expect("a line")),
            (Some(_), 12..16) => Command::Offer(Offer::Draw, None),
            (Some(game), 16..18) => Command::Resign { game: game.number },
            (Some(game), _) => {
                let legal: Vec<_> = game.position.legal_moves().into_iter().collect();
                let side = game.turn().expect("a turn");
                let mover = players.iter().find(|player| room.seat_of(player.id()) == Some(side)).expect("a player");
                let played = GameId { room: id, number: game.number };
                rooms.play(mover, played, game.ply(), self.rng.pick(&legal)).await.expect("a move");
                return;
            }
            (None, 12..30) => Command::SwapSeats,
            (None, _) => {
                let _ = rooms.command(&players[1], id, Command::SetReady(true)).await;
                let _ = rooms.command(&players[0], id, Command::Start(None)).await;
                return;
            }
        };
        let _ = rooms.command(member, id, command).await;
    }
}

#[test]
fn spectators_see_all_that_is_older_than_the_delay_and_nothing_that_is_younger() {
    for seed in 0..SEEDS {
        let mut trial = Trial::new(seed);
        trial.live();
        trial.live();
        assert!(trial.history.0.iter().any(|(_, room, _)| room.game().is_some()), "seed {seed}");
    }
}
