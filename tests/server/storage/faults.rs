//! Three real servers that share rooms, and a fault during games of rooms of the first: it freezes, or loses the database;
//! or servers lose one another; or the database crashes, or fails over. The players are at the other two, with a watcher
//! of each game at the third, and all games are played to their ends. Also measures how long the rooms pause: `REVERSI_FAULTS=10 cargo test --test server faults -- --nocapture`.

use std::{net::TcpListener, ops::Range, time::Duration};

use futures_util::future::join_all;
use reversi::proto::v1::CloseReason;
use reversi_needs::needs;
use tokio::{
    sync::mpsc::channel,
    task::spawn_blocking,
    time::{Instant, sleep, timeout},
};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use super::{
    shared_rooms::{AGAIN, TIMEOUT, balanced, start, start_with, until},
    standby::{get, health, reason, squares},
    tables::{Acknowledged, Table, print_pauses, tables, wait_for_moves},
};
use crate::{
    cli::command::{reversi, text},
    harness::{
        cable::Cable,
        postgres::{Database, PostgresServer, Proxy, database, url},
        process::{Player, Server, close_reason, http_get},
    },
};

/// How long a fault lasts.
const FAULT: Duration = Duration::from_secs(8);

/// Rooms at the first server.
const ROOMS: u8 = 4;

/// Moves before the fault, of all rooms together.
const BEFORE: usize = 60;

/// The wait after each move of these games, so that they last for longer than a restart.
const THINK: Duration = Duration::from_millis(100);

/// Longer than the default, so that a busy machine is not taken for a fault, and shorter than one.
const LONG_LEASE: [&str; 2] = ["--lease", "6"];

/// How long the database is away at least: longer than the silence after which a server without a connection is dead.
const AWAY: Duration = Duration::from_secs(2);

/// Longer than the database is away.
const LONGER_LEASE: [&str; 2] = ["--lease", "30"];

/// Lets the servers declare others dead at once. Otherwise they must first be connected to the database for a whole
/// lease.
const PERMIT_DEATHS: &str = "UPDATE node SET since = since - interval '1 minute'";

/// One fault of each kind, unless the environment has another number.
pub(super) fn rounds() -> Range<usize> {
    0..std::env::var("REVERSI_FAULTS").map_or(1, |rounds| rounds.parse().unwrap())
}

/// Plays games of rooms of the first server at the other two during a fault, which begins after some moves. Returns the
/// moves of each game.
async fn play_during(
    database: &Database,
    servers: &[Server; 3],
    round: usize,
    fault: impl AsyncFnOnce(),
) -> Vec<Vec<Acknowledged>> {
    balanced(database, 3).await;
    let mut tables = tables([&servers[0], &servers[1], &servers[2]], &round.to_string(), ROOMS).await;
    tables.iter_mut().for_each(|table| table.think = THINK);
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
    played
}

/// Plays in a new room of a server, once it is in service.
async fn assert_serves_rooms(server: &Server, round: usize) {
    let in_service = async {
        while health(server, "").await != ServingStatus::Serving {
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, in_service).await.expect("the server is in service again");
    let table = tables([server; 3], &format!("again {round}"), 1).await.remove(0);
    let made = timeout(TIMEOUT, table.play(4, &channel(1).0)).await.expect("the server has rooms again");
    table.assert_kept(&made).await;
}

/// Waits until a server that has lost a room shows this many moves of its game, and plays it to its end there.
async fn play_on_at(server: &Server, table: &Table, moves: usize) {
    let there = table.at(server).await;
    let told = async {
        while there.room().await.game.unwrap().plies.len() < moves {
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, told).await.expect("the server reads the room at the one that has it");
    let made = timeout(TIMEOUT, there.play(usize::MAX, &channel(1).0)).await.expect("it plays there");
    assert!(!made.is_empty());
    table.assert_kept(&made).await;
}

/// The number of a server's node.
pub(super) fn node(database: &Database, server: &Server) -> String {
    let listens = server.url.strip_prefix("http://").unwrap();
    database.sql(&format!("SELECT id FROM node WHERE listens = '{listens}'"))
}

fn nodes(database: &Database) -> String {
    database.sql("SELECT string_agg(id::text, ' ' ORDER BY id) FROM node")
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_freezes_loses_its_rooms_and_is_given_others() {
    /// Not the first of the legal moves.
    const LATE: &str = "f5";
    /// Moves of the game while the server is frozen.
    const MEANWHILE: usize = 10;
    let database = database();
    let servers = [(); 3].map(|()| start(&database));
    let mut games = Vec::new();
    for round in rounds() {
        balanced(&database, 3).await;
        let before = node(&database, &servers[0]);
        let table = tables([&servers[0], &servers[1], &servers[2]], &format!("late {round}"), 1).await.remove(0);
        let black = Player::with_token(&servers[0].url, &table.players[0].token).await;
        let freeze = async || {
            servers[0].freeze();
            // It waits in the socket of the frozen server, which finds it when it goes on.
            let late = black.play(&table.game, 0, LATE);
            let (sender, _) = channel(1);
            let meanwhile = async {
                let (made, ()) = tokio::join!(table.play(MEANWHILE, &sender), sleep(FAULT));
                servers[0].unfreeze();
                made
            };
            let (late, made) = tokio::join!(late, meanwhile);
            let refused = late.expect_err("another move was made at that ply");
            assert!(
                matches!(refused.code(), Code::FailedPrecondition | Code::Unavailable | Code::Aborted),
                "{refused}"
            );
            assert_ne!(made[0].square, LATE);
            play_on_at(&servers[0], &table, MEANWHILE).await;
            table.assert_kept(&made).await;
        };
        games.extend(play_during(&database, &servers, round, freeze).await);
        assert_ne!(node(&database, &servers[0]), before);
        assert_serves_rooms(&servers[0], round).await;
    }
    print_pauses("frozen for 8 s", &games);
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_cut_off_from_the_database_loses_its_rooms_and_is_given_others() {
    let database = database();
    let proxy = Proxy::of(&database);
    let options = ["--node-listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let mut servers = [start_with(&proxy.url(&database), &options), start(&database), start(&database)];
    let metrics = servers[0].wait_for_line("metrics: ");
    let mut games = Vec::new();
    for round in rounds() {
        balanced(&database, 3).await;
        let (before, refused) = (node(&database, &servers[0]), refused_writes(&metrics));
        let hold = async || {
            proxy.hold();
            sleep(FAULT).await;
            proxy.release();
        };
        games.extend(play_during(&database, &servers, round, hold).await);
        assert_ne!(node(&database, &servers[0]), before);
        let late = async {
            while refused_writes(&metrics) == refused {
                sleep(AGAIN).await;
            }
        };
        timeout(TIMEOUT, late).await.expect("writes that arrive late are refused");
        assert_serves_rooms(&servers[0], round).await;
    }
    print_pauses("cut off from the database for 8 s", &games);
}

/// The count of a server's writes that were refused since others have the rooms.
fn refused_writes(metrics: &str) -> Option<String> {
    let count = |line: &str| line.strip_prefix("reversi_cluster_fenced_appends_total ").map(str::to_owned);
    http_get(metrics).1.lines().find_map(count)
}

/// Every link between the servers is cut, in both directions: no majority is linked.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn of_servers_that_are_cut_off_from_one_another_the_first_goes_on() {
    let database = database();
    let addresses = unused_addresses();
    let cables = join_all(addresses.iter().cloned().map(Cable::to)).await;
    let servers = [0, 1, 2].map(|number: usize| {
        let advertised = format!("http://{}", cables[number].address);
        let link = ["--node-listen", &addresses[number], "--advertise", &advertised];
        start_with(&database.url(), &[&link[..], &LONG_LEASE].concat())
    });
    let mut games = Vec::new();
    for round in rounds() {
        balanced(&database, 3).await;
        let before = nodes(&database);
        let mut table = tables([&servers[0]; 3], &format!("near {round}"), 1).await.remove(0);
        table.think = THINK;
        let sender = channel(1).0;
        let cut = async {
            cables.iter().for_each(Cable::hold);
            until(&database, SERVING, &node(&database, &servers[0])).await;
            balanced(&database, 1).await;
            cables.iter().for_each(Cable::open);
            until(&database, SERVING, &before).await;
        };
        let (made, ()) = tokio::join!(table.play(usize::MAX, &sender), cut);
        table.assert_kept(&made).await;
        assert_eq!(nodes(&database), before, "no server is declared dead");
        balanced(&database, 3).await;
        games.push(made);
    }
    print_pauses("cut off from one another", &games);
}

/// The nodes that serve.
const SERVING: &str = "SELECT string_agg(node::text, ' ' ORDER BY node) FROM node_status WHERE serving";

/// Its clock is half a minute ahead. It is started first, and so would have all rooms.
#[needs(postgres)]
#[needs(faketime)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_clock_is_wrong_has_no_rooms() {
    let database = database();
    let url = database.url();
    let options = ["--store", &url, "--node-listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"];
    let mut wrong = Server::start_by(&["env", FAKE_CLOCK, "FAKETIME=+30s", "FAKETIME_DONT_FAKE_MONOTONIC=1"], &options);
    let others = [(); 2].map(|()| start(&database));
    balanced(&database, 2).await;
    assert_eq!(health(&wrong, "").await, ServingStatus::NotServing);
    let metric = http_get(&wrong.wait_for_line("metrics: ")).1;
    assert_half_a_minute(&metric, "reversi_cluster_clock_skew_seconds ", "\n");
    let listed = text(&reversi(&["nodes", "--store", &url]).output().unwrap().stdout);
    assert_half_a_minute(listed.lines().nth(1).unwrap(), " +", " s ");
    refuses_log_ins(&wrong).await;
    assert_serves_rooms(&others[0], 0).await;
    let (_, log) = wrong.stop().await;
    assert_half_a_minute(&log, "the clock of this server is ", " s ahead of the database's");
}

/// Waits until a log-in is refused with the reason. Before, the end of a connection may refuse it without one.
async fn refuses_log_ins(server: &Server) {
    let refused = async {
        loop {
            let status = Player::try_bot(&server.url, "bot", 1).await.err().expect("the log-in is refused");
            assert_eq!(status.code(), Code::Unavailable, "{status}");
            if reason(&status) == "OUT_OF_SERVICE" {
                return;
            }
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, refused).await.expect("it says why");
}

/// A clock is read with the error of half a question to the database, which on a machine at work is more than a tenth.
fn assert_half_a_minute(text: &str, before: &str, after: &str) {
    let seconds = text.split(before).filter_map(|rest| rest.split_once(after)?.0.parse::<f64>().ok()).next();
    assert!(seconds.is_some_and(|seconds| (seconds - 30.0).abs() < 0.5), "{seconds:?} after {before:?} in {text}");
}

/// Lets the time of the system seem to be another one to a process.
const FAKE_CLOCK: &str = "LD_PRELOAD=/usr/$LIB/faketime/libfaketimeMT.so.1";

/// The others do not reach the third server, as it advertises an address at which no server listens. It reaches them.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_the_others_do_not_reach_has_no_rooms_and_no_clients() {
    let database = database();
    let servers = [(); 2].map(|()| start(&database));
    let unused = unused_addresses();
    let link = ["--node-listen", "127.0.0.1:0", "--advertise", &format!("http://{}", unused[0])];
    let third = start_with(&database.url(), &link);
    balanced(&database, 2).await;
    refuses_log_ins(&third).await;
    assert_eq!(health(&third, "").await, ServingStatus::NotServing);
    assert_eq!(health(&servers[0], "").await, ServingStatus::Serving);
    let listed = text(&reversi(&["nodes", "--store", &database.url()]).output().unwrap().stdout);
    let missing = format!("not {}, {} for ", node(&database, &servers[0]), node(&database, &servers[1]));
    assert!(listed.contains(&missing) && listed.contains(env!("CARGO_PKG_VERSION")), "{listed}");
    assert_serves_rooms(&servers[0], 0).await;
}

/// Its clients learn it, and go on at the others with their tokens.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_lost_the_database_sends_its_clients_to_the_others() {
    let database = database();
    let proxy = Proxy::of(&database);
    let link = ["--node-listen", "127.0.0.1:0"];
    let servers = [start_with(&proxy.url(&database), &link), start(&database), start(&database)];
    balanced(&database, 3).await;
    let table = tables([&servers[1], &servers[0], &servers[0]], "here", 1).await.remove(0);
    let mut turns = table.players[0].turns().await;
    proxy.hold();
    assert_eq!(timeout(TIMEOUT, close_reason(&mut turns)).await.expect("it ends"), CloseReason::Draining);
    let refused = async {
        loop {
            let status = get(&Player::with_token(&servers[0].url, &table.players[0].token).await, &table.room).await;
            match status.err() {
                Some(status) if reason(&status) == "OUT_OF_SERVICE" => return,
                _ => sleep(AGAIN).await,
            }
        }
    };
    timeout(TIMEOUT, refused).await.expect("calls are refused");
    assert_eq!(health(&servers[0], "").await, ServingStatus::NotServing);
    let elsewhere = table.at(&servers[2]).await;
    let made = timeout(TIMEOUT, elsewhere.play(usize::MAX, &channel(1).0)).await.expect("the game goes on");
    elsewhere.assert_kept(&made).await;
    proxy.release();
    assert_serves_rooms(&servers[0], 0).await;
}

/// Free addresses for three servers. At 127.1.0.1, where no other test listens: at 127.0.0.1 another test could take a
/// port first.
pub(super) fn unused_addresses() -> [String; 3] {
    let sockets = [(); 3].map(|()| TcpListener::bind("127.1.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().to_string())
}

/// Plays while the database is away: its primary is killed, and something else brings the database back. No server is
/// declared dead. Returns the moves of each game, and the time until the database was back.
async fn play_without_database(
    primary: &'static PostgresServer,
    database: &Database,
    servers: &[Server; 3],
    round: usize,
    bring_back: impl FnOnce() + Send + 'static,
) -> (Vec<Vec<Acknowledged>>, Duration) {
    balanced(database, 3).await;
    primary.sql(&database.schema, PERMIT_DEATHS);
    let (before, mut away) = (nodes(database), Duration::ZERO);
    let outage = async || {
        let begin = Instant::now();
        spawn_blocking(|| primary.kill()).await.unwrap();
        sleep(AWAY).await;
        spawn_blocking(bring_back).await.unwrap();
        away = begin.elapsed();
    };
    let games = play_during(database, servers, round, outage).await;
    assert_eq!(nodes(database), before, "no server is declared dead");
    (games, away)
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn games_go_on_after_a_crash_of_the_database() {
    let postgres = PostgresServer::start();
    let database = postgres.database();
    let options = [&["--node-listen", "127.0.0.1:0"][..], &LONGER_LEASE].concat();
    let servers = [(); 3].map(|()| start_with(&database.url(), &options));
    for round in rounds() {
        let run = || postgres.run();
        let (games, away) = play_without_database(postgres, &database, &servers, round, run).await;
        print_pauses(&format!("database crashed, back after {away:?}"), &games);
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn games_go_on_after_a_failover_to_a_synchronous_standby() {
    for round in rounds() {
        let primary = PostgresServer::start();
        let Database { schema, .. } = primary.database();
        let standby = primary.start_standby();
        let url = url(&[primary.folder(), standby.folder()], &schema);
        let options = [&["--node-listen", "127.0.0.1:0"][..], &LONGER_LEASE].concat();
        let servers = [(); 3].map(|()| start_with(&url, &options));
        // It can be read before.
        let database = Database { server: standby, schema };
        let (games, away) = play_without_database(primary, &database, &servers, round, || standby.promote()).await;
        print_pauses(&format!("failover of the database, done after {away:?}"), &games);
    }
}
