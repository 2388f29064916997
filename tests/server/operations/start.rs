//! Starts with a running game, and starts that are refused: of a second server on the same data, and with too few open files.

use std::{fs, process::Command};

use reversi::proto::v1;
use reversi_needs::needs;
use serde_json::Value;

use crate::{
    cli::command::{Running, reversi, text, without_variables},
    harness::{postgres::database, process::Server},
};

#[needs(postgres)]
#[tokio::test]
async fn a_start_with_a_running_game_warns_of_nothing() {
    let options = ["--store", &database().url()];
    let server = Server::start(&options);
    let ada = server.log_in("Ada", 1 << 16).await;
    let room = ada.create(v1::RoomSettings::default(), ["me", "random"]).await.room_id;
    ada.start(&room).await;
    drop(ada);
    assert!(server.stop().await.0);
    let (clean, log) = Server::start(&options).stop().await;
    assert!(clean && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn a_second_server_is_refused_even_when_files_beside_the_database_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let _first = Server::start(&["--data", data]);
    for file in fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap()) {
        let name = file.file_name().into_string().unwrap();
        if !name.starts_with("reversi.db") {
            fs::remove_file(file.path()).unwrap();
        }
    }
    let second = reversi(&["serve", "--listen", "127.0.0.1:0", "--data", data]).output().unwrap();
    assert!(!second.status.success());
    let error = text(&second.stderr);
    assert!(error.contains("another server uses it"), "{error}");
}

#[test]
#[cfg(unix)]
fn with_a_log_in_json_what_is_printed_and_errors_are_json_too() {
    let options = ["serve", "--ephemeral", "--log-format", "json", "--metrics", "127.0.0.1:0", "--listen"];
    let mut server = Running::spawn(reversi(&[&options[..], &["127.0.0.1:0"]].concat()));
    let line: Value = server.wait_for("").parse().unwrap();
    let field = |name: &str| line["fields"][name].as_str().unwrap();
    let address = field("message").strip_prefix("reversi is listening on ").unwrap();
    assert_eq!(field("url"), format!("http://{address}"));
    assert!(field("metrics").starts_with("127.0.0.1:") && line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
    let second = reversi(&[&options[..], &[address]].concat()).output().unwrap();
    let lines: Vec<Value> = text(&second.stderr).lines().map(|line| line.parse().unwrap()).collect();
    let error = lines.last().unwrap();
    assert_eq!((second.status.code(), &error["level"]), (Some(1), &Value::from("ERROR")), "{lines:?}");
    assert!(error["fields"]["message"].as_str().unwrap().contains(address), "{error}");
    let interrupted = Command::new("kill").args(["-s", "INT", &server.child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_misspelled_variable_is_refused() {
    // Without this check it would be refused for what follows, and not run.
    let refused =
        reversi(&["serve", "--ephemeral", "--listen", "0.0.0.0:0"]).env("REVERSI_MAX_ROMS", "5").output().unwrap();
    let error = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && error.contains("the nearest is REVERSI_MAX_ROOMS"), "{error}");
}

#[test]
#[cfg(unix)]
fn with_too_few_open_files_the_error_says_what_to_do() {
    let start = |limit: &str, options: &str| {
        let command = format!("ulimit {limit}; exec \"$0\" serve --listen 127.0.0.1:0 --ephemeral {options}");
        let mut shell = without_variables(Command::new("sh"));
        shell.args(["-c", &command, env!("CARGO_BIN_EXE_reversi")]).output().unwrap()
    };
    let refused = start("-n 300", "");
    assert!(!refused.status.success());
    let error = text(&refused.stderr);
    for part in ["16384 connections need 16640 open files", "permits 300 (`ulimit -n`)", "LimitNOFILE=16640"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(error.contains("--max-connections 44"), "{error}");
    // With that many the server gets further: to the certificate that is not there.
    let tls = "--tls-cert /nowhere/chain.pem --tls-key /nowhere/key.pem";
    // A soft limit is raised.
    for (limit, connections) in [("-n 300", 44), ("-S -n 300", 45)] {
        let started = start(limit, &format!("--max-connections {connections} {tls}"));
        assert!(text(&started.stderr).contains("cannot read /nowhere/chain.pem"), "{}", text(&started.stderr));
    }
}
