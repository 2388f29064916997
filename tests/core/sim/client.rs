//! A simulated client, human or bot, with random actions, across all servers of a simulation.

use std::{collections::VecDeque, sync::Arc};

use reversi::{
    room::{DisplayName, TurnRequest},
    runtime::{LogInError, Notice, Player, Token},
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::sim::{
    call_pattern::{CallPattern, poll_at_most},
    event_log::{Action, Outcome, SimEvent},
    plan::ClientPlan,
    random_action,
    rng::Rng,
    server::SimServer,
    watcher,
};

pub(crate) struct Client {
    index: usize,
    name: DisplayName,
    plan: ClientPlan,
    pub(crate) rng: Rng,
    /// The token of the last log-in; valid across restarts.
    token: Option<Token>,
    /// The last request ids, for repeated requests.
    requests: Vec<String>,
    turns: Vec<TurnStream>,
    answers: VecDeque<(Instant, TurnRequest)>,
}

/// An open stream of turns. Another task reads it without delay.
struct TurnStream {
    notices: mpsc::Receiver<Notice>,
    _stop: DropGuard,
}

/// Capacity for unread notices; more than a stream ever has.
const UNREAD: usize = 10_000;

impl Client {
    pub(crate) fn new(seed: u64, index: usize, plan: ClientPlan) -> Self {
        Self {
            index,
            name: DisplayName::parse(&format!("p{index}")).expect("a name"),
            plan,
            rng: Rng::seeded(seed, 100 + index as u64),
            token: None,
            requests: Vec::new(),
            turns: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    /// Acts until the server ends or all players must leave.
    pub(crate) async fn run(&mut self, server: &Arc<SimServer>) {
        (self.turns, self.answers) = (Vec::new(), VecDeque::new());
        loop {
            if let Some(player) = self.log_in(server).await {
                self.act_until_log_out(server, &player).await;
                self.turns.clear();
                self.answers.clear();
            }
            let pause = self.rng.millis(100..3_000);
            tokio::time::sleep(pause).await;
        }
    }

    async fn log_in(&mut self, server: &Arc<SimServer>) -> Option<Arc<Player>> {
        if let Some(token) = &self.token {
            let player = server.runtime.players().bearer(token);
            server.log.note(SimEvent::TokenUsed { client: self.index, valid: player.is_some() });
            if player.is_some() {
                return player;
            }
            self.token = None;
        }
        if server.read_only.is_cancelled() {
            return None;
        }
        let call = server.record_request(self.index, Action::LogIn);
        let result = server.runtime.sessions.log_in(self.name.clone(), self.plan.kind, self.plan.seats, None).await;
        let outcome = match &result {
            Ok((player, _)) => Outcome::LoggedIn(player.id()),
            Err(error) => Outcome::LogInFailed(error.clone()),
        };
        server.log.note(SimEvent::Answered { call, outcome });
        if matches!(result, Err(LogInError::NameTaken)) {
            // After an unfinished log-out the old name may still be taken.
            self.name = DisplayName::parse(&format!("p{}-{call}", self.index)).expect("a name");
        }
        let (player, token) = result.ok()?;
        self.token = Some(token);
        server.add_player(player.id());
        Some(player)
    }

    /// Acts from a log-in to a log-out.
    async fn act_until_log_out(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) {
        let mut open_turns_at = Some(Instant::now());
        let mut act_at = Instant::now() + self.rng.millis(0..1_500);
        loop {
            let answer_at = self.answers.front().map(|(at, _)| *at);
            tokio::select! {
                biased;
                notice = next_notice(&mut self.turns) => match notice {
                    Some(Notice::TurnRequested(request)) => self.plan_answer(*request),
                    Some(_) => {}
                    None => open_turns_at = Some(Instant::now() + self.rng.millis(10..2_000)),
                },
                () = until(open_turns_at) => {
                    open_turns_at = None;
                    self.open_turns(server, player).await;
                }
                () = until(answer_at), if !server.read_only.is_cancelled() => {
                    if let Some((_, request)) = self.answers.pop_front() {
                        self.answer(server, player, &request).await;
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

    async fn open_turns(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) {
        let _ = player.admit();
        let Ok(mut turns) = server.runtime.streams.turns(player).await else { return };
        let stream = server.log.number();
        server.log.note(SimEvent::TurnsOpened { stream, client: self.index });
        let (sender, notices) = mpsc::channel(UNREAD);
        let stop = CancellationToken::new();
        self.turns.push(TurnStream { notices, _stop: stop.clone().drop_guard() });
        let log = Arc::clone(&server.log);
        server.spawn(async move {
            let end = loop {
                let next = tokio::select! {
                    biased;
                    () = stop.cancelled() => break None,
                    next = turns.next() => next,
                };
                match next {
                    Ok(notice) => {
                        log.note(SimEvent::NoticeReceived { stream, notice: notice.clone() });
                        let _ = sender.try_send(notice);
                    }
                    Err(end) => break Some(end),
                }
            };
            log.note(SimEvent::TurnsClosed { stream, end });
        });
    }

    /// Plans the answer to a turn; sometimes none, sometimes several.
    fn plan_answer(&mut self, request: TurnRequest) {
        let delay = match self.rng.below(100) {
            0..4 => return,
            4..8 => self.rng.millis(1_000..12_000),
            8..40 => self.rng.millis(0..600),
            _ => self.rng.millis(0..20),
        };
        let at = Instant::now() + delay;
        let place = self.answers.partition_point(|(earlier, _)| *earlier <= at);
        self.answers.insert(place, (at, request));
    }

    async fn answer(&mut self, server: &Arc<SimServer>, player: &Arc<Player>, request: &TurnRequest) {
        let legal: Vec<_> = request.position.legal_moves().iter().collect();
        let (mut square, mut ply) = (self.rng.pick(&legal), request.ply);
        match self.rng.below(100) {
            0..4 => square = reversi::rules::Square::ALL[self.rng.below(64)],
            4..6 => ply = (ply + 2).saturating_sub(self.rng.below(5) as u16),
            _ => {}
        }
        let answered = self.perform(server, player, Action::Play(request.game, ply, square)).await;
        if !answered && self.rng.percent(80) {
            self.answers.push_back((Instant::now() + self.rng.millis(1..800), *request));
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
            8..18 => self.start_watcher(server, player),
            18..20 => {
                let call = server.record_request(self.index, Action::LogOut);
                let outcome = match server.runtime.sessions.log_out(player, false).await {
                    Ok(()) => Outcome::LoggedOut,
                    Err(error) => Outcome::Refused(error),
                };
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

    fn start_watcher(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) {
        let Some(room) = server.any_room(&mut self.rng) else { return };
        let rng = Rng::seeded(self.rng.bits(), 0);
        server.spawn(watcher::watch_room(Arc::clone(server), Arc::clone(player), self.index, room, rng));
    }

    async fn choose_action(&mut self, server: &Arc<SimServer>, player: &Arc<Player>) -> Option<Action> {
        let own = player.rooms();
        let at = if !own.is_empty() && self.rng.percent(75) {
            Some(self.rng.pick(&own))
        } else {
            server.any_room(&mut self.rng)
        };
        let at = at.filter(|_| self.rng.percent(90));
        let Some(at) = at else { return Some(self.create_room(server)) };
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
            1 if !self.requests.is_empty() => Some(self.requests[self.rng.below(self.requests.len())].clone()),
            _ => {
                self.requests.push(format!("request {}", self.rng.bits()));
                self.requests.last().cloned()
            }
        };
        random_action::create_room(&mut self.rng, server, request)
    }

    /// Makes a request in a random call pattern. Returns false if its outcome is unknown.
    async fn perform(&mut self, server: &Arc<SimServer>, player: &Arc<Player>, action: Action) -> bool {
        let once = || server.carry_out(self.index, player, action.clone());
        match CallPattern::random(&mut self.rng) {
            CallPattern::Once => once().await,
            CallPattern::Repeated => once().await | once().await,
            CallPattern::Concurrent => {
                let (first, second) = futures_util::future::join(once(), once()).await;
                first | second
            }
            CallPattern::DroppedAfterPolls(polls) => poll_at_most(polls, once()).await.unwrap_or(false),
            CallPattern::DroppedAfterTime(limit) => tokio::time::timeout(limit, once()).await.unwrap_or(false),
        }
    }
}

/// The next notice of the newest stream; none if it ended.
async fn next_notice(turns: &mut Vec<TurnStream>) -> Option<Notice> {
    let Some(newest) = turns.last_mut() else { return std::future::pending().await };
    let notice = newest.notices.recv().await;
    if notice.is_none() {
        turns.clear();
    }
    notice
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
