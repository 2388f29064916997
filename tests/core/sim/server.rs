//! One running server, and the state that its clients share.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use reversi::{
    room::{Command, Credentials, DisplayName, JoinCode, PasswordHash, PlayerId, PlayerKind, Request, RoomId},
    runtime::{LobbyUpdate, Player, RoomError, Row, RowFilter, RowKey, Runtime, request_with_id},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::sim::{
    event_log::{Action, Log, Outcome, SimEvent},
    grpc::{GrpcClient, GrpcServer},
    rng::Rng,
};

/// The hash of the password of all rooms that have one. A password is compared before a room sees it.
pub(crate) fn password() -> PasswordHash {
    PasswordHash([7; 32].into())
}

/// Maximum time for a server to stop.
const SHUTDOWN_TIME: Duration = Duration::from_secs(30);

/// Time in which clients read the ends of their streams.
const STREAMS_END: Duration = Duration::from_secs(1);

pub(crate) struct SimServer {
    pub(crate) runtime: Runtime,
    /// None if the clients call the runtime.
    pub(crate) grpc: Option<GrpcServer>,
    pub(crate) log: Arc<Log>,
    pub(crate) known: Arc<KnownIds>,
    /// Once cancelled, players only read.
    pub(crate) read_only: CancellationToken,
    /// Once cancelled, all players leave.
    pub(crate) leave: CancellationToken,
    pub(crate) tasks: TaskTracker,
    /// The room list as built from its updates; none if no stream is open.
    pub(crate) list: Mutex<Option<BTreeMap<RowKey, Row>>>,
}

/// What all players know.
#[derive(Default)]
pub(crate) struct KnownIds {
    rooms: Mutex<Vec<(RoomId, JoinCode)>>,
    players: Mutex<Vec<PlayerId>>,
}

impl KnownIds {
    /// All players that ever logged in.
    pub(crate) fn players(&self) -> Vec<PlayerId> {
        lock(&self.players).clone()
    }
}

/// Number of rooms remembered; most older ones are closed.
const ROOMS_KNOWN: usize = 8;

impl SimServer {
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let leave = self.leave.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = leave.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Stops the server. Returns whether that succeeded.
    pub(crate) async fn stop(&self) -> bool {
        let Some(grpc) = &self.grpc else { return self.runtime.shut_down(SHUTDOWN_TIME).await };
        self.log.begin_stop();
        let clean = grpc.stop().await;
        tokio::time::sleep(STREAMS_END).await;
        self.log.sort_stop();
        clean
    }

    /// Waits until a gRPC server begins to stop. From then on clients only read, since the order in which they learn of
    /// it is random.
    pub(crate) async fn stopping(&self) {
        match &self.grpc {
            Some(grpc) => grpc.stopping().cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Follows the room list as an extra player of that name.
    pub(crate) async fn follow_list(&self, name: &str) {
        let name = DisplayName::parse(name).expect("a name");
        let Ok((player, _)) = self.runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await else {
            return;
        };
        let Ok(mut watch) = self.runtime.streams.lobby(&player, RowFilter::default()) else { return };
        while let Ok(update) = watch.next().await {
            let mut list = lock(&self.list);
            match update {
                LobbyUpdate::Page { after, rows, .. } => {
                    if after.is_none() {
                        *list = None;
                    }
                    list.get_or_insert_default().extend(rows.into_iter().map(|row| (row.key(), row)));
                }
                LobbyUpdate::Changed { upserted, removed, .. } => {
                    let list = list.get_or_insert_default();
                    list.extend(upserted.into_iter().map(|row| (row.key(), row)));
                    list.retain(|key, _| !removed.contains(key));
                }
            }
        }
        *lock(&self.list) = None;
    }

    /// The room list as built from its updates.
    pub(crate) fn updated_list(&self) -> Option<Vec<Row>> {
        lock(&self.list).as_ref().map(|list| list.values().cloned().collect())
    }

    pub(crate) fn add_player(&self, player: PlayerId) {
        lock(&self.known.players).push(player);
    }

    pub(crate) fn any_player(&self, rng: &mut Rng) -> Option<PlayerId> {
        let players = lock(&self.known.players);
        (!players.is_empty()).then(|| rng.pick(&players))
    }

    pub(crate) fn add_room(&self, id: RoomId, code: JoinCode) {
        let mut rooms = lock(&self.known.rooms);
        if !rooms.iter().any(|(known, _)| *known == id) {
            rooms.push((id, code));
        }
    }

    pub(crate) fn any_room(&self, rng: &mut Rng) -> Option<RoomId> {
        let rooms = lock(&self.known.rooms);
        let latest = &rooms[rooms.len().saturating_sub(ROOMS_KNOWN)..];
        (!latest.is_empty()).then(|| rng.pick(latest).0)
    }

    /// Credentials that admit to every room.
    pub(crate) fn credentials(&self, room: RoomId) -> Credentials {
        Credentials { code: self.code(room), password: Some(password()) }
    }

    pub(crate) fn code(&self, room: RoomId) -> Option<JoinCode> {
        lock(&self.known.rooms).iter().find(|(known, _)| *known == room).map(|(_, code)| *code)
    }

    /// Records a request, under a new number.
    pub(crate) fn record_request(&self, client: usize, action: Action) -> u64 {
        let call = self.log.number();
        self.log.note(SimEvent::Requested { call, client, action });
        call
    }

    /// Performs a request, over gRPC if the client has a connection, and records the answer. Returns false if its
    /// outcome is unknown.
    pub(crate) async fn carry_out(
        &self,
        client: usize,
        player: &Arc<Player>,
        grpc: Option<&GrpcClient>,
        action: Action,
    ) -> bool {
        let mut call = Call { log: &self.log, number: self.record_request(client, action.clone()), answered: false };
        let outcome = match grpc {
            Some(grpc) => grpc.outcome(self, player.id(), action).await.unwrap_or_else(Outcome::from),
            None => self.outcome(player, action).await.unwrap_or_else(Outcome::Refused),
        };
        let known = match &outcome {
            Outcome::Refused(error) => !matches!(error, RoomError::StoreUnavailable | RoomError::Busy),
            Outcome::Failed(failure) => !failure.is_passing(),
            _ => true,
        };
        call.answered = true;
        self.log.note(SimEvent::Answered { call: call.number, outcome });
        known
    }

    async fn outcome(&self, player: &Arc<Player>, action: Action) -> Result<Outcome, RoomError> {
        // As the gRPC layer does; the rate does not matter here.
        let _ = player.admit();
        let runtime = &self.runtime;
        let made = match action {
            Action::LogIn | Action::LogOut => unreachable!("done by the client"),
            Action::Create(new, request) => runtime.rooms.create(player, *new, with_id(player, request)).await?,
            Action::Quick(opponent, side, settings, request) => {
                runtime.rooms.quick_start(player, opponent, side, Some(*settings), with_id(player, request)).await?
            }
            Action::Command(room, command) => {
                return Ok(Outcome::Done(runtime.rooms.command(player, room, command).await?.seq));
            }
            Action::SetSeat(room, seat, wish) => {
                return Ok(Outcome::Done(runtime.rooms.set_seat(player, room, seat, wish).await?.seq));
            }
            Action::Start(room, request) => {
                return Ok(Outcome::Done(runtime.rooms.start_game(player, room, with_id(player, request)).await?.seq));
            }
            Action::JoinByCode(code) => {
                let room = runtime.rooms.find(player, Some(code)).await?;
                let credentials = Credentials { code: Some(code), password: Some(password()) };
                let join = Command::Join(player.profile(), credentials);
                return Ok(Outcome::Joined(room, runtime.rooms.command(player, room, join).await?.seq));
            }
            Action::SetAvailability(accepted) => {
                runtime.sessions.set_availability(player, accepted).await?;
                return Ok(Outcome::AvailabilitySet);
            }
            Action::Play(game, ply, square) => {
                return Ok(Outcome::Done(runtime.rooms.play(player, game, ply, square).await?.seq));
            }
        };
        self.add_room(made.room.id(), made.room.code());
        Ok(Outcome::RoomCreated(made.room.id(), made.room.seq()))
    }
}

/// Records that a call was dropped without an answer.
struct Call<'a> {
    log: &'a Log,
    number: u64,
    answered: bool,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.log.note(SimEvent::Answered { call: self.number, outcome: Outcome::Dropped });
        }
    }
}

/// A player's request, which may have an id.
fn with_id(player: &Player, id: Option<String>) -> Option<Request> {
    id.map(|id| request_with_id(player.id(), &id, "", &[]))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
