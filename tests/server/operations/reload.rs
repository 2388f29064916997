//! SIGHUP, and what systemd is told.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpStream,
    os::unix::net::UnixDatagram,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use rcgen::{CertificateParams, CertifiedKey, KeyPair, date_time_ymd, generate_simple_self_signed};
use reversi::client::{Client, PlayerKind, Trust};
use reversi_needs::needs;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

use crate::cli::command::without_variables;
use crate::harness::{
    postgres::database,
    process::{Player, Server, http_get},
};

/// Timeout of each wait; no test needs this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The interval of looks at the metrics.
const AGAIN: Duration = Duration::from_millis(20);

/// A server with a settings file, and the socket on which it reports its state as to systemd.
struct Service {
    server: Server,
    reports: UnixDatagram,
    folder: TempDir,
}

impl Service {
    fn start(settings: &str, options: &[&str]) -> Self {
        Self::start_with(&[], settings, options)
    }

    /// As [`Service::start`], with these environment variables.
    fn start_with(variables: &[&str], settings: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("notify");
        let reports = UnixDatagram::bind(&socket).unwrap();
        reports.set_read_timeout(Some(TIMEOUT)).unwrap();
        let file = folder.path().join("settings");
        fs::write(&file, settings).unwrap();
        let variable = format!("NOTIFY_SOCKET={}", socket.display());
        let server = Server::start_by(
            &[&["env", &variable], variables].concat(),
            &[&["--settings", file.to_str().unwrap()], options].concat(),
        );
        let service = Self { server, reports, folder };
        assert_eq!(service.report(), "READY=1\n");
        service
    }

    fn report(&self) -> String {
        let mut bytes = [0; 256];
        let length = self.reports.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    /// Replaces the settings, and waits until the server has read them.
    fn reload(&self, settings: &str) {
        fs::write(self.folder.path().join("settings"), settings).unwrap();
        let id = self.server.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
        let reloading = self.report();
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        assert_eq!(self.report(), "READY=1\n");
    }
}

#[tokio::test]
async fn a_variable_takes_precedence_over_the_settings() {
    let service = Service::start_with(&["REVERSI_MAX_ROOMS=7"], "REVERSI_MAX_ROOMS=3\n", &[]);
    let ada = service.server.log_in("Ada", 1 << 16).await;
    assert_eq!(limits(&ada).await.0, 7);
}

#[test]
fn systemd_is_told_that_the_server_runs_if_it_watches() {
    let service = Service::start_with(&["WATCHDOG_USEC=2000000"], "", &[]);
    assert_eq!(service.report(), "WATCHDOG=1\n");
}

/// The limits on rooms and on the size of frames.
async fn limits(player: &Player) -> (i64, i64) {
    let limits = player.info().await.limits.unwrap();
    (limits.rooms.into(), limits.frame_bytes.into())
}

#[tokio::test]
async fn a_signal_reloads_limits_and_the_filter_of_the_log() {
    let service = Service::start("REVERSI_MAX_ROOMS=3\nREVERSI_LOG=error\n", &[]);
    let ada = service.server.log_in("Ada", 1 << 16).await;
    assert_eq!(limits(&ada).await, (3, 16_384));
    service.reload(
        "REVERSI_MAX_ROOMS=4\nREVERSI_MAX_FRAME_BYTES=20000\nREVERSI_LOG=info\nREVERSI_PONDER=1\nREVERSI_HOST=a.example\n",
    );
    assert_eq!(limits(&ada).await, (4, 16_384));
    service.reload("REVERSI_MAX_ROOMS=five\n");
    service.reload("REVERSI_MAX_ROMS=5\n");
    service.reload("REVERSI_MAX_ROOMS=5\nREVERSI_LOG=reversi=loud\n");
    service.reload("REVERSI_MAX_ROOMS=5\nREVERSI_TLS_CERT=/nowhere/chain.pem\nREVERSI_TLS_KEY=/nowhere/key.pem\n");
    service.reload("REVERSI_MAX_ROOMS=5\nREVERSI_MAX_CONNECTIONS=4000000000\n");
    assert_eq!(limits(&ada).await, (4, 16_384), "a file with an error changes nothing");
    write_certificate(service.folder.path());
    let file = |name: &str| service.folder.path().join(name).display().to_string();
    let (chain, key) = (file("chain.pem"), file("key.pem"));
    service.reload(&format!("REVERSI_MAX_ROOMS=6\nREVERSI_TLS_CERT={chain}\nREVERSI_TLS_KEY={key}\n"));
    assert_eq!(limits(&ada).await, (6, 16_384), "without TLS as before");
    let reports = service.reports.try_clone().unwrap();
    let (clean, log) = service.server.stop().await;
    assert!(clean && !log.contains("logged in"), "{log}");
    for part in [
        "these limits change only by a restart options=\"max-frame-bytes\"",
        "these options change only by a restart options=\"host ponder\"",
        "nothing was reloaded: error: invalid value 'five' for '--max-rooms",
        "line 1: `reversi serve` has no variable REVERSI_MAX_ROMS",
        "--log must be a level such as info",
        "cannot read /nowhere/chain.pem",
        "4000000000 connections need",
        "TLS is switched on or off only by a restart",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let mut last = [0; 16];
    let length = reports.recv(&mut last).unwrap();
    assert_eq!(&last[..length], b"STOPPING=1\n");
}

/// The reloaded limits are those with which it takes over.
#[needs(postgres)]
#[tokio::test]
async fn a_signal_reloads_a_standby() {
    let database = database();
    let url = database.url();
    let active = Server::start(&["--store", &url]);
    let standby = Service::start("REVERSI_MAX_ROOMS=3\n", &["--store", &url]);
    standby.reload("REVERSI_MAX_ROOMS=4\n");
    active.stop().await;
    let serves = async || Client::connect(&standby.server.url).await?.log_in("Ada", PlayerKind::Human).await;
    while serves().await.is_err() {}
    let bea = standby.server.log_in("Bea", 1 << 16).await;
    assert_eq!(limits(&bea).await.0, 4);
}

/// Writes a new certificate for 127.0.0.1 and its key. Returns what a client has to trust.
fn write_certificate(folder: &Path) -> Trust {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.join("chain.pem"), cert.pem()).unwrap();
    fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    Trust { authority: Some(cert.pem().into_bytes()), identity: None }
}

#[tokio::test]
async fn a_signal_reloads_certificates_and_open_connections_stay() {
    let folder = tempfile::tempdir().unwrap();
    let first = write_certificate(folder.path());
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (chain, key) = (file("chain.pem"), file("key.pem"));
    let service = Service::start("", &["--tls-cert", &chain, "--tls-key", &key]);
    let url = service.server.url.replace("http://", "https://");
    let ada = Client::connect_trusting(&url, &first).await.unwrap().log_in("Ada", PlayerKind::Human).await.unwrap();

    let second = write_certificate(folder.path());
    service.reload("");
    assert!(Client::connect_trusting(&url, &first).await.is_err());
    let client = Client::connect_trusting(&url, &second).await.unwrap();
    client.log_in("Bob", PlayerKind::Human).await.unwrap();
    ada.me().await.unwrap();

    fs::write(folder.path().join("key.pem"), "no key").unwrap();
    service.reload("");
    Client::connect_trusting(&url, &second).await.unwrap();
    let (_, log) = service.server.stop().await;
    assert!(log.contains("nothing was reloaded: TLS is not possible with"), "{log}");
}

/// Waits until a server is linked with this many others.
async fn linked(metrics: &str, servers: usize) {
    let line = format!("reversi_cluster_links {servers}\n");
    let seen = async {
        while !http_get(metrics).1.contains(&line) {
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, seen).await.unwrap_or_else(|_| panic!("{}", http_get(metrics).1));
}

/// All servers have the same certificate, which is its own authority.
#[needs(postgres)]
#[tokio::test]
async fn a_signal_reloads_the_certificates_between_servers_and_links_stay() {
    let (database, folder) = (database(), tempfile::tempdir().unwrap());
    write_certificate(folder.path());
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (url, chain, key) = (database.url(), file("chain.pem"), file("key.pem"));
    let start = || {
        let node = ["--node-listen", "127.0.0.1:0", "--node-cert", &chain, "--node-key", &key, "--node-ca", &chain];
        let rest = ["--store", &url, "--drain", "2", "--metrics", "127.0.0.1:0"];
        let mut service = Service::start("", &[&node[..], &rest].concat());
        let metrics = service.server.wait_for_line("metrics: ");
        (service, metrics)
    };
    let [(first, metrics), (second, others)] = [start(), start()];
    linked(&metrics, 1).await;
    linked(&others, 1).await;
    assert!(http_get(&metrics).1.contains("reversi_certificate_expiry_timestamp_seconds{certificate=\"node\"} "));
    write_certificate(folder.path());
    first.reload("");
    second.reload("");
    let (_third, third) = start();
    linked(&third, 2).await;
    linked(&metrics, 2).await;
    let (_, log) = first.server.stop().await;
    let running = log.split("stopping").next().unwrap();
    assert!(running.contains("were reloaded") && !running.contains("the link ended"), "{log}");
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.not_after = date_time_ymd(2020, 1, 1);
    let signing_key = KeyPair::generate().unwrap();
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&chain, params.self_signed(&signing_key).unwrap().pem()).unwrap();
    fs::write(&key, signing_key.serialize_pem()).unwrap();
    let options = ["--tls-cert", &chain, "--tls-key", &key, "--metrics", "127.0.0.1:0"];
    let mut service = Service::start("", &options);
    let metrics = http_get(&service.server.wait_for_line("metrics: ")).1;
    let expiry = "reversi_certificate_expiry_timestamp_seconds{certificate=\"public\"} 1577836800\n";
    assert!(metrics.contains(expiry), "{metrics}");
    let (_, log) = service.server.stop().await;
    assert!(log.contains("a certificate has expired") && log.contains("certificate=\"public\""), "{log}");
}

#[tokio::test]
async fn a_server_ends_with_its_terminal() {
    let server = concat!(env!("CARGO_BIN_EXE_reversi"), " serve --ephemeral --listen 127.0.0.1:0 --log error");
    // It gives the server a terminal, which closes with it.
    let mut terminal = without_variables(Command::new("script"))
        .args(["-qfc", server, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(terminal.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_whitespace().last().unwrap();
    drop(TcpStream::connect(address).expect("it listens"));
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    let ended = async {
        while TcpStream::connect(address).is_ok() {
            sleep(AGAIN).await;
        }
    };
    timeout(TIMEOUT, ended).await.expect("the port is free");
}
