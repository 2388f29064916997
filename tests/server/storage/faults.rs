//! Three real servers that share rooms, and a fault during games of rooms of the first: it freezes, loses the database, or
//! loses the others; or the database crashes, or fails over. The players are at the other two, with a watcher of each game at
//! the third, and all games are played to their ends. Also measures how long the rooms pause:
//! `REVERSI_FAULTS=10 cargo test --test server faults -- --nocapture`.

use std::{fs, net::TcpListener, ops::Range, time::Duration};

use futures_util::future::join_all;
use tokio::{
    sync::mpsc::channel,
    time::{Instant, sleep, sleep_until, timeout},
};
use tonic::Code;

use super::{
    shared_rooms::{AGAIN, TIMEOUT, balanced, start, start_with},
    standby::squares,
    tables::{pause, print_pauses, tables, wait_for_moves},
};
use crate::harness::{
    cable::Cable,
    postgres::{Database, PostgresServer, Proxy, database, url},
    process::{Player, Server, http_get},
};

/// How long a fault lasts.
const FAULT: Duration = Duration::from_secs(8);

/// Rooms at the first server.
const ROOMS: u8 = 4;

/// Moves before the fault, of all rooms together.
const BEFORE: usize = 60;

/// Longer than the default, so that a busy machine is not taken for a fault, and shorter than one.
const LONG_LEASE: [&str; 2] = ["--lease", "6"];

/// One fault of each kind, unless the environment has another number.
fn rounds() -> Range<usize> {
    0..std::env::var("REVERSI_FAULTS").map_or(1, |rounds| rounds.parse().unwrap())
}

/// Plays games of rooms of the first server at the other two during a fault, which begins after some moves. Returns the
/// longest pause of each game.
async fn play_during(
    database: &Database,
    servers: &[Server; 3],
    round: usize,
    fault: impl AsyncFnOnce(),
) -> Vec<Duration> {
    balanced(database, 3).await;
    let tables = tables([&servers[0], &servers[1], &servers[2]], &round.to_string(), ROOMS).await;
    let watcher = servers[2].log_in(&format!("watcher {round}"), 1 << 20).await;
    let watches = join_all(tables.iter().map(|table| table.watch(&watcher))).await;
    let (sender, mut acknowledged) = channel(BEFORE);
    let played = join_all(tables.iter().map(|table| table.play(usize::MAX, &sender)));
    let seen = join_all(watches.into_iter().map(|watch| watch.moves()));
    let fault = async {
        wait_for_moves(&mut acknowledged, BEFORE).await;
        fault().await;
    };
    let during = async { tokio::join!(played, seen, fault) };
    let (played, seen, ()) = timeout(3 * TIMEOUT, during).await.expect("all games end");
    for ((table, made), seen) in tables.iter().zip(&played).zip(&seen) {
        table.assert_kept(made).await;
        assert_eq!(squares(&table.room().await), *seen);
        let archived = database.sql(&format!("SELECT count(*) FROM games WHERE room = '{}'", table.room));
        assert_eq!(archived, "1");
    }
    balanced(database, 3).await;
    played.iter().map(|made| pause(made)).collect()
}

/// Plays in a new room of a server.
async fn assert_serves_rooms(server: &Server, round: usize) {
    let table = tables([server; 3], &format!("again {round}"), 1).await.remove(0);
    let made = timeout(TIMEOUT, table.play(4, &channel(1).0)).await.expect("the server has rooms again");
    table.assert_kept(&made).await;
}

/// The number of a server's node.
fn node(database: &Database, server: &Server) -> String {
    let listens = server.url.strip_prefix("http://").unwrap();
    database.sql(&format!("SELECT id FROM node WHERE listens = '{listens}'"))
}

fn nodes(database: &Database) -> String {
    database.sql("SELECT string_agg(id::text, ' ' ORDER BY id) FROM node")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_freezes_loses_its_rooms_and_is_given_others() {
    /// Not the first of the legal moves.
    const LATE: &str = "f5";
    let Some(database) = database() else { return };
    let servers = [(); 3].map(|()| start(&database));
    let mut pauses = Vec::new();
    for round in rounds() {
        balanced(&database, 3).await;
        let before = node(&database, &servers[0]);
        let table = tables([&servers[0], &servers[1], &servers[2]], &format!("late {round}"), 1).await.remove(0);
        let black = Player::with_token(&servers[0].url, &table.players[0].token).await;
        let freeze = async || {
            servers[0].signal("STOP");
            // It waits in the socket of the frozen server, which finds it when it goes on.
            let late = black.play(&table.game, 0, LATE);
            let (sender, _) = channel(1);
            let meanwhile = async {
                let (made, ()) = tokio::join!(table.play(usize::MAX, &sender), sleep(FAULT));
                servers[0].signal("CONT");
                made
            };
            let (late, made) = tokio::join!(late, meanwhile);
            let refused = late.expect_err("another move was made at that ply");
            assert!(
                matches!(refused.code(), Code::FailedPrecondition | Code::Unavailable | Code::Aborted),
                "{refused}"
            );
            assert_ne!(made[0].square, LATE);
            table.assert_kept(&made).await;
        };
        pauses.extend(play_during(&database, &servers, round, freeze).await);
        assert_ne!(node(&database, &servers[0]), before);
        assert_serves_rooms(&servers[0], round).await;
    }
    print_pauses("frozen for 8 s", pauses);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_cut_off_from_the_database_loses_its_rooms_and_is_given_others() {
    let Some(database) = database() else { return };
    let proxy = Proxy::of(&database);
    let options = ["--node-listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let mut servers = [start_with(&proxy.url(&database), &options), start(&database), start(&database)];
    let metrics = servers[0].wait_for_line("metrics: ");
    let mut pauses = Vec::new();
    for round in rounds() {
        balanced(&database, 3).await;
        let (before, refused) = (node(&database, &servers[0]), refused_writes(&metrics));
        let hold = async || {
            proxy.hold();
            sleep(FAULT).await;
            proxy.release();
        };
        pauses.extend(play_during(&database, &servers, round, hold).await);
        assert_ne!(node(&database, &servers[0]), before);
        let late = async {
            while refused_writes(&metrics) == refused {
                sleep(AGAIN).await;
            }
        };
        timeout(TIMEOUT, late).await.expect("writes that arrive late are refused");
        assert_serves_rooms(&servers[0], round).await;
    }
    print_pauses("cut off from the database for 8 s", pauses);
}

/// The count of a server's writes that were refused since others have the rooms.
fn refused_writes(metrics: &str) -> Option<String> {
    let count = |line: &str| line.strip_prefix("reversi_cluster_fenced_appends_total ").map(str::to_owned);
    http_get(metrics).1.lines().find_map(count)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_cut_off_from_the_others_keeps_its_rooms() {
    let Some(database) = database() else { return };
    let address = unused_address();
    let cable = Cable::to(address.clone()).await;
    let advertised = format!("http://{}", cable.address);
    let link = ["--node-listen", &address, "--advertise", &advertised];
    let other = ["--node-listen", "127.0.0.1:0"];
    let servers = [&link[..], &other, &other].map(|link| start_with(&database.url(), &[link, &LONG_LEASE].concat()));
    let mut pauses = Vec::new();
    for round in rounds() {
        balanced(&database, 3).await;
        let before = nodes(&database);
        let table = tables([&servers[0]; 3], &format!("near {round}"), 1).await.remove(0);
        let hold = async || {
            cable.hold();
            let held = Instant::now();
            let made = table.play(usize::MAX, &channel(1).0).await;
            table.assert_kept(&made).await;
            sleep_until(held + FAULT).await;
            cable.open();
        };
        let paused = play_during(&database, &servers, round, hold).await;
        let waited = |pause: &Duration| *pause + Duration::from_secs(1) >= FAULT;
        assert!(paused.iter().all(waited), "no room is played at two servers: {paused:?}");
        assert_eq!(nodes(&database), before, "no server is declared dead");
        pauses.extend(paused);
    }
    print_pauses("cut off from the others for 8 s", pauses);
}

/// An address that nothing else on this machine takes: other sockets are not those of this host.
fn unused_address() -> String {
    TcpListener::bind("127.1.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Plays while the database is away. No server is declared dead. Returns the longest pause of each game, and the time until
/// the database was back.
async fn play_without_database(
    database: &Database,
    servers: &[Server; 3],
    round: usize,
    outage: impl FnOnce() + Send + 'static,
) -> (Vec<Duration>, Duration) {
    balanced(database, 3).await;
    let (before, mut away) = (nodes(database), Duration::ZERO);
    let outage = async || {
        let begin = Instant::now();
        tokio::task::spawn_blocking(outage).await.unwrap();
        away = begin.elapsed();
    };
    let pauses = play_during(database, servers, round, outage).await;
    assert_eq!(nodes(database), before, "no server is declared dead");
    (pauses, away)
}

#[tokio::test(flavor = "multi_thread")]
async fn games_go_on_after_a_crash_of_the_database() {
    let Some(postgres) = PostgresServer::start() else { return };
    let database = postgres.database();
    let options = [&["--node-listen", "127.0.0.1:0"][..], &LONG_LEASE].concat();
    let servers = [(); 3].map(|()| start_with(&database.url(), &options));
    for round in rounds() {
        let crash = move || {
            postgres.kill();
            postgres.run();
        };
        let (pauses, away) = play_without_database(&database, &servers, round, crash).await;
        print_pauses(&format!("database crashed, back after {away:?}"), pauses);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn games_go_on_after_a_failover_to_a_synchronous_standby() {
    for round in rounds() {
        let Some(primary) = PostgresServer::start() else { return };
        let Database { schema, .. } = primary.database();
        let standby = primary.start_standby();
        let url = url(&[primary.folder(), standby.folder()], &schema);
        let options = [&["--node-listen", "127.0.0.1:0"][..], &LONG_LEASE].concat();
        let servers = [(); 3].map(|()| start_with(&url, &options));
        let fail_over = move || {
            primary.kill();
            standby.promote();
        };
        // It can be read before.
        let database = Database { server: standby, schema };
        let (pauses, away) = play_without_database(&database, &servers, round, fail_over).await;
        print_pauses(&format!("failover of the database, done after {away:?}"), pauses);
        fs::remove_dir_all(primary.folder()).unwrap();
    }
}
