//! A server in this process, its players, and the events that they receive.

use std::{future::Future, sync::Arc, time::Duration};

use reversi::{
    grpc,
    proto::v1::{self, play_event::Event, room_event, watch_room_response::Message},
    runtime::{Clock, Encode, Limits, NodeId, Parts, Peers, Pool, Runtime, Think, Token},
    store::{MemoryStore, Store},
};
use tokio::{
    net::TcpListener,
    task::JoinSet,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tonic::{
    Code, Request, Status, Streaming,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, Endpoint},
};
use tonic_types::{ErrorDetails, StatusExt as _};

/// Timeout of each wait; no test needs this long.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits for a result, at most until the timeout.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TIMEOUT, future).await.expect("timed out")
}

/// The options of a test server.
pub(crate) struct ServerOptions {
    pub(crate) limits: Limits,
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) think: Option<Arc<Think>>,
    pub(crate) ponder: bool,
    pub(crate) encode: Encode,
    pub(crate) access: grpc::Access,
    pub(crate) admin: Option<Token>,
    pub(crate) cluster: Option<(NodeId, Arc<dyn Peers>)>,
    pub(crate) pools: Vec<Pool>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let limits = Limits {
            drain: Duration::from_secs(5),
            chat_burst: 1_000,
            // All players have the same address, and most tests do not test limits by address.
            chats_per_second_per_address: 0,
            requests_per_second_per_address: 0,
            games_per_minute_per_address: 0,
            ..Limits::default()
        };
        Self {
            limits,
            store: Store::of(MemoryStore::default()),
            clock: Clock::default(),
            think: None,
            ponder: false,
            encode: grpc::encode,
            access: grpc::Access::default(),
            admin: None,
            cluster: None,
            pools: Vec::new(),
        }
    }
}

/// A running server.
pub(crate) struct TestServer {
    pub(crate) runtime: Runtime,
    pub(crate) address: String,
    shutdown: CancellationToken,
    served: JoinSet<bool>,
}

impl TestServer {
    pub(crate) async fn open() -> Self {
        Self::with(ServerOptions::default()).await
    }

    pub(crate) async fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        let mut plan = ServerOptions::default();
        change(&mut plan.limits);
        Self::with(plan).await
    }

    pub(crate) async fn with(plan: ServerOptions) -> Self {
        let mut parts = Parts {
            limits: plan.limits,
            clock: plan.clock,
            ai_threads: Some(1),
            ponder: plan.ponder,
            admin: plan.admin,
            cluster: plan.cluster,
            pools: plan.pools,
            ..Parts::new(plan.store, plan.encode)
        };
        if let Some(think) = plan.think {
            parts.think = Some(think);
        }
        let runtime = Runtime::start(parts).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (shutdown, mut served) = (CancellationToken::new(), JoinSet::new());
        let server = grpc::serve_with(runtime.clone(), listener, plan.access, shutdown.clone());
        served.spawn(async move { server.await.unwrap() });
        Self { runtime, address, shutdown, served }
    }

    pub(crate) async fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.address)).unwrap().connect().await.unwrap()
    }

    /// A caller without a token, from the address 127.0.0.`host`.
    pub(crate) async fn visitor_from(&self, host: u8) -> Player {
        Player::new(self.channel_from(host).await, v1::Player::default(), "")
    }

    /// A connection from the address 127.0.0.`host`.
    pub(crate) async fn channel_from(&self, host: u8) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        endpoint.local_address(Some([127, 0, 0, host].into())).connect().await.unwrap()
    }

    /// The player over a connection with a small receive window.
    pub(crate) async fn with_small_window(&self, player: &Player) -> Player {
        self.with_window(player, 65_535).await
    }

    /// The player over a connection with a receive window of `bytes` for each stream.
    pub(crate) async fn with_window(&self, player: &Player, bytes: u32) -> Player {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).unwrap();
        let channel = endpoint.initial_stream_window_size(bytes).connect().await.unwrap();
        Player::new(channel, player.profile.clone(), &player.token)
    }

    /// The player with an administrator's header on every call.
    pub(crate) async fn with_admin(&self, player: &Player, header: &str) -> Player {
        Player::with(self.channel().await, player.profile.clone(), &player.token, Some(header))
    }

    pub(crate) async fn human(&self, name: &str) -> Player {
        self.log_in(name, v1::PlayerKind::Human, 0).await
    }

    pub(crate) async fn bot(&self, name: &str) -> Player {
        self.log_in(name, v1::PlayerKind::Bot, 1).await
    }

    pub(crate) async fn log_in(&self, name: &str, kind: v1::PlayerKind, seats: i32) -> Player {
        Player::log_in(self.channel().await, name, kind, seats).await.unwrap()
    }

    /// Logs in a human from the address 127.0.0.`host`.
    pub(crate) async fn human_from(&self, host: u8, name: &str) -> Answer<Player> {
        Player::log_in(self.channel_from(host).await, name, v1::PlayerKind::Human, 0).await
    }

    /// Two humans in a running game; the first is the owner and plays black.
    pub(crate) async fn two_player_game(&self, settings: v1::RoomSettings) -> SeatedRoom {
        let (black, white) = (self.human("Bea").await, self.human("Wim").await);
        let made = black.create(settings).await;
        let (room, code) = (made.room_id, v1::join_room_request::Room::JoinCode(made.join_code));
        black.sit(&room, 0).await.unwrap();
        white.join_by(code, "").await.unwrap();
        white.sit(&room, 1).await.unwrap();
        white.ready(&room).await.unwrap();
        let game = black.start(&room).await.unwrap().game_id;
        SeatedRoom { black, white, room, game }
    }

    /// Starts the shutdown of the server.
    pub(crate) fn stop(&self) {
        self.shutdown.cancel();
    }

    /// Whether the server stopped cleanly.
    pub(crate) async fn stopped(&mut self) -> bool {
        within(self.served.join_next()).await.unwrap().unwrap()
    }
}

pub(crate) struct SeatedRoom {
    pub(crate) black: Player,
    pub(crate) white: Player,
    pub(crate) room: String,
    pub(crate) game: String,
}

impl SeatedRoom {
    /// Both continue with first legal moves, until the game has ended.
    pub(crate) async fn play_to_end(&self) -> v1::Game {
        loop {
            let game = self.black.room(&self.room).await.game.unwrap();
            let position = game.position.clone().unwrap();
            let player = match position.side_to_move() {
                v1::Side::Black => &self.black,
                v1::Side::White => &self.white,
                v1::Side::Unspecified => return game,
            };
            player.play(&self.game, game.ply, &position.legal_moves[0]).await.unwrap();
        }
    }
}

/// Adds a player's token to every call, unless it is empty.
#[derive(Clone)]
pub(crate) struct Bearer {
    player: Option<MetadataValue<Ascii>>,
    admin: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(player) = &self.player {
            request.metadata_mut().insert("authorization", player.clone());
        }
        if let Some(admin) = &self.admin {
            request.metadata_mut().insert("reversi-admin", admin.clone());
        }
        Ok(request)
    }
}

pub(crate) type AuthorizedChannel = InterceptedService<Channel, Bearer>;
pub(crate) type Answer<T> = Result<T, Status>;

/// A logged-in player with a separate connection.
#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) id: String,
    pub(crate) profile: v1::Player,
    pub(crate) token: String,
    pub(crate) channel: AuthorizedChannel,
}

impl Player {
    pub(crate) fn new(channel: Channel, profile: v1::Player, token: &str) -> Self {
        Self::with(channel, profile, token, None)
    }

    async fn log_in(channel: Channel, name: &str, kind: v1::PlayerKind, seats: i32) -> Answer<Self> {
        let request = v1::LogInRequest { display_name: name.into(), kind: kind.into(), seats, ..Default::default() };
        let mut sessions = v1::session_service_client::SessionServiceClient::new(channel.clone());
        let answer = sessions.log_in(request).await?.into_inner();
        Ok(Self::new(channel, answer.player.unwrap(), &answer.token))
    }

    fn with(channel: Channel, profile: v1::Player, token: &str, admin: Option<&str>) -> Self {
        let admin = admin.map(|admin| admin.parse().unwrap());
        let player = (!token.is_empty()).then(|| format!("Bearer {token}").parse().unwrap());
        let bearer = Bearer { player, admin };
        let channel = InterceptedService::new(channel, bearer);
        Self { id: profile.player_id.clone(), profile, token: token.to_owned(), channel }
    }

    pub(crate) fn sessions(&self) -> v1::session_service_client::SessionServiceClient<AuthorizedChannel> {
        v1::session_service_client::SessionServiceClient::new(self.channel.clone())
    }

    pub(crate) fn lobby(&self) -> v1::lobby_service_client::LobbyServiceClient<AuthorizedChannel> {
        v1::lobby_service_client::LobbyServiceClient::new(self.channel.clone())
    }

    pub(crate) fn rooms(&self) -> v1::room_service_client::RoomServiceClient<AuthorizedChannel> {
        v1::room_service_client::RoomServiceClient::new(self.channel.clone())
    }

    pub(crate) fn games(&self) -> v1::game_service_client::GameServiceClient<AuthorizedChannel> {
        v1::game_service_client::GameServiceClient::new(self.channel.clone())
    }

    pub(crate) fn records(&self) -> v1::record_service_client::RecordServiceClient<AuthorizedChannel> {
        v1::record_service_client::RecordServiceClient::new(self.channel.clone())
    }

    pub(crate) fn analyses(&self) -> v1::analysis_service_client::AnalysisServiceClient<AuthorizedChannel> {
        v1::analysis_service_client::AnalysisServiceClient::new(self.channel.clone())
    }

    pub(crate) async fn me(&self) -> v1::GetMeResponse {
        self.sessions().get_me(v1::GetMeRequest {}).await.unwrap().into_inner()
    }

    pub(crate) async fn info(&self) -> v1::GetServerInfoResponse {
        self.lobby().get_server_info(v1::GetServerInfoRequest {}).await.unwrap().into_inner()
    }

    pub(crate) async fn create(&self, settings: v1::RoomSettings) -> v1::Room {
        self.try_create(v1::CreateRoomRequest { settings: Some(settings), ..Default::default() }).await.unwrap()
    }

    pub(crate) async fn try_create(&self, request: v1::CreateRoomRequest) -> Answer<v1::Room> {
        Ok(self.lobby().create_room(request).await?.into_inner().room.unwrap())
    }

    /// A room with the named occupants: an AI kind, or `me` for the player.
    pub(crate) async fn create_with(&self, settings: v1::RoomSettings, seats: [&str; 2]) -> v1::Room {
        let seats = seats.map(|kind| v1::Seat { occupant: Some(occupant(kind)), ..Default::default() });
        let request = v1::CreateRoomRequest { settings: Some(settings), seats: seats.to_vec(), ..Default::default() };
        self.try_create(request).await.unwrap()
    }

    pub(crate) async fn quick_start_with_ai(&self, ai: &str, side: v1::SidePreference) -> Answer<v1::Room> {
        let ai = v1::AiSeat { kind: ai.into(), level: 0, seed: 7 };
        let request = v1::QuickStartRequest {
            opponent: Some(v1::quick_start_request::Opponent::Ai(ai)),
            side: side.into(),
            ..Default::default()
        };
        Ok(self.lobby().quick_start(request).await?.into_inner().room.unwrap())
    }

    pub(crate) async fn quick_start_with_anyone(&self) -> Answer<v1::Room> {
        let opponent = Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone::default()));
        let request = v1::QuickStartRequest { opponent, ..Default::default() };
        Ok(self.lobby().quick_start(request).await?.into_inner().room.unwrap())
    }

    pub(crate) async fn room(&self, id: &str) -> v1::Room {
        self.try_room(id).await.unwrap()
    }

    pub(crate) async fn try_room(&self, id: &str) -> Answer<v1::Room> {
        let request = v1::GetRoomRequest { room_id: id.into(), ..Default::default() };
        Ok(self.rooms().get_room(request).await?.into_inner().room.unwrap())
    }

    pub(crate) async fn join(&self, id: &str) -> Answer<v1::Room> {
        self.join_by(v1::join_room_request::Room::RoomId(id.into()), "").await
    }

    pub(crate) async fn join_by(&self, room: v1::join_room_request::Room, password: &str) -> Answer<v1::Room> {
        let request = v1::JoinRoomRequest { room: Some(room), password: password.into() };
        Ok(self.rooms().join_room(request).await?.into_inner().room.unwrap())
    }

    pub(crate) async fn leave(&self, room: &str) -> Answer<u64> {
        Ok(self.rooms().leave_room(v1::LeaveRoomRequest { room_id: room.into() }).await?.into_inner().seq)
    }

    pub(crate) async fn sit(&self, room: &str, seat: i32) -> Answer<u64> {
        Ok(self.rooms().take_seat(v1::TakeSeatRequest { room_id: room.into(), seat }).await?.into_inner().seq)
    }

    pub(crate) async fn ready(&self, room: &str) -> Answer<u64> {
        let request = v1::SetReadyRequest { room_id: room.into(), ready: true };
        Ok(self.rooms().set_ready(request).await?.into_inner().seq)
    }

    pub(crate) async fn start(&self, room: &str) -> Answer<v1::StartGameResponse> {
        let request = v1::StartGameRequest { room_id: room.into(), request_id: String::new() };
        Ok(self.rooms().start_game(request).await?.into_inner())
    }

    pub(crate) async fn close(&self, room: &str) -> Answer<u64> {
        Ok(self.rooms().close_room(v1::CloseRoomRequest { room_id: room.into() }).await?.into_inner().seq)
    }

    pub(crate) async fn kick(&self, room: &str, player: &str, ban: bool) -> Answer<u64> {
        let request = v1::KickMemberRequest { room_id: room.into(), player_id: player.into(), ban };
        Ok(self.rooms().kick_member(request).await?.into_inner().seq)
    }

    pub(crate) async fn chat(&self, room: &str, text: &str) -> Answer<u64> {
        let request = v1::PostChatRequest { room_id: room.into(), text: text.into() };
        Ok(self.rooms().post_chat(request).await?.into_inner().seq)
    }

    pub(crate) async fn set_seat(&self, room: &str, seat: i32, wish: v1::set_seat_request::Occupant) -> Answer<u64> {
        let request = v1::SetSeatRequest { room_id: room.into(), seat, occupant: Some(wish) };
        Ok(self.rooms().set_seat(request).await?.into_inner().seq)
    }

    pub(crate) async fn update_settings(&self, room: &str, path: &str, settings: v1::RoomSettings) -> Answer<u64> {
        let mask = prost_types::FieldMask { paths: vec![path.into()] };
        let request = v1::UpdateSettingsRequest {
            room_id: room.into(),
            settings: Some(settings),
            update_mask: Some(mask),
            ..Default::default()
        };
        Ok(self.rooms().update_settings(request).await?.into_inner().seq)
    }

    pub(crate) async fn play(&self, game: &str, ply: i32, square: &str) -> Answer<v1::PlayMoveResponse> {
        let request = v1::PlayMoveRequest { game_id: game.into(), ply, square: square.into() };
        Ok(self.games().play_move(request).await?.into_inner())
    }

    pub(crate) async fn resign(&self, game: &str) -> Answer<u64> {
        Ok(self.games().resign(v1::ResignRequest { game_id: game.into() }).await?.into_inner().seq)
    }

    pub(crate) async fn abort(&self, game: &str) -> Answer<u64> {
        Ok(self.games().abort_game(v1::AbortGameRequest { game_id: game.into() }).await?.into_inner().seq)
    }

    pub(crate) async fn list_rooms(&self) -> Vec<v1::RoomSummary> {
        self.lobby().list_rooms(v1::ListRoomsRequest::default()).await.unwrap().into_inner().rooms
    }

    pub(crate) async fn turns(&self) -> Turns {
        let stream = within(self.games().watch_turns(v1::WatchTurnsRequest::default())).await.unwrap();
        Turns { stream: stream.into_inner() }
    }

    pub(crate) async fn watch(&self, room: &str) -> Watcher {
        self.try_watch(room, None).await.unwrap()
    }

    pub(crate) async fn watch_after(&self, room: &str, seq: u64) -> Watcher {
        self.try_watch(room, Some(seq)).await.unwrap()
    }

    pub(crate) async fn try_watch(&self, room: &str, after_seq: Option<u64>) -> Answer<Watcher> {
        self.watch_with(v1::WatchRoomRequest { room_id: room.into(), after_seq, ..Default::default() }).await
    }

    pub(crate) async fn watch_with(&self, request: v1::WatchRoomRequest) -> Answer<Watcher> {
        Ok(Watcher { stream: within(self.rooms().watch_room(request)).await?.into_inner() })
    }
}

pub(crate) fn occupant(kind: &str) -> v1::seat::Occupant {
    match kind {
        "me" => v1::seat::Occupant::Player(v1::Player::default()),
        "open" => v1::seat::Occupant::Open(v1::OpenSeat {}),
        kind => v1::seat::Occupant::Ai(v1::AiSeat { kind: kind.into(), level: 0, seed: 5 }),
    }
}

/// The turn events of a player, without heartbeats.
pub(crate) struct Turns {
    stream: Streaming<v1::WatchTurnsResponse>,
}

impl Turns {
    /// The next event; none after the last.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        // Heartbeats do not extend the wait.
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let message = timeout_at(deadline, self.stream.message()).await.expect("timed out").unwrap()?;
            match message.event.unwrap().event.unwrap() {
                Event::Heartbeat(_) => {}
                event => return Some(event),
            }
        }
    }

    /// The first event for which `want` returns a value; skips the others.
    pub(crate) async fn until<T>(&mut self, mut want: impl FnMut(Event) -> Option<T>) -> T {
        loop {
            let event = self.next().await.expect("the stream is open");
            if let Some(wanted) = want(event) {
                return wanted;
            }
        }
    }

    pub(crate) async fn turn_request(&mut self) -> v1::TurnRequested {
        self.until(|event| match event {
            Event::TurnRequested(turn) => Some(turn),
            _ => None,
        })
        .await
    }

    pub(crate) async fn game_ended(&mut self) -> v1::PlayerGameEnded {
        self.until(|event| match event {
            Event::GameEnded(ended) => Some(ended),
            _ => None,
        })
        .await
    }

    /// The reason of the end. Checks that it is the last message.
    pub(crate) async fn close_reason(&mut self) -> v1::CloseReason {
        let reason = self
            .until(|event| match event {
                Event::Closing(closing) => Some(closing.reason()),
                _ => None,
            })
            .await;
        assert_eq!(self.next().await, None);
        reason
    }
}

/// The events of a watched room, without heartbeats.
pub(crate) struct Watcher {
    stream: Streaming<v1::WatchRoomResponse>,
}

impl Watcher {
    pub(crate) async fn next(&mut self) -> Option<Message> {
        // Heartbeats do not extend the wait.
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let message = timeout_at(deadline, self.stream.message()).await.expect("timed out").unwrap()?;
            match message.message.unwrap() {
                Message::Heartbeat(_) => {}
                message => return Some(message),
            }
        }
    }

    pub(crate) async fn snapshot(&mut self) -> v1::Room {
        match self.next().await {
            Some(Message::Snapshot(room)) => room,
            other => panic!("expected a snapshot, not {other:?}"),
        }
    }

    pub(crate) async fn event(&mut self) -> v1::RoomEvent {
        match self.next().await {
            Some(Message::Event(event)) => event,
            other => panic!("expected an event, not {other:?}"),
        }
    }

    /// The first event for which `want` returns a value; skips the others.
    pub(crate) async fn until<T>(&mut self, mut want: impl FnMut(room_event::Event) -> Option<T>) -> T {
        loop {
            if let Some(wanted) = want(self.event().await.event.unwrap()) {
                return wanted;
            }
        }
    }

    pub(crate) async fn close_reason(&mut self) -> v1::CloseReason {
        loop {
            match self.next().await.expect("the stream ends with a reason") {
                Message::Closing(closing) => {
                    assert_eq!(self.next().await, None);
                    return closing.reason();
                }
                _ => continue,
            }
        }
    }

    pub(crate) async fn game_ended(&mut self) -> v1::GameEnded {
        self.until(|event| if let room_event::Event::GameEnded(ended) = event { Some(ended) } else { None }).await
    }
}

/// The status of a call that must fail.
pub(crate) fn refusal<T>(answer: Answer<T>) -> Status {
    answer.err().expect("the call must fail")
}

/// Checks the code and the reason of a status, in the details and in the trailer.
#[track_caller]
pub(crate) fn check(what: &str, status: &Status, code: Code, reason: &str) -> ErrorDetails {
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("{what}: {status:?} has no ErrorInfo"));
    assert_eq!((status.code(), info.reason.as_str()), (code, reason), "{what}: {status:?}");
    assert_eq!(info.domain, "reversi", "{what}");
    assert_eq!(status.metadata().get("reversi-reason").unwrap(), reason, "{what}");
    let can_retry = matches!(code, Code::ResourceExhausted | Code::Unavailable);
    assert_eq!(details.retry_info().is_some(), can_retry, "{what}: retry delay");
    // It names the field of an invited player, but not that of a room.
    if reason != "NOT_ACCEPTED" {
        let names_field = code == Code::InvalidArgument && reason != "BAD_MESSAGE";
        assert_eq!(details.bad_request().is_some(), names_field, "{what}: field violations");
    }
    details
}

/// As [`check`], for the result of a call that must fail.
#[track_caller]
pub(crate) fn refused<T>(answer: Answer<T>, code: Code, reason: &str) -> ErrorDetails {
    check("refusal", &refusal(answer), code, reason)
}

/// The field named by the status of a call that must fail.
pub(crate) fn field(details: &ErrorDetails) -> &str {
    &details.bad_request().unwrap().field_violations[0].field
}

pub(crate) fn named(name: &str) -> v1::RoomSettings {
    v1::RoomSettings { name: name.into(), ..Default::default() }
}

pub(crate) fn private() -> v1::RoomSettings {
    v1::RoomSettings { visibility: v1::Visibility::Private.into(), ..Default::default() }
}

pub(crate) fn millis(millis: u64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration::try_from(Duration::from_millis(millis)).unwrap())
}
