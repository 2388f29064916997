//! Two bots in a room that play one game after another.

use std::{sync::Arc, time::Duration};

use reversi::{
    proto::v1,
    rules::{ByColor, Color},
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use v1::play_event::Event;

use crate::{
    connection::{BenchPlayer, Connections},
    counters::Counters,
    fixed_game::{FixedGame, FixedTurn},
    player_check::{BotSignal, PlayerCheck, SERIES},
    violation::Violation,
    watchers::WatchedRoom,
};

/// Two seated bots.
pub(crate) struct BotPair {
    pub(crate) number: usize,
    pub(crate) room: String,
    bots: ByColor<PairBot>,
}

struct PairBot {
    player: BenchPlayer,
    turns: TurnStream,
}

/// The streams of turns and moves.
enum TurnStream {
    /// Both on one stream.
    Play { down: Streaming<v1::PlayResponse>, up: mpsc::Sender<v1::PlayRequest> },
    /// A stream for turns, and a call for each move.
    Calls(Streaming<v1::WatchTurnsResponse>),
}

/// The options and counters that all pairs share.
pub(crate) struct PairOptions {
    pub(crate) fixed_game: Arc<FixedGame>,
    pub(crate) counters: Arc<Counters>,
    /// The time between two moves of a room; zero for no wait.
    pub(crate) pace: Duration,
    pub(crate) stop: CancellationToken,
    /// Number of rooms in which a turn was requested.
    pub(crate) started: watch::Sender<usize>,
}

impl BotPair {
    /// Logs in the bots of pair `number`, and seats them in a new room. If `unary`, they send moves by calls.
    pub(crate) async fn seat(connections: Arc<Connections>, number: usize, unary: bool) -> anyhow::Result<Self> {
        let black = PairBot::begin(connections.get(2 * number).await?, &format!("black {number}"), unary).await?;
        let white = PairBot::begin(connections.get(2 * number + 1).await?, &format!("white {number}"), unary).await?;
        let settings = v1::RoomSettings {
            games: i32::try_from(SERIES).unwrap_or(i32::MAX),
            swap_sides: Some(false),
            auto_start: true,
            ..Default::default()
        };
        let me = v1::seat::Occupant::Player(v1::Player::default());
        let seats = [me, v1::seat::Occupant::Open(v1::OpenSeat {})];
        let seats = seats.map(|occupant| v1::Seat { occupant: Some(occupant), ..Default::default() });
        let room = black.player.create(settings, seats).await?;
        let named = v1::join_room_request::Room::RoomId(room.clone());
        let join = v1::JoinRoomRequest { room: Some(named), ..Default::default() };
        white.player.rooms().join_room(white.player.request(join)).await?;
        let take = v1::TakeSeatRequest { room_id: room.clone(), seat: 1 };
        white.player.rooms().take_seat(white.player.request(take)).await?;
        Ok(Self { number, room, bots: ByColor::new(black, white) })
    }

    pub(crate) fn players(&self) -> [BenchPlayer; 2] {
        [self.bots.black.player.clone(), self.bots.white.player.clone()]
    }

    /// Reads heartbeats until the stop; anything else is a violation.
    pub(crate) async fn idle(mut self, stop: CancellationToken) -> anyhow::Result<()> {
        while let Some(event) = stop.run_until_cancelled(self.next()).await {
            if !matches!(event?.1, Event::Heartbeat(_)) {
                return Err(Violation::Order { game: self.room, what: "an event came in an idle room" }.into());
            }
        }
        Ok(())
    }

    /// Plays until the stop, then waits until every move is acknowledged. The first move is sent after `delay`.
    pub(crate) async fn play(
        mut self,
        options: Arc<PairOptions>,
        watched_room: Option<Arc<WatchedRoom>>,
        delay: Duration,
    ) -> anyhow::Result<()> {
        let check = PlayerCheck::new(Arc::clone(&options.fixed_game), self.room.clone());
        let (stop, due) = (options.stop.clone(), Instant::now() + delay);
        let mut progress =
            PairProgress { options, watched_room, check, open: None, sent: None, due, made: 0, started: false };
        self.get_ready().await?;
        loop {
            if stop.is_cancelled() {
                if progress.check.is_quiescent() {
                    return Ok(());
                }
            } else if let Some((side, turn)) = progress.move_due().await {
                self.bots[side].answer(progress.check.game(side), turn).await?;
            }
            let (side, event) = tokio::select! {
                event = self.next() => event?,
                () = stop.cancelled(), if progress.check.is_quiescent() => continue,
            };
            if progress.receive(side, event)? == BotSignal::Ended && progress.check.series_is_over() {
                self.get_ready().await?;
            }
        }
    }

    /// Sets both bots ready, which begins a series.
    async fn get_ready(&self) -> anyhow::Result<()> {
        for (_, bot) in self.bots.iter() {
            let ready = v1::SetReadyRequest { room_id: self.room.clone(), ready: true };
            bot.player.rooms().set_ready(bot.player.request(ready)).await?;
        }
        Ok(())
    }

    /// The next event of either bot.
    async fn next(&mut self) -> anyhow::Result<(Color, Event)> {
        let ByColor { black, white } = &mut self.bots;
        tokio::select! {
            event = black.turns.next() => Ok((Color::Black, event?)),
            event = white.turns.next() => Ok((Color::White, event?)),
        }
    }
}

struct PairProgress {
    options: Arc<PairOptions>,
    watched_room: Option<Arc<WatchedRoom>>,
    check: PlayerCheck,
    /// The turn to answer.
    open: Option<(Color, FixedTurn)>,
    /// When the last move was sent, if no turn was requested since.
    sent: Option<Instant>,
    /// When to send the next move.
    due: Instant,
    /// Number of moves sent.
    made: u64,
    /// Whether a turn was requested.
    started: bool,
}

impl PairProgress {
    /// The next move, when it is due. `None` if no turn is open, or after the stop.
    async fn move_due(&mut self) -> Option<(Color, FixedTurn)> {
        let (side, turn) = self.open?;
        if !self.options.pace.is_zero() {
            self.options.stop.run_until_cancelled(sleep_until(self.due)).await?;
        }
        self.due = self.due.max(Instant::now()) + self.options.pace;
        if let Some(watched_room) = &self.watched_room {
            watched_room.before_move(self.made, turn.ply).await;
        }
        (self.open, self.sent, self.made) = (None, Some(Instant::now()), self.made + 1);
        self.check.answer(side);
        Some((side, turn))
    }

    /// Checks and counts an event of one bot.
    fn receive(&mut self, side: Color, event: Event) -> Result<BotSignal, Violation> {
        let signal = self.check.receive(side, event)?;
        match signal {
            BotSignal::Nothing => {}
            BotSignal::Played => self.options.counters.count_move(),
            BotSignal::Asked(turn) => {
                if let Some(sent) = self.sent.take() {
                    self.options.counters.record(|counters| &counters.turns, sent.elapsed());
                }
                self.open = Some((side, turn));
                if !std::mem::replace(&mut self.started, true) {
                    self.options.started.send_modify(|rooms| *rooms += 1);
                }
            }
            // The next turn does not answer a move.
            BotSignal::Ended => self.sent = None,
        }
        Ok(signal)
    }
}

impl PairBot {
    async fn begin(channel: tonic::transport::Channel, name: &str, unary: bool) -> anyhow::Result<Self> {
        let player = BenchPlayer::log_in(channel, name).await?;
        let turns = if unary {
            let watch = player.request(v1::WatchTurnsRequest::default());
            TurnStream::Calls(player.games().watch_turns(watch).await?.into_inner())
        } else {
            // A bot sends one move at a time.
            let (up, moves) = mpsc::channel(1);
            let play = player.request(ReceiverStream::new(moves));
            TurnStream::Play { down: player.games().play(play).await?.into_inner(), up }
        };
        Ok(Self { player, turns })
    }

    async fn answer(&mut self, game: &str, turn: FixedTurn) -> anyhow::Result<()> {
        let (game_id, ply, square) = (game.to_owned(), turn.ply.into(), turn.square.to_string());
        match &mut self.turns {
            TurnStream::Play { up, .. } => {
                let sent = up.send(v1::PlayRequest { game_id, ply, square }).await;
                sent.map_err(|_| Violation::Ended.into())
            }
            TurnStream::Calls(_) => {
                let play = self.player.request(v1::PlayMoveRequest { game_id, ply, square });
                self.player.games().play_move(play).await?;
                Ok(())
            }
        }
    }
}

impl TurnStream {
    async fn next(&mut self) -> anyhow::Result<Event> {
        let event = match self {
            Self::Play { down, .. } => down.message().await?.map(|message| message.event),
            Self::Calls(down) => down.message().await?.map(|message| message.event),
        };
        let event = event.ok_or(Violation::Ended)?.and_then(|event| event.event);
        Ok(event.ok_or(Violation::Unreadable("an event of a kind that there is not"))?)
    }
}
