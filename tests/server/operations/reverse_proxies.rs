//! The examples of `deploy` for nginx and Caddy, with another address, name and certificate.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

use prost::Message as _;
use reversi::{
    client::{Client, PlayerKind},
    proto::v1,
};
use reversi_needs::needs;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use tokio_rustls::client::TlsStream;

use crate::{
    harness::{in_process::within, process::Server},
    transport::{Authority, handshake},
};

/// Number of free ports that are tried, as another program may take one first.
const TRIES: usize = 5;

/// A proxy in front of a server.
struct Proxy {
    process: Child,
    _folder: TempDir,
    port: u16,
    authority: Authority,
}

impl Proxy {
    /// Starts `command`, with the folder of its files, once `configure` has written its file for a port.
    fn start(configure: impl Fn(&Path, u16), command: impl Fn(&Path) -> Command, is_up: &str) -> Self {
        let folder = TempDir::with_prefix("front").unwrap();
        let authority = Authority::new();
        let (chain, key) = authority.sign("localhost");
        fs::write(folder.path().join("reversi.pem"), chain).unwrap();
        fs::write(folder.path().join("reversi.key"), key).unwrap();
        for _ in 0..TRIES {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            configure(folder.path(), port);
            let mut process = command(folder.path()).stderr(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
            if lines.any(|line| line.contains(is_up)) {
                // A full pipe would stop it.
                std::thread::spawn(move || lines.for_each(drop));
                return Self { process, _folder: folder, port, authority };
            }
            process.wait().unwrap();
        }
        panic!("it does not start");
    }

    async fn connect(&self, protocol: &[u8]) -> TlsStream<TcpStream> {
        let socket = TcpSocket::new_v4().unwrap();
        // Another address than the proxy's own, which is trusted.
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let socket = socket.connect(([127, 0, 0, 1], self.port).into()).await.unwrap();
        handshake(socket, &self.authority, "localhost", protocol).await
    }

    /// The answer to a call by gRPC-Web over HTTP/1.1 in lower case, up to this text.
    async fn call(&self, path: &str, message: &[u8], end: &str) -> String {
        let length = u32::try_from(message.len()).unwrap();
        let head = format!(
            "POST /reversi.v1.{path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web+proto\r\n\
            x-grpc-web: 1\r\ncontent-length: {}\r\n\r\n\0",
            length + 5
        );
        self.exchange(&[head.as_bytes(), &length.to_be_bytes(), message].concat(), end).await
    }

    async fn exchange(&self, request: &[u8], end: &str) -> String {
        let mut stream = self.connect(b"http/1.1").await;
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        while !answer.contains(end) {
            let mut chunk = [0; 4096];
            let length = within(stream.read(&mut chunk)).await.unwrap();
            assert!(length > 0, "{answer}");
            answer.push_str(&String::from_utf8_lossy(&chunk[..length]).to_ascii_lowercase());
        }
        answer
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server that permits one log-in of each address.
fn server() -> (Server, String) {
    let server = Server::start(&["--trusted-proxy", "127.0.0.1", "--log-in-burst", "1", "--log-in-rate", "1"]);
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    (server, address)
}

async fn serves_grpc_and_grpc_web_and_the_page(proxy: &Proxy) {
    let trust = proxy.authority.trusted();
    let client = Client::connect_trusting(&format!("https://localhost:{}", proxy.port), &trust).await.unwrap();
    let ada = client.log_in("Ada", PlayerKind::Human).await.unwrap();
    assert_eq!(ada.me().await.unwrap().player.name, "Ada");

    let page = proxy.exchange(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", "</html>").await;
    assert!(page.starts_with("http/1.1 200 ") && page.contains("text/html"), "{page}");

    let bob = v1::LogInRequest { display_name: "Bob".into(), ..Default::default() }.encode_to_vec();
    let first = proxy.call("SessionService/LogIn", &bob, "grpc-status").await;
    assert!(first.contains("grpc-status:0"), "{first}");
    // The limit is that of the client's address.
    let second = proxy.call("SessionService/LogIn", &bob, "grpc-status").await;
    assert!(second.contains("grpc-status:8") || second.contains("grpc-status: 8"), "{second}");

    // The first message of a stream comes before its end.
    let rooms = proxy.call("LobbyService/WatchRooms", &[], "\0\0\0").await;
    assert!(rooms.starts_with("http/1.1 200 "), "{rooms}");
}

#[needs(nginx)]
#[tokio::test]
async fn nginx_passes_on_grpc_and_grpc_web_and_the_page() {
    let (_server, address) = server();
    let configure = |folder: &Path, port| {
        let place = folder.display();
        let site = include_str!("../../../deploy/nginx.conf")
            .replace("listen 443", &format!("listen 127.0.0.1:{port}"))
            .replace("127.0.0.1:50051", &address)
            .replace("reversi.example.org", "localhost")
            .replace("/etc/nginx/", &format!("{place}/"));
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = temporary.map(|of| format!("{of}_temp_path {place}/{of};")).concat();
        let all = format!(
            "daemon off;\nmaster_process off;\npid {place}/pid;\nerror_log stderr notice;\nevents {{}}\n\
            http {{ access_log off; {temporary}\n{site} }}\n"
        );
        fs::write(folder.join("nginx.conf"), all).unwrap();
    };
    let command = |folder: &Path| {
        let mut command = Command::new("/usr/sbin/nginx");
        command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf")).args(["-e", "stderr"]);
        command
    };
    let proxy = Proxy::start(configure, command, "getrlimit(RLIMIT_NOFILE)");
    serves_grpc_and_grpc_web_and_the_page(&proxy).await;
}

#[needs(caddy)]
#[tokio::test]
async fn caddy_passes_on_grpc_and_grpc_web_and_the_page() {
    let (_server, address) = server();
    let configure = |folder: &Path, port| {
        let place = folder.display();
        let site = include_str!("../../../deploy/Caddyfile").replace("127.0.0.1:50051", &address).replace(
            "\nreversi.example.org {",
            &format!("\nhttps://localhost:{port} {{\nbind 127.0.0.1\ntls {place}/reversi.pem {place}/reversi.key"),
        );
        fs::write(folder.join("Caddyfile"), format!("{{\nadmin off\nauto_https off\n}}\n{site}")).unwrap();
    };
    let command = |folder: &Path| {
        let mut command = Command::new("/usr/bin/caddy");
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(folder.join("Caddyfile"));
        command.env("HOME", folder).env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder);
        command
    };
    let proxy = Proxy::start(configure, command, "serving initial configuration");
    serves_grpc_and_grpc_web_and_the_page(&proxy).await;
}
