//! A simulated client, human or bot, with random actions, across all servers of a simulation. What it does is chosen
//! with the state of the runtime; its requests and streams go to the runtime or over gRPC.

use std::{collections::VecDeque, sync::Arc};

use reversi::{
    room::{Command, DisplayName, GameId},
    rules::Position,
    runtime::{LogInError, Notice, Player, StreamEnd, Token, Turns},
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::sim::{
    call_pattern::{CallPattern, poll_at_most},
    event_log::{Action, Log, Outcome, SimEvent},
    grpc::{self, Failure, GrpcClient, PlayMoves},
    plan::ClientPlan,
    random_action,
    rng::Rng,
    server::SimServer,
    watcher,
};

pub(crate) struct Client {
    pub(crate) index: usize,
    name: DisplayName,
    plan: ClientPlan,
    pub(crate) rng: Rng,
    /// The token of the last log-in; valid across restarts.
    token: Option<Token>,
    /// Another server of the same cluster, if any, to which some requests are sent again.
    pub(crate) elsewhere: Option<Arc<SimServer>>,
    /// The connection to the server; none if it calls the runtime.
    grpc: Option<GrpcClient>,
    /// The requests with ids, to be repeated.
    requests: Vec<Action>,
    turns: Vec<TurnStream>,
    answers: VecDeque<(Instant, OpenTurn)>,
}

/// A turn of the client.
#[derive(Clone, Copy)]
pub(crate) struct OpenTurn {
    pub(crate) game: GameId,
    pub(crate) ply: u16,
    pub(crate) position: Position,
}

/// An open stream of turns. Another task reads it without delay.
struct TurnStream {
    number: u64,
    asked: mpsc::Receiver<OpenTurn>,
    /// Where moves can be sent on a `Play` stream.
    moves: Option<PlayMoves>,
    _stop: DropGuard,
}

/// Capacity for unread turns; more than a stream ever has.
const UNREAD: usize = 10_000;

impl Client {
    pub(crate) fn new(seed: u64, index: usize, plan: ClientPlan) -> Self {
        Self {
            index,
            name: DisplayName::parse(&format!("p{index}")).expect("a name"),
            plan,
            rng: Rng::seeded(seed, 100 + index as u64),
            token: None,
            elsewhere: None,
            grpc: None,
            requests: Vec::new(),
            turns: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    /// Acts until the server ends or all players must leave.
    pub(crate) async fn run(&mut self, server: &Arc<SimServer>) {
        (self.turns, self.answers) = (Vec::new(), VecDeque::new());
        self.grpc = server.grpc.as_ref().map(|grpc| GrpcClient::new(grpc, self.token.as_ref(), &mut self.rng));
        loop {
            if let Some(player) = self.log_in(server).await {
                self.act_until_log_out(server, &player).await;
                self.turns.clear();
                self.answers.clear();
            }
            let pause = self.rng.millis(100..3_000);
            if tokio::time::timeout(pause, server.stopping()).await.is_ok() {
                return;
            }
        }
    }

    /// Drops the streams and the connection.
    pub(crate) fn disconnect(&mut self) {
        self.turns.clear();
        self.grpc = None;
    }

    async fn log_in(&mut self, server: &Arc<SimServer>) -> Option<Arc<Player>> {
        if self.token.is_some() {
            let player = self.resume(server).await;
            if player.is_some() || self.token.is_some() {
                return player;
            }
        }
        if server.read_only.is_cancelled() {
            return None;
        }
        let call = server.record_request(self.index, Action::LogIn);
        let result = self.new_player(server).await;
        let name_taken = match &result {
            Err(Outcome::LogInFailed(error)) => *error == LogInError::NameTaken,
            Err(Outcome::Failed(failure)) => failure.is("NAME_TAKEN"),
            _ => false,
        };
        let (outcome, made) = match result {
            Ok((player, token)) => (Outcome::LoggedIn(player.id()), Some((player, token))),
            Err(outcome) => (outcome, None),
        };
        server.log.note(SimEvent::Answered { call, outcome });
        if name_taken {
            // After an unfinished log-out the old name may still be taken.
            self.name = DisplayName::parse(&format!("p{}-{call}", self.index)).expect("a name");
        }
        let (player, token) = made?;
        self.token = Some(token);
        server.add_player(player.id());
        Some(player)
    }

    /// The player with the client's token. Forgets the token if it is not valid any more.
    async fn resume(&mut self, server: &SimServer) -> Option<Arc<Player>> {
        let player = match &self.grpc {
            None => match server.runtime.sessions.bearer(self.token.as_ref()?).await {
                Ok(player) => player,
                Err(_) => return None,
            },
            Some(grpc) => match grpc.me().await {
                Ok(player) => server.runtime.players().get(player),
                Err(status) if Failure::from(&status).is("TOKEN_INVALID") => None,
                Err(status) => {
                    let failure = Failure::from(&status);
                    server.log.note(SimEvent::StreamFailed { client: self.index, stream: None, failure });
                    return None;
                }
            },
        };
        server.log.note(SimEvent::TokenUsed { client: self.index, valid: player.is_some() });
        if player.is_none() {
            self.token = None;
        }
        player
    }

    async fn new_player(&mut self, server: &SimServer) -> Result<(Arc<Player>, Token), Outcome> {
        let Some(grpc) = &mut self.grpc else {
            let made =
                server.runtime.sessions.log_in(self.name.clone(), self.plan.kind, self.plan.seats, None, None).await;
            return made.map_err(Outcome::LogInFailed);
        };
        let (player, token) = grpc.log_in(&self.name, &self.plan).await?;
        let player = server.runtime.players().get(player).expect("a player that is logged in");
        Ok((player, token))
    }

    /// Acts from a log-in to a log-out, or until the server stops.
    async fn act_until_log_out(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) {
        let mut open_turns_at = Some(Instant::now());
        let mut act_at = Instant::now() + self.rng.millis(0..1_500);
        loop {
            let answer_at = self.answers.front().map(|(at, _)| *at);
            tokio::select! {
                biased;
                () = server.stopping() => std::future::pending().await,
                turn = next_turn(&mut self.turns) => match turn {
                    Some(turn) => self.plan_answer(turn),
                    None => open_turns_at = Some(Instant::now() + self.rng.millis(10..2_000)),
                },
                () = until(open_turns_at) => {
                    let opened = self.open_turns(server, player).await;
                    open_turns_at = (!opened).then(|| Instant::now() + self.rng.millis(100..3_000));
                }
                () = until(answer_at), if !server.read_only.is_cancelled() => {
                    if let Some((_, turn)) = self.answers.pop_front() {
                        self.answer(server, player, turn).await;
                    }
                }
                () = until(Some(act_at)), if !server.read_only.is_cancelled() => {
                    if self.act(server, player, &mut open_turns_at).await {
                        return;
                    }
                    act_at = Instant::now() + self.rng.millis(1..2_500);
                }
            }
        }
    }

    /// Opens a stream of turns. Returns false if it is refused.
    async fn open_turns(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) -> bool {
        let (sender, asked) = mpsc::channel(UNREAD);
        let stop = CancellationToken::new();
        let (client, stopped) = (self.index, stop.clone());
        let opened = |stream| server.log.note(SimEvent::TurnsOpened { stream, client });
        let (shared, number) = (Arc::clone(server), server.log.number());
        let moves = if let Some(grpc) = &self.grpc {
            let (events, moves) = match grpc.turns(self.rng.percent(60)).await {
                Ok(turns) => turns,
                Err(status) => {
                    server.log.note(SimEvent::StreamFailed { client, stream: None, failure: Failure::from(&status) });
                    return false;
                }
            };
            opened(number);
            server.spawn(async move {
                let end = grpc::read_turns(&shared, (client, number), events, &sender, &stopped).await;
                shared.log.note(SimEvent::TurnsClosed { stream: number, end });
            });
            moves
        } else {
            let _ = player.admit();
            let Ok(turns) = server.runtime.streams.turns(player).await else { return false };
            opened(number);
            server.spawn(async move {
                let mut open = OpenTurns { log: &shared.log, stream: number, end: None };
                open.end = read_turns(&shared, number, turns, &sender, &stopped).await;
            });
            None
        };
        self.turns.push(TurnStream { number, asked, moves, _stop: stop.drop_guard() });
        true
    }

    /// Plans the answer to a turn; sometimes none, sometimes several.
    fn plan_answer(&mut self, turn: OpenTurn) {
        let delay = match self.rng.below(100) {
            0..4 => return,
            4..8 => self.rng.millis(1_000..12_000),
            8..40 => self.rng.millis(0..600),
            _ => self.rng.millis(0..20),
        };
        let at = Instant::now() + delay;
        let place = self.answers.partition_point(|(earlier, _)| *earlier <= at);
        self.answers.insert(place, (at, turn));
    }

    async fn answer(&mut self, server: &Arc<SimServer>, player: &Arc<Player>, turn: OpenTurn) {
        let legal: Vec<_> = turn.position.legal_moves().iter().collect();
        let (mut square, mut ply) = (self.rng.pick(&legal), turn.ply);
        match self.rng.below(100) {
            0..4 => square = reversi::rules::Square::ALL[self.rng.below(64)],
            4..6 => ply = (ply + 2).saturating_sub(self.rng.below(5) as u16),
            _ => {}
        }
        if let Some(TurnStream { number, moves: Some(moves), .. }) = self.turns.last()
            && self.rng.percent(80)
        {
            let (stream, game) = (*number, turn.game);
            server.log.note(SimEvent::MoveSent { stream, game, ply, square });
            moves.send(game, ply, square);
            return;
        }
        let answered = self.perform(server, player, Action::Play(turn.game, ply, square)).await;
        if !answered && self.rng.percent(80) {
            self.answers.push_back((Instant::now() + self.rng.millis(1..800), turn));
        }
    }

    /// Performs a random action. Returns true if it was a log-out.
    async fn act(
        &mut self,
        server: &Arc<SimServer>,
        player: &Arc<Player>,
        open_turns_at: &mut Option<Instant>,
    ) -> bool {
        match self.rng.below(100) {
            0..5 if !self.turns.is_empty() => {
                self.turns.clear();
                *open_turns_at = Some(Instant::now() + self.rng.millis(0..30_000));
            }
            5..8 => *open_turns_at = Some(Instant::now()),
            8..11 if self.grpc.is_some() => self.cut_connection(server),
            8..18 => self.start_watcher(server, player),
            18..20 => {
                let call = server.record_request(self.index, Action::LogOut);
                let logged_out = match &self.grpc {
                    None => server.runtime.sessions.log_out(player, false).await.map_err(Outcome::Refused),
                    Some(grpc) => grpc.log_out().await.map_err(Outcome::from),
                };
                let outcome = logged_out.map_or_else(|failed| failed, |()| Outcome::LoggedOut);
                server.log.note(SimEvent::Answered { call, outcome });
                return true;
            }
            _ => {
                if let Some(action) = self.choose_action(server, player).await {
                    self.perform(server, player, action).await;
                }
            }
        }
        false
    }

    fn cut_connection(&self, server: &SimServer) {
        server.log.note(SimEvent::ConnectionCut { client: self.index });
        if let Some(grpc) = &self.grpc {
            grpc.cut();
        }
    }

    fn start_watcher(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) {
        let Some(room) = server.any_room(&mut self.rng) else { return };
        let rng = Rng::seeded(self.rng.bits(), 0);
        let shared = Arc::clone(server);
        match &self.grpc {
            None => server.spawn(watcher::watch_room(shared, Arc::clone(player), self.index, room, rng)),
            Some(grpc) => server.spawn(grpc::watch_room(shared, grpc.clone(), self.index, room, rng)),
        }
    }

    async fn choose_action(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) -> Option<Action> {
        if self.rng.percent(3) {
            return Some(random_action::set_availability(&mut self.rng));
        }
        let own = player.rooms();
        let at = if !own.is_empty() && self.rng.percent(75) {
            Some(self.rng.pick(&own))
        } else {
            server.any_room(&mut self.rng)
        };
        let at = at.filter(|_| self.rng.percent(90));
        let Some(at) = at else { return Some(self.create_room(server)) };
        if !own.contains(&at)
            && self.rng.percent(25)
            && let Some(code) = server.code(at)
        {
            return Some(Action::JoinByCode(code));
        }
        let credentials = server.credentials(at);
        match server.runtime.rooms.snapshot(player, at, &credentials).await {
            Ok(snapshot) => random_action::in_room(&mut self.rng, player, &snapshot.room, server),
            Err(_) if self.rng.percent(30) => Some(self.create_room(server)),
            Err(_) => None,
        }
    }

    /// A request that creates a room, sometimes a repetition of an earlier one.
    fn create_room(&mut self, server: &SimServer) -> Action {
        let request = match self.rng.below(4) {
            0 => None,
            1 if !self.requests.is_empty() => {
                return self.requests[self.rng.below(self.requests.len())].clone();
            }
            _ => Some(format!("request {}", self.rng.bits())),
        };
        let is_kept = request.is_some();
        let action = random_action::create_room(&mut self.rng, server, request);
        self.requests.extend(is_kept.then(|| action.clone()));
        action
    }

    /// Makes a request in a random call pattern. Returns false if its outcome is unknown.
    async fn perform(&mut self, server: &Arc<SimServer>, player: &Arc<Player>, mut action: Action) -> bool {
        if self.grpc.is_some() {
            remove_password(&mut action);
        }
        let (index, grpc) = (self.index, self.grpc.as_ref());
        let once = || server.carry_out(index, player, grpc, action.clone());
        let (elsewhere, token) = (self.elsewhere.clone(), self.token.clone());
        let again = async {
            if let Some((server, token)) = elsewhere.zip(token)
                && let Ok(Some(player)) = server.runtime.sessions.bearer(&token).await
            {
                return server.carry_out(index, &player, None, action.clone()).await;
            }
            once().await
        };
        match CallPattern::random(&mut self.rng) {
            CallPattern::Once => once().await,
            CallPattern::Repeated => once().await | again.await,
            CallPattern::Concurrent => {
                let (first, second) = futures_util::future::join(once(), again).await;
                first | second
            }
            CallPattern::DroppedAfterPolls(polls) => poll_at_most(polls, once()).await.unwrap_or(false),
            CallPattern::DroppedAfterTime(limit) => tokio::time::timeout(limit, once()).await.unwrap_or(false),
        }
    }
}

/// Over gRPC a password is hashed in another thread, in real time.
fn remove_password(action: &mut Action) {
    match action {
        Action::Create(new, _) => new.settings.password = None,
        Action::Command(_, Command::Configure(settings, _)) => settings.password = None,
        _ => {}
    }
}

/// Records the end of a stream of turns, also when its task is dropped.
struct OpenTurns<'a> {
    log: &'a Log,
    stream: u64,
    end: Option<StreamEnd>,
}

impl Drop for OpenTurns<'_> {
    fn drop(&mut self) {
        self.log.note(SimEvent::TurnsClosed { stream: self.stream, end: self.end });
    }
}

/// Reads a stream of turns until it ends or `stop` is cancelled. Returns why the server ended it.
async fn read_turns(
    server: &SimServer,
    stream: u64,
    mut turns: Turns,
    asked: &mpsc::Sender<OpenTurn>,
    stop: &CancellationToken,
) -> Option<StreamEnd> {
    loop {
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            next = turns.next() => next,
        };
        let notice = match next {
            Ok(notice) => notice,
            Err(end) => return Some(end),
        };
        if let Notice::TurnRequested(request) = &notice {
            let _ = asked.try_send(OpenTurn { game: request.game, ply: request.ply, position: request.position });
        }
        server.log.note(SimEvent::NoticeReceived { stream, notice });
    }
}

/// The next turn of the newest stream; none if it ended.
async fn next_turn(turns: &mut Vec<TurnStream>) -> Option<OpenTurn> {
    let Some(newest) = turns.last_mut() else { return std::future::pending().await };
    let turn = newest.asked.recv().await;
    if turn.is_none() {
        turns.clear();
    }
    turn
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
