//! The real server as a separate process, its log, and players that use it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use reversi::proto::v1::{
    self, game_service_client::GameServiceClient, lobby_service_client::LobbyServiceClient,
    record_service_client::RecordServiceClient, room_event, room_service_client::RoomServiceClient, seat,
    session_service_client::SessionServiceClient, watch_room_response::Message,
};
use tonic::{
    Request, Status, Streaming,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, Endpoint},
};

/// The server: `reversi`, or the bench, which runs as one.
const PROGRAM: &str = match (option_env!("CARGO_BIN_EXE_reversi"), option_env!("CARGO_BIN_EXE_reversi-bench")) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("only tests and benchmarks of a program use this"),
};

/// Timeout of each wait; no test needs this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server, killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
    /// While present, the log is not read.
    hold: Option<SyncSender<()>>,
    pub(crate) url: String,
}

impl Server {
    /// Starts `reversi serve` on a free port, with these further options.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::run(Command::new(PROGRAM), options)
    }

    /// As [`Server::start`], with a log that nobody reads until the server is stopped.
    pub(crate) fn start_without_log_reader(options: &[&str]) -> Self {
        let (hold, held) = sync_channel(0);
        Self::run_holding(Command::new(PROGRAM), options, Some(hold), held)
    }

    /// As [`Server::start`], with the signal for too large files ignored: writes beyond the limit fail instead.
    pub(crate) fn start_within_limits(options: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", PROGRAM]);
        Self::run(shell, options)
    }

    /// As [`Server::start_within_limits`], where no file can grow from the start.
    #[allow(dead_code, reason = "not used by benches/abuse.rs")]
    pub(crate) fn start_on_full_disk(options: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -S -f 0; exec \"$0\" \"$@\"", PROGRAM]);
        Self::run(shell, options)
    }

    /// As [`Server::start`], through a program that starts the command.
    #[allow(dead_code, reason = "used by benches/abuse")]
    pub(crate) fn start_by(starter: &[&str], options: &[&str]) -> Self {
        let mut command = Command::new(starter[0]);
        command.args(&starter[1..]).arg(PROGRAM);
        Self::run(command, options)
    }

    /// Kills a server while it starts, once `due` is true, or else when it listens.
    pub(crate) fn kill_at_start(options: &[&str], mut due: impl FnMut() -> bool) {
        let command = Command::new(PROGRAM);
        let mut server = Self::spawn(command, options, None, sync_channel(0).1);
        while !due() && server.lines.try_recv() == Err(TryRecvError::Empty) {
            thread::yield_now();
        }
        server.kill();
    }

    fn run(command: Command, options: &[&str]) -> Self {
        Self::run_holding(command, options, None, sync_channel(0).1)
    }

    /// The log is read after `held` is disconnected.
    fn run_holding(command: Command, options: &[&str], hold: Option<SyncSender<()>>, held: Receiver<()>) -> Self {
        let mut server = Self::spawn(command, options, hold, held);
        let address = server.wait_for_line("reversi is listening on ");
        server.url = if address.starts_with("unix:") { address } else { format!("http://{address}") };
        server
    }

    fn spawn(mut command: Command, options: &[&str], hold: Option<SyncSender<()>>, held: Receiver<()>) -> Self {
        // Without the variables of the tests' environment.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("REVERSI_")) {
            command.env_remove(name);
        }
        let is_stored = ["--data", "--store"].iter().any(|option| options.contains(option));
        let storage: &[&str] = if is_stored { &[] } else { &["--ephemeral"] };
        let listen: &[&str] = if options.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
        command.arg("serve").args(listen).args(storage).args(options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = sync_channel(100);
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut errors = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let _ = held.recv();
            let mut log = String::new();
            errors.read_to_string(&mut log).unwrap();
            log
        });
        Self { child, lines, log: Some(log), hold, url: String::new() }
    }

    /// The text after `intro`, up to the first space, on the next line that starts with it; also in JSON.
    pub(crate) fn wait_for_line(&mut self, intro: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(TIMEOUT) else {
                self.kill();
                panic!("no line starts with {intro:?}, but: {}", self.log.take().unwrap().join().unwrap());
            };
            if let Some((_, rest)) = line.split_once(intro) {
                return rest.split([' ', '"']).next().unwrap_or_default().to_owned();
            }
        }
    }

    /// Logs in a human, over a connection with a receive window of this many bytes for each stream.
    pub(crate) async fn log_in(&self, name: &str, window: u32) -> Player {
        let endpoint = Endpoint::from_shared(self.url.clone()).unwrap().initial_stream_window_size(window);
        let channel = endpoint.connect().await.unwrap();
        let request = v1::LogInRequest { display_name: name.into(), ..Default::default() };
        let token = SessionServiceClient::new(channel.clone()).log_in(request).await.unwrap().into_inner().token;
        Player::over(channel, token)
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Stops the process until [`Self::unfreeze`]. One of its threads takes the signal when it next runs, and stops the
    /// others: this waits until all have stopped.
    pub(crate) fn freeze(&self) {
        self.signal("STOP");
        let is_stopped = |thread: std::fs::DirEntry| {
            let state = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            state.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('T'))
        };
        let threads = format!("/proc/{}/task", self.child.id());
        // Without /proc they are stopped soon.
        while !std::fs::read_dir(&threads).into_iter().flatten().flatten().all(is_stopped) {
            std::thread::yield_now();
        }
    }

    pub(crate) fn unfreeze(&self) {
        self.signal("CONT");
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks the server to stop, and waits. Returns whether it stopped cleanly, and its log. Clients keep running
    /// meanwhile, so that they see the end of their streams.
    pub(crate) async fn stop(self) -> (bool, String) {
        self.signal("TERM");
        self.ended().await
    }

    /// Waits for the end. Returns whether it was a clean one, and the log.
    pub(crate) async fn ended(mut self) -> (bool, String) {
        let stopped = tokio::task::spawn_blocking(move || {
            self.hold = None;
            let clean = self.child.wait().unwrap().success();
            (clean, self.log.take().unwrap().join().unwrap())
        });
        stopped.await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

type AuthorizedChannel = InterceptedService<Channel, Bearer>;

/// A logged-in player.
#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) token: String,
    channel: AuthorizedChannel,
}

/// Adds a player's token to every call.
#[derive(Clone)]
pub(crate) struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

impl Player {
    /// A player who has logged in.
    pub(crate) fn over(channel: Channel, token: String) -> Self {
        let channel = InterceptedService::new(channel, Bearer(format!("Bearer {token}").parse().unwrap()));
        Self { token, channel }
    }

    /// Logs in a bot with this number of seats.
    pub(crate) async fn bot(url: &str, name: &str, seats: i32) -> Self {
        Self::try_bot(url, name, seats).await.unwrap()
    }

    pub(crate) async fn try_bot(url: &str, name: &str, seats: i32) -> Result<Self, Status> {
        let channel = Endpoint::from_shared(url.to_owned()).unwrap().connect().await.unwrap();
        let request = v1::LogInRequest {
            display_name: name.into(),
            kind: v1::PlayerKind::Bot.into(),
            seats,
            ..Default::default()
        };
        let answer = SessionServiceClient::new(channel.clone()).log_in(request).await?;
        Ok(Self::over(channel, answer.into_inner().token))
    }

    /// A player of an earlier log-in, over a new connection.
    pub(crate) async fn with_token(url: &str, token: &str) -> Self {
        let channel = Endpoint::from_shared(url.to_owned()).unwrap().connect().await.unwrap();
        Self::over(channel, token.to_owned())
    }

    pub(crate) async fn info(&self) -> v1::GetServerInfoResponse {
        self.lobby().get_server_info(v1::GetServerInfoRequest {}).await.unwrap().into_inner()
    }

    pub(crate) async fn turns(&self) -> Streaming<v1::WatchTurnsResponse> {
        self.games().watch_turns(v1::WatchTurnsRequest::default()).await.unwrap().into_inner()
    }

    pub(crate) async fn room(&self, id: &str) -> v1::Room {
        self.rooms()
            .get_room(v1::GetRoomRequest { room_id: id.into(), ..Default::default() })
            .await
            .unwrap()
            .into_inner()
            .room
            .unwrap()
    }

    /// Joins a room, takes a seat, and gets ready.
    pub(crate) async fn join_and_sit(&self, room: &str, seat: i32) {
        let by = v1::join_room_request::Room::RoomId(room.into());
        self.rooms().join_room(v1::JoinRoomRequest { room: Some(by), ..Default::default() }).await.unwrap();
        self.rooms().take_seat(v1::TakeSeatRequest { room_id: room.into(), seat }).await.unwrap();
        self.rooms().set_ready(v1::SetReadyRequest { room_id: room.into(), ready: true }).await.unwrap();
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<AuthorizedChannel> {
        SessionServiceClient::new(self.channel.clone())
    }

    pub(crate) fn lobby(&self) -> LobbyServiceClient<AuthorizedChannel> {
        LobbyServiceClient::new(self.channel.clone())
    }

    pub(crate) fn rooms(&self) -> RoomServiceClient<AuthorizedChannel> {
        RoomServiceClient::new(self.channel.clone())
    }

    pub(crate) fn games(&self) -> GameServiceClient<AuthorizedChannel> {
        GameServiceClient::new(self.channel.clone())
    }

    pub(crate) fn records(&self) -> RecordServiceClient<AuthorizedChannel> {
        RecordServiceClient::new(self.channel.clone())
    }

    /// A room with an AI of the named kind and level (`expert:13`) on each seat, or the player where it says `me`.
    pub(crate) async fn create(&self, settings: v1::RoomSettings, seats: [&str; 2]) -> v1::Room {
        self.create_locked(settings, seats, "").await
    }

    pub(crate) async fn create_locked(&self, settings: v1::RoomSettings, seats: [&str; 2], password: &str) -> v1::Room {
        let seats = seats.map(|kind| {
            let occupant = match kind {
                "me" => seat::Occupant::Player(v1::Player::default()),
                "open" => seat::Occupant::Open(v1::OpenSeat {}),
                kind => {
                    let (kind, level) = kind.split_once(':').unwrap_or((kind, "0"));
                    seat::Occupant::Ai(v1::AiSeat { kind: kind.into(), level: level.parse().unwrap(), seed: 7 })
                }
            };
            v1::Seat { occupant: Some(occupant), ..Default::default() }
        });
        let request = v1::CreateRoomRequest {
            settings: Some(settings),
            seats: seats.to_vec(),
            password: password.into(),
            ..Default::default()
        };
        self.lobby().create_room(request).await.unwrap().into_inner().room.unwrap()
    }

    pub(crate) async fn quick_start_with_anyone(&self) -> v1::Room {
        let opponent = Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone::default()));
        let request = v1::QuickStartRequest { opponent, ..Default::default() };
        self.lobby().quick_start(request).await.unwrap().into_inner().room.unwrap()
    }

    /// Starts a game. Returns its id.
    pub(crate) async fn start(&self, room: &str) -> String {
        let request = v1::StartGameRequest { room_id: room.into(), ..Default::default() };
        self.rooms().start_game(request).await.unwrap().into_inner().game_id
    }

    pub(crate) async fn play(&self, game: &str, ply: i32, square: &str) -> Result<(), Status> {
        let request = v1::PlayMoveRequest { game_id: game.into(), ply, square: square.into() };
        self.games().play_move(request).await.map(|_| ())
    }

    pub(crate) async fn watch(&self, room: &str) -> Streaming<v1::WatchRoomResponse> {
        self.watch_after(room, None).await
    }

    /// The events of a room after this one.
    pub(crate) async fn watch_after(&self, room: &str, after_seq: Option<u64>) -> Streaming<v1::WatchRoomResponse> {
        let request = v1::WatchRoomRequest { room_id: room.into(), after_seq, ..Default::default() };
        self.rooms().watch_room(request).await.unwrap().into_inner()
    }
}

/// The head and the text at a URL of the form `http://host:port/path`.
pub(crate) fn http_get(url: &str) -> (String, String) {
    let (address, _) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    http_get_of(url, address)
}

/// As [`http_get`], with this host in the request.
pub(crate) fn http_get_of(url: &str, host: &str) -> (String, String) {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), text.to_owned())
}

/// Reads events until the room has reached this one.
pub(crate) async fn read_until(watch: &mut Streaming<v1::WatchRoomResponse>, seq: u64) {
    loop {
        match watch.message().await.unwrap().unwrap().message.unwrap() {
            Message::Snapshot(room) if room.seq >= seq => return,
            Message::Event(event) if event.seq >= seq => return,
            Message::Closing(closing) => panic!("too few events: {closing:?}"),
            _ => {}
        }
    }
}

/// The reason of the end of a stream of turns.
pub(crate) async fn close_reason(turns: &mut Streaming<v1::WatchTurnsResponse>) -> v1::CloseReason {
    loop {
        let event =
            turns.message().await.unwrap().expect("the stream ends with a reason").event.unwrap().event.unwrap();
        if let v1::play_event::Event::Closing(closing) = event {
            return closing.reason();
        }
    }
}

/// Waits for an event of a room.
pub(crate) async fn wait_for_event(
    watch: &mut Streaming<v1::WatchRoomResponse>,
    wanted: impl Fn(&room_event::Event) -> bool,
) {
    loop {
        if let Message::Event(event) = watch.message().await.unwrap().unwrap().message.unwrap()
            && event.event.is_some_and(|event| wanted(&event))
        {
            return;
        }
    }
}
