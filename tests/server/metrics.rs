//! The metrics of the real server, as Prometheus reads them, after a game.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::{
    cli::command::{reversi, text},
    harness::process::{Server, http_get, http_get_of, wait_for_event},
};
use reversi::{
    proto::v1::{self, room_event},
    runtime::{Clock, server_metrics::COMMIT},
    store::SqliteStore,
};

/// The metrics of one scrape, by name and labels.
struct Scrape(BTreeMap<String, f64>);

impl Scrape {
    /// Reads the metrics, and checks that every sample has its help and its type.
    fn read(address: &str) -> Self {
        let (head, text) = http_get(address);
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/plain; version=0.0.4"), "{head}");
        let (mut helped, mut typed, mut samples) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, what) = help.split_once(' ').unwrap();
                assert!(!what.is_empty() && helped.insert(name), "{line}");
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                typed.insert(kind.split_once(' ').unwrap().0);
            } else {
                let (sample, value) = line.rsplit_once(' ').unwrap();
                let name = sample.split('{').next().unwrap();
                let part = ["_bucket", "_sum", "_count"].into_iter().find_map(|part| name.strip_suffix(part));
                let known = |name| helped.contains(name) && typed.contains(name);
                assert!(known(name) || part.is_some_and(known), "{line}");
                assert!(name.starts_with("reversi_") || name.starts_with("process_"), "{line}");
                assert!(samples.insert(sample.to_owned(), value.parse().unwrap()).is_none(), "{line} comes twice");
            }
        }
        Self(samples)
    }

    #[track_caller]
    fn assert_values(&self, expected: &[(&str, f64)]) {
        for (sample, value) in expected {
            assert_eq!(self.0.get(*sample), Some(value), "{sample} in {:#?}", self.0);
        }
    }
}

/// Also when the damage is not met in a list.
#[tokio::test]
async fn damage_that_a_question_meets_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let mut server = Server::start(&["--log", "error", "--metrics", "127.0.0.1:0", "--data", data]);
    let address = &server.wait_for_line("metrics: ");
    let ada = server.log_in("Ada", 1 << 16).await;
    let room = ada.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let game = ada.start(&room).await;
    ada.games().resign(v1::ResignRequest { game_id: game.clone() }).await.unwrap();
    let tool = rusqlite::Connection::open(folder.path().join(SqliteStore::FILE)).unwrap();
    assert_eq!(tool.execute("UPDATE games SET winner = 'me'", []), Ok(1));
    for _ in 0..2 {
        ada.records().get_game(v1::GetGameRequest { game_id: game.clone() }).await.unwrap_err();
        Scrape::read(address).assert_values(&[("reversi_damaged_rows", 1.0)]);
    }
    assert!(server.stop().await.0, "it stopped clean");
}

#[tokio::test]
async fn metrics_count_a_game() {
    let mut server = Server::start(&["--log", "error", "--metrics", "127.0.0.1:0"]);
    let address = &server.wait_for_line("metrics: ");
    Scrape::read(address).assert_values(&[
        ("reversi_players", 0.0),
        ("reversi_slow_consumers_total", 0.0),
        ("reversi_archived_games", 0.0),
        ("reversi_damaged_rows", 0.0),
    ]);
    let (head, _) = http_get_of(address, "evil.example");
    assert!(head.starts_with("HTTP/1.1 421 "), "{head}");
    let (head, page) = http_get(address.strip_suffix("metrics").unwrap());
    assert!(head.starts_with("HTTP/1.1 200 ") && page.contains("<a href=\"/metrics\">"), "{head}\n{page}");

    let ada = server.log_in("Ada", 1 << 16).await;
    Scrape::read(address).assert_values(&[("reversi_connections", 1.0)]);
    let room = ada.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    let mut watch = ada.watch(&room).await;
    let game = ada.start(&room).await;
    ada.play(&game, 0, "d3").await.unwrap();
    // Two moves: the player's and the AI's.
    for _ in 0..2 {
        wait_for_event(&mut watch, |event| matches!(event, room_event::Event::MovePlayed(_))).await;
    }
    ada.play(&game, 0, "c4").await.unwrap_err();
    ada.play(&game, 2, "a1").await.unwrap_err();
    ada.play(&game, 2, "h8").await.unwrap_err();
    Scrape::read(address).assert_values(&[
        ("reversi_players", 1.0),
        ("reversi_rooms{phase=\"playing\"}", 1.0),
        ("reversi_rooms{phase=\"lobby\"}", 0.0),
        ("reversi_games_running", 1.0),
        ("reversi_moves_total{by=\"human\"}", 1.0),
        ("reversi_moves_total{by=\"ai\"}", 1.0),
        ("reversi_turn_seconds_count{by=\"human\"}", 1.0),
        ("reversi_turn_seconds_bucket{by=\"ai\",le=\"+Inf\"}", 1.0),
        ("reversi_ai_moves_total", 1.0),
        ("reversi_ai_cheaper_moves_total", 0.0),
        ("reversi_ai_waiting", 0.0),
        ("reversi_streams{kind=\"room\"}", 1.0),
        ("reversi_refusals_total{reason=\"STALE_PLY\"}", 1.0),
        ("reversi_refusals_total{reason=\"ILLEGAL_MOVE\"}", 2.0),
        ("reversi_lag_recoveries_total", 0.0),
    ]);

    ada.games().resign(v1::ResignRequest { game_id: game }).await.unwrap();
    wait_for_event(&mut watch, |event| matches!(event, room_event::Event::GameEnded(_))).await;
    let figures = Scrape::read(address);
    figures.assert_values(&[
        ("reversi_rooms{phase=\"playing\"}", 0.0),
        ("reversi_rooms{phase=\"lobby\"}", 1.0),
        ("reversi_games_running", 0.0),
        ("reversi_games_finished_total{reason=\"resignation\"}", 1.0),
    ]);
    // At least the start, two moves and the end.
    assert!(figures.0["reversi_journal_append_seconds_count"] >= 4.0);
    assert!(server.stop().await.0, "it stopped clean");
}

/// The version is also that of `reversi --version` and `GetServerInfo`.
#[tokio::test]
async fn metrics_tell_what_runs_and_what_it_uses() {
    let before = Clock::of_process().now().0 / 1_000_000;
    let mut server = Server::start(&["--metrics", "127.0.0.1:0"]);
    let address = &server.wait_for_line("metrics: ");
    let figures = Scrape::read(address);
    let (version, commit) = (env!("CARGO_PKG_VERSION"), COMMIT);
    let build = format!("reversi_build_info{{version=\"{version}\",commit=\"{commit}\"}}");
    figures.assert_values(&[(&build, 1.0), ("reversi_connections", 0.0)]);
    if cfg!(target_os = "linux") {
        let value = |name: &str| figures.0[name];
        assert!(value("process_start_time_seconds") >= before as f64);
        assert!(value("process_resident_memory_bytes") > (1 << 20) as f64);
        assert!(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"));
        assert!((3.0..1_000.0).contains(&value("process_open_fds")));
        assert!(value("process_max_fds") > value("process_open_fds"));
        assert!((0.0..60.0).contains(&value("process_cpu_seconds_total")));
    }

    let info = server.log_in("Ada", 1 << 16).await.lobby().get_server_info(v1::GetServerInfoRequest {}).await;
    let info = info.unwrap().into_inner();
    assert_eq!((info.version.as_str(), info.commit.as_str()), (version, commit));
    let shown = text(&reversi(&["--version"]).output().unwrap().stdout);
    let expected =
        if commit.is_empty() { format!("reversi {version}\n") } else { format!("reversi {version} ({commit})\n") };
    assert_eq!(shown, expected);
}

#[test]
fn metrics_count_connections_that_the_server_closes() {
    let options = ["--control-frame-rate", "1", "--control-frame-burst", "1", "--metrics", "127.0.0.1:0"];
    let mut server = Server::start(&options);
    let address = &server.wait_for_line("metrics: ");
    let mut socket = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    socket.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings.repeat(100)].concat()).unwrap();
    // Up to the end, which may be a reset.
    let _ = socket.read_to_end(&mut Vec::new());
    Scrape::read(address).assert_values(&[("reversi_closed_connections_total{reason=\"control_frames\"}", 1.0)]);
}

#[tokio::test]
async fn metrics_count_damaged_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = ["--data", folder.path().to_str().unwrap()];
    let server = Server::start(&data);
    server.log_in("Ada", 1 << 16).await;
    assert!(server.stop().await.0);
    let file = rusqlite::Connection::open(folder.path().join(SqliteStore::FILE)).unwrap();
    assert_eq!(file.execute("UPDATE players SET kind = 'cat'", []), Ok(1));
    drop(file);
    let mut server = Server::start(&[&data[..], &["--metrics", "127.0.0.1:0"]].concat());
    Scrape::read(&server.wait_for_line("metrics: ")).assert_values(&[("reversi_damaged_rows", 1.0)]);
}
