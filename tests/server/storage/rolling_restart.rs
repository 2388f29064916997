//! Three real servers that share rooms are restarted one after the other, each once the one before has its share again.
//! Meanwhile games are played by clients who know all three. Also measures how long rooms pause in a whole roll, and how
//! often clients connect again: `REVERSI_FAULTS=10 cargo test --test server rolling -- --nocapture`.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use futures_util::future::{join, join_all};
use reversi::{
    client::{Client, EndReason, PlayEvent, RoomChange, RoomUpdate, Session},
    rules::Square,
};
use reversi_needs::needs;
use tokio::{
    sync::Mutex,
    task::spawn_blocking,
    time::{Instant, sleep, timeout},
};

use super::{
    faults::{rounds, unused_addresses},
    shared_rooms::{AGAIN, TIMEOUT, balanced, start_with},
    tables::{Table, tables},
};
use crate::harness::{
    postgres::{Database, database},
    process::{Player, Server},
};

/// How long a player thinks about each move, so that a game lasts for longer than a roll.
const THINK: Duration = Duration::from_millis(400);

/// A pause that no player notices.
const UNNOTICED: Duration = Duration::from_millis(50);

fn start_at(database: &Database, address: &str) -> Server {
    start_with(&database.url(), &["--listen", address, "--node-listen", "127.0.0.1:0"])
}

/// What a room and its clients noticed of a roll.
#[derive(Debug)]
struct Noticed {
    /// The pauses between moves, beyond the time in which players think.
    pauses: Vec<Duration>,
    /// How often the players and the watcher connected again.
    reconnects: [usize; 3],
}

/// Two players and a watcher, each of whom begins at one of the servers.
struct Clients {
    room: String,
    players: [Session; 2],
    watcher: Session,
    /// The acknowledged moves by ply, each with the time of its answer.
    moves: Mutex<BTreeMap<u32, (Square, Instant)>>,
    is_over: AtomicBool,
}

impl Clients {
    async fn new(urls: &[String; 3], table: Table, watcher: Player, first: [usize; 3]) -> Self {
        let [black, white] = &table.players;
        let players = [(black, first[0]), (white, first[1]), (&watcher, first[2])];
        let connected = players.map(async |(player, first)| {
            let mut urls = urls.clone();
            urls.rotate_left(first);
            Client::connect(&urls.join(",")).await.unwrap().resume(&player.token).await.unwrap()
        });
        let [black, white, watcher] = <[_; 3]>::try_from(join_all(connected).await).ok().unwrap();
        let (moves, is_over) = Default::default();
        Self { room: table.room, players: [black, white], watcher, moves, is_over }
    }

    /// Plays the game to its end.
    async fn play(&self) -> Noticed {
        let players = join_all(self.players.iter().map(|player| self.play_as(player)));
        let (players, watcher) = join(players, self.watch()).await;
        let times: Vec<_> = self.moves.lock().await.values().map(|(_, time)| *time).collect();
        let pauses = times.windows(2).map(|times| (times[1] - times[0]).saturating_sub(THINK));
        let reconnects = [players[0], players[1], watcher];
        Noticed { pauses: pauses.filter(|pause| *pause > UNNOTICED).collect(), reconnects }
    }

    /// Plays as one player. Returns how often the stream was opened again.
    async fn play_as(&self, player: &Session) -> usize {
        for reconnects in 0.. {
            let mut turns = loop {
                match player.turns().await {
                    Ok(turns) => break turns,
                    Err(error) => assert!(error.is_transient(), "{error}"),
                }
                sleep(AGAIN).await;
            };
            while let Some(Ok(event)) = turns.next().await {
                match event {
                    PlayEvent::Turn(turn) => {
                        sleep(THINK).await;
                        let square = turn.legal.first().unwrap();
                        player.play(&turn.game, turn.ply, square).await.unwrap();
                        // It may have been asked for twice, and the answer may come after the opponent's.
                        self.moves.lock().await.entry(turn.ply).or_insert((square, Instant::now()));
                    }
                    PlayEvent::GameEnded { outcome, .. } => {
                        assert_eq!(outcome.reason, EndReason::Discs, "no flag falls");
                        self.is_over.store(true, SeqCst);
                        return reconnects;
                    }
                    _ => {}
                }
            }
        }
        unreachable!()
    }

    /// Watches the game to its end. Returns how often the stream was opened again.
    async fn watch(&self) -> usize {
        let (id, mut room) = (self.room.parse().unwrap(), None);
        for reconnects in 0.. {
            let mut updates = loop {
                match self.watcher.watch(&id).await {
                    Ok(updates) => break updates,
                    Err(error) => assert!(error.is_transient(), "{error}"),
                }
                sleep(AGAIN).await;
            };
            while let Some(Ok(update)) = updates.next().await {
                match update {
                    RoomUpdate::Snapshot(snapshot) => room = Some(snapshot),
                    RoomUpdate::Event(event) => {
                        room.as_mut().unwrap().apply(&event).expect("no event is missing");
                        if let RoomChange::GameEnded { .. } = event.change {
                            return reconnects;
                        }
                    }
                    RoomUpdate::Heartbeat | RoomUpdate::Closing(_) => {}
                }
            }
        }
        unreachable!()
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn games_go_on_while_one_server_after_the_other_is_restarted() {
    let (database, addresses) = (database(), unused_addresses());
    let urls = addresses.each_ref().map(|address| format!("http://{address}"));
    let mut servers: Vec<_> = addresses.iter().map(|address| start_at(&database, address)).collect();
    let places: [[usize; 3]; 9] = std::array::from_fn(|room| [room % 3, room / 3, (room + room / 3) % 3]);
    let mut noticed = Vec::new();
    for roll in rounds() {
        balanced(&database, 3).await;
        let clients = places.map(async |first| {
            let name = format!("{roll} {}{}{}", first[0], first[1], first[2]);
            let table = tables(first.map(|server| &servers[server]), &name, 1).await.remove(0);
            let watcher = servers[first[2]].log_in(&format!("watcher {name}"), 1 << 20).await;
            Clients::new(&urls, table, watcher, first).await
        });
        let clients = join_all(clients).await;
        let roll = async {
            // From the last to the first, so that clients go on to servers that were restarted.
            for address in addresses.iter().rev() {
                let stopped = servers.pop().unwrap().stop();
                let (clean, log) = timeout(TIMEOUT, stopped).await.expect("it exits");
                assert!(clean && !log.contains("have not taken all rooms over"), "{log}");
                assert!(!log.contains("the database has lost"), "{log}");
                let (database_, address) = (database.clone(), address.clone());
                servers.insert(0, spawn_blocking(move || start_at(&database_, &address)).await.unwrap());
                balanced(&database, 3).await;
            }
            assert!(clients.iter().all(|clients| !clients.is_over.load(SeqCst)), "the games go on meanwhile");
        };
        let (played, ()) = join(join_all(clients.iter().map(Clients::play)), roll).await;
        for clients in &clients {
            let acknowledged: String =
                clients.moves.lock().await.values().map(|(square, _)| square.to_string()).collect();
            let stored = format!("SELECT transcript FROM games WHERE room = '{}'", clients.room);
            assert_eq!(database.sql(&stored), acknowledged);
        }
        for (played, first) in played.iter().zip(places) {
            // A client of the server that is restarted first goes on to one that is restarted as well.
            let expected = first.map(|server| if server == 2 { 2 } else { 1 });
            assert!(played.reconnects.iter().zip(expected).all(|(seen, expected)| *seen <= expected), "{played:?}");
        }
        noticed.extend(played);
    }
    print_table(&noticed);
}

fn print_table(noticed: &[Noticed]) {
    println!("a roll of three servers, {} rooms          p50         max", noticed.len());
    let print = |what: &str, mut all: Vec<Duration>| {
        all.sort();
        println!("{what:38} {:>9.3} s {:>9.3} s", all[all.len() / 2].as_secs_f64(), all[all.len() - 1].as_secs_f64());
    };
    print("all pauses of a room together", noticed.iter().map(|noticed| noticed.pauses.iter().sum()).collect());
    let longest = noticed.iter().map(|noticed| noticed.pauses.iter().max().copied().unwrap_or_default());
    print("the longest pause of a room", longest.collect());
    let mut reconnects: Vec<_> = noticed.iter().flat_map(|noticed| noticed.reconnects).collect();
    reconnects.sort_unstable();
    println!(
        "new connections of a client            {:>9}   {:>9}",
        reconnects[reconnects.len() / 2],
        reconnects[reconnects.len() - 1]
    );
}
