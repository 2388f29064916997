//! A simulated person or bot with random actions, across all servers of a world.

use std::{collections::VecDeque, sync::Arc};

use reversi::{
    room::{DisplayName, TurnRequest},
    runtime::{LogInError, Notice, Player, Token},
};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::sim::{
    dice::Dice,
    manner::{Manner, abandoned},
    moment::{Deed, Outcome, What},
    onlooker,
    plan::Part,
    stage::SimServer,
    whim,
};

pub(crate) struct Person {
    who: usize,
    name: DisplayName,
    part: Part,
    pub(crate) dice: Dice,
    /// The token of the last log-in; valid across restarts.
    token: Option<Token>,
    /// The last request ids, for repeated requests.
    requests: Vec<String>,
    turns: Vec<Listening>,
    answers: VecDeque<(Instant, TurnRequest)>,
}

/// An open stream of turns. Another task reads it without delay.
struct Listening {
    notices: mpsc::Receiver<Notice>,
    _stop: DropGuard,
}

/// Capacity for unread notices; more than a stream ever has.
const UNREAD: usize = 10_000;

impl Person {
    pub(crate) fn new(seed: u64, who: usize, part: Part) -> Self {
        Self {
            who,
            name: DisplayName::parse(&format!("p{who}")).expect("a name"),
            part,
            dice: Dice::of(seed, 100 + who as u64),
            token: None,
            requests: Vec::new(),
            turns: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    /// Acts until the server ends or all players must leave.
    pub(crate) async fn live(&mut self, stage: &Arc<SimServer>) {
        (self.turns, self.answers) = (Vec::new(), VecDeque::new());
        loop {
            if let Some(player) = self.enter(stage).await {
                self.visit(stage, &player).await;
                self.turns.clear();
                self.answers.clear();
            }
            let pause = self.dice.millis(100..3_000);
            tokio::time::sleep(pause).await;
        }
    }

    async fn enter(&mut self, stage: &Arc<SimServer>) -> Option<Arc<Player>> {
        if let Some(token) = &self.token {
            let player = stage.runtime.players().bearer(token);
            stage.log.note(What::Returned { who: self.who, good: player.is_some() });
            if player.is_some() {
                return player;
            }
            self.token = None;
        }
        if stage.calm.is_cancelled() {
            return None;
        }
        let call = stage.ask(self.who, Deed::LogIn);
        let entered = stage.runtime.sessions.log_in(self.name.clone(), self.part.kind, self.part.seats).await;
        let outcome = match &entered {
            Ok((player, _)) => Outcome::In(player.id()),
            Err(error) => Outcome::NotIn(error.clone()),
        };
        stage.log.note(What::Answered { call, outcome });
        if matches!(entered, Err(LogInError::NameTaken)) {
            // After an unfinished log-out the old name may still be taken.
            self.name = DisplayName::parse(&format!("p{}-{call}", self.who)).expect("a name");
        }
        let (player, token) = entered.ok()?;
        self.token = Some(token);
        stage.meet(player.id());
        Some(player)
    }

    /// Acts from a log-in to a log-out.
    async fn visit(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>) {
        let mut listen_at = Some(Instant::now());
        let mut act_at = Instant::now() + self.dice.millis(0..1_500);
        loop {
            let answer_at = self.answers.front().map(|(at, _)| *at);
            tokio::select! {
                biased;
                notice = heard(&mut self.turns) => match notice {
                    Some(Notice::TurnRequested(request)) => self.consider(*request),
                    Some(_) => {}
                    None => listen_at = Some(Instant::now() + self.dice.millis(10..2_000)),
                },
                () = until(listen_at) => {
                    listen_at = None;
                    self.listen(stage, player).await;
                }
                () = until(answer_at), if !stage.calm.is_cancelled() => {
                    if let Some((_, request)) = self.answers.pop_front() {
                        self.answer(stage, player, &request).await;
                    }
                }
                () = until(Some(act_at)), if !stage.calm.is_cancelled() => {
                    if self.act(stage, player, &mut listen_at).await {
                        return;
                    }
                    act_at = Instant::now() + self.dice.millis(1..2_500);
                }
            }
        }
    }

    async fn listen(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>) {
        let _ = player.admit();
        let Ok(mut turns) = stage.runtime.streams.turns(player).await else { return };
        let stream = stage.log.number();
        stage.log.note(What::Opened { stream, who: self.who });
        let (sender, notices) = mpsc::channel(UNREAD);
        let stop = CancellationToken::new();
        self.turns.push(Listening { notices, _stop: stop.clone().drop_guard() });
        let log = Arc::clone(&stage.log);
        stage.spawn(async move {
            let end = loop {
                let next = tokio::select! {
                    biased;
                    () = stop.cancelled() => break None,
                    next = turns.next() => next,
                };
                match next {
                    Ok(notice) => {
                        log.note(What::Told { stream, notice: notice.clone() });
                        let _ = sender.try_send(notice);
                    }
                    Err(end) => break Some(end),
                }
            };
            log.note(What::Closed { stream, end });
        });
    }

    /// Plans the answer to a turn; sometimes none, sometimes several.
    fn consider(&mut self, request: TurnRequest) {
        let delay = match self.dice.below(100) {
            0..4 => return,
            4..8 => self.dice.millis(1_000..12_000),
            8..40 => self.dice.millis(0..600),
            _ => self.dice.millis(0..20),
        };
        let at = Instant::now() + delay;
        let place = self.answers.partition_point(|(earlier, _)| *earlier <= at);
        self.answers.insert(place, (at, request));
    }

    async fn answer(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>, request: &TurnRequest) {
        let legal: Vec<_> = request.position.legal_moves().iter().collect();
        let (mut square, mut ply) = (self.dice.pick(&legal), request.ply);
        match self.dice.below(100) {
            0..4 => square = reversi::rules::Square::ALL[self.dice.below(64)],
            4..6 => ply = (ply + 2).saturating_sub(self.dice.below(5) as u16),
            _ => {}
        }
        let answered = self.ask(stage, player, Deed::Play(request.game, ply, square)).await;
        if !answered && self.dice.percent(80) {
            self.answers.push_back((Instant::now() + self.dice.millis(1..800), *request));
        }
    }

    /// Performs a random action. Returns true if it was a log-out.
    async fn act(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>, listen_at: &mut Option<Instant>) -> bool {
        match self.dice.below(100) {
            0..5 if !self.turns.is_empty() => {
                self.turns.clear();
                *listen_at = Some(Instant::now() + self.dice.millis(0..30_000));
            }
            5..8 => *listen_at = Some(Instant::now()),
            8..18 => self.look_on(stage, player),
            18..20 => {
                let call = stage.ask(self.who, Deed::LogOut);
                let outcome = match stage.runtime.sessions.log_out(player).await {
                    Ok(()) => Outcome::Out,
                    Err(error) => Outcome::Refused(error),
                };
                stage.log.note(What::Answered { call, outcome });
                return true;
            }
            _ => {
                if let Some(deed) = self.choose(stage, player).await {
                    self.ask(stage, player, deed).await;
                }
            }
        }
        false
    }

    fn look_on(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>) {
        let Some(room) = stage.any_room(&mut self.dice) else { return };
        let dice = Dice::of(self.dice.bits(), 0);
        stage.spawn(onlooker::follow(Arc::clone(stage), Arc::clone(player), self.who, room, dice));
    }

    async fn choose(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>) -> Option<Deed> {
        let own = player.rooms();
        let at = if !own.is_empty() && self.dice.percent(75) {
            Some(self.dice.pick(&own))
        } else {
            stage.any_room(&mut self.dice)
        };
        let at = at.filter(|_| self.dice.percent(90));
        let Some(at) = at else { return Some(self.found(stage)) };
        let credentials = stage.credentials(at);
        match stage.runtime.rooms.snapshot(player, at, &credentials).await {
            Ok(snapshot) => whim::deed(&mut self.dice, player, &snapshot.room, stage),
            Err(_) if self.dice.percent(30) => Some(self.found(stage)),
            Err(_) => None,
        }
    }

    /// A request that creates a room, sometimes a repetition of an earlier one.
    fn found(&mut self, stage: &SimServer) -> Deed {
        let request = match self.dice.below(4) {
            0 => None,
            1 if !self.requests.is_empty() => Some(self.requests[self.dice.below(self.requests.len())].clone()),
            _ => {
                self.requests.push(format!("request {}", self.dice.bits()));
                self.requests.last().cloned()
            }
        };
        whim::founding(&mut self.dice, stage, request)
    }

    /// Makes a request in a random manner. Returns false if its outcome is unknown.
    async fn ask(&mut self, stage: &Arc<SimServer>, player: &Arc<Player>, deed: Deed) -> bool {
        let once = || stage.carry_out(self.who, player, deed.clone());
        match Manner::any(&mut self.dice) {
            Manner::Once => once().await,
            Manner::Again => once().await | once().await,
            Manner::Twice => {
                let (first, second) = futures_util::future::join(once(), once()).await;
                first | second
            }
            Manner::Abandoned(polls) => abandoned(polls, once()).await.unwrap_or(false),
            Manner::Cut(patience) => tokio::time::timeout(patience, once()).await.unwrap_or(false),
        }
    }
}

/// The next notice of the newest stream; none if it ended.
async fn heard(turns: &mut Vec<Listening>) -> Option<Notice> {
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
