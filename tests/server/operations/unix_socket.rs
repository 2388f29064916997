//! A server on a UNIX socket.

use std::{
    fs,
    os::unix::{
        fs::PermissionsExt as _,
        net::{UnixListener, UnixStream},
    },
};

use reversi::client::{Client, PlayerKind};

use crate::{
    cli::command::{reversi, text},
    harness::process::Server,
};

#[tokio::test(flavor = "multi_thread")]
async fn clients_play_over_a_unix_socket_and_its_file_is_removed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listen = format!("unix:{}", path.display());
    let server = Server::start(&["--listen", &listen]);
    assert_eq!(server.url, listen);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o660);
    let ada = Client::connect(&server.url).await.unwrap().log_in("Ada", PlayerKind::Human).await.unwrap();
    assert_eq!(ada.me().await.unwrap().player.name, "Ada");
    let health = reversi(&["health", "--server", &listen]).output().unwrap();
    assert_eq!(text(&health.stdout), "SERVING\n");

    let second = reversi(&["serve", "--ephemeral", "--listen", &listen]).output().unwrap();
    assert!(!second.status.success() && text(&second.stderr).contains("another program listens on"), "{second:?}");
    drop(ada);
    let (clean, log) = server.stop().await;
    assert!(clean && !path.exists(), "{log}");
}

#[tokio::test]
async fn a_server_that_stops_keeps_the_file_of_a_later_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Server::start(&["--listen", &format!("unix:{}", path.display())]);
    fs::remove_file(&path).unwrap();
    let _later = UnixListener::bind(&path).unwrap();
    assert!(server.stop().await.0);
    assert!(UnixStream::connect(&path).is_ok());
}

#[tokio::test]
async fn the_file_of_a_killed_server_is_replaced_and_other_files_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listen = format!("unix:{}", path.display());
    Server::start(&["--listen", &listen]).kill();
    assert!(path.exists() && UnixStream::connect(&path).is_err());
    let server = Server::start(&["--listen", &listen]);
    assert!(UnixStream::connect(&path).is_ok());
    drop(server);

    fs::remove_file(&path).unwrap();
    fs::write(&path, "precious").unwrap();
    let refused = reversi(&["serve", "--ephemeral", "--listen", &listen]).output().unwrap();
    assert!(text(&refused.stderr).contains("is a file and no socket"), "{refused:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}
