//! Two bots in a room, who play one game after another.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use v1::play_event::Event;

use super::{
    connection::{Lines, Player},
    counters::Tally,
    fixed_game::{Book, Turn},
    player_check::{Heard, Referee, SERIES},
    violation::Fault,
    watchers::Gallery,
};
use crate::{
    proto::v1,
    rules::{ByColor, Color},
};

/// Both bots, seated.
pub(super) struct Pair {
    pub(super) number: usize,
    pub(super) room: String,
    bots: ByColor<Bot>,
}

/// One bot and its turns.
struct Bot {
    player: Player,
    turns: Turns,
}

/// How turns come, and moves go.
enum Turns {
    /// Both on one stream.
    Play { down: Streaming<v1::PlayResponse>, up: mpsc::Sender<v1::PlayRequest> },
    /// A stream for turns, and a call for each move.
    Calls(Streaming<v1::WatchTurnsResponse>),
}

/// How pairs play.
pub(super) struct Manner {
    pub(super) book: Arc<Book>,
    pub(super) tally: Arc<Tally>,
    /// Between two moves of a room; none where they are as fast as they can.
    pub(super) pace: Duration,
    pub(super) stop: CancellationToken,
    /// Rooms in which a turn has been asked.
    pub(super) begun: watch::Sender<usize>,
}

impl Pair {
    /// Logs the bots with this number in, and seats them in a room of their own.
    pub(super) async fn seat(lines: Arc<Lines>, number: usize, unary: bool) -> anyhow::Result<Self> {
        let black = Bot::begin(lines.get(2 * number).await?, &format!("black {number}"), unary).await?;
        let white = Bot::begin(lines.get(2 * number + 1).await?, &format!("white {number}"), unary).await?;
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

    /// Both bots.
    pub(super) fn players(&self) -> [Player; 2] {
        [self.bots.black.player.clone(), self.bots.white.player.clone()]
    }

    /// Reads what comes, which is nothing but heartbeats, until the stop.
    pub(super) async fn idle(mut self, stop: CancellationToken) -> anyhow::Result<()> {
        loop {
            let (_, event) = tokio::select! {
                told = self.next() => told?,
                () = stop.cancelled() => return Ok(()),
            };
            if !matches!(event, Event::Heartbeat(_)) {
                return Err(Fault::Order { game: self.room, what: "something was told where nothing happens" }.into());
            }
        }
    }

    /// Plays until the stop, and then until every move is acknowledged. The first move comes so much later.
    pub(super) async fn play(
        mut self,
        manner: Arc<Manner>,
        gallery: Option<Arc<Gallery>>,
        later: Duration,
    ) -> anyhow::Result<()> {
        let referee = Referee::new(Arc::clone(&manner.book), self.room.clone());
        let (stop, due) = (manner.stop.clone(), Instant::now() + later);
        let mut course = Course { manner, gallery, referee, open: None, sent: None, due, made: 0, begun: false };
        self.get_ready().await?;
        loop {
            if stop.is_cancelled() {
                if course.referee.is_settled() {
                    return Ok(());
                }
            } else if let Some((side, turn)) = course.move_due().await {
                self.bots[side].answer(course.referee.game(side), turn).await?;
            }
            let (side, event) = tokio::select! {
                told = self.next() => told?,
                () = stop.cancelled(), if course.referee.is_settled() => continue,
            };
            if course.hear(side, event)? == Heard::Ended && course.referee.series_is_over() {
                self.get_ready().await?;
            }
        }
    }

    /// Both say that they are ready, after which a series begins.
    async fn get_ready(&self) -> anyhow::Result<()> {
        for (_, bot) in self.bots.iter() {
            let ready = v1::SetReadyRequest { room_id: self.room.clone(), ready: true };
            bot.player.rooms().set_ready(bot.player.request(ready)).await?;
        }
        Ok(())
    }

    /// The next that either is told.
    async fn next(&mut self) -> anyhow::Result<(Color, Event)> {
        let ByColor { black, white } = &mut self.bots;
        tokio::select! {
            event = black.turns.next() => Ok((Color::Black, event?)),
            event = white.turns.next() => Ok((Color::White, event?)),
        }
    }
}

/// How a pair's games go on.
struct Course {
    manner: Arc<Manner>,
    gallery: Option<Arc<Gallery>>,
    referee: Referee,
    /// Whose turn it is, while it has not been answered.
    open: Option<(Color, Turn)>,
    /// When the last move was sent, until the next turn is asked.
    sent: Option<Instant>,
    /// When the next move is to be sent.
    due: Instant,
    made: u64,
    /// Whether a turn has been asked.
    begun: bool,
}

impl Course {
    /// The move that is to be sent now, when its time has come. Nothing where nobody is asked, or the stop comes first.
    async fn move_due(&mut self) -> Option<(Color, Turn)> {
        let (side, turn) = self.open?;
        if !self.manner.pace.is_zero() && !wait(self.due, &self.manner.stop).await {
            return None;
        }
        self.due = self.due.max(Instant::now()) + self.manner.pace;
        if let Some(gallery) = &self.gallery {
            gallery.before_move(self.made, turn.ply).await;
        }
        (self.open, self.sent, self.made) = (None, Some(Instant::now()), self.made + 1);
        self.referee.answer(side);
        Some((side, turn))
    }

    /// Judges what one bot was told, and counts it.
    fn hear(&mut self, side: Color, event: Event) -> Result<Heard, Fault> {
        let heard = self.referee.hear(side, event)?;
        match heard {
            Heard::Nothing => {}
            Heard::Played => self.manner.tally.count_move(),
            Heard::Asked(turn) => {
                if let Some(sent) = self.sent.take() {
                    self.manner.tally.note(|tally| &tally.turns, sent.elapsed());
                }
                self.open = Some((side, turn));
                if !std::mem::replace(&mut self.begun, true) {
                    self.manner.begun.send_modify(|rooms| *rooms += 1);
                }
            }
            // What comes next is no answer to a move.
            Heard::Ended => self.sent = None,
        }
        Ok(heard)
    }
}

/// Waits until then; not to its end where the stop comes before.
async fn wait(due: Instant, stop: &CancellationToken) -> bool {
    tokio::select! {
        () = sleep_until(due) => true,
        () = stop.cancelled() => false,
    }
}

impl Bot {
    async fn begin(channel: tonic::transport::Channel, name: &str, unary: bool) -> anyhow::Result<Self> {
        let player = Player::log_in(channel, name).await?;
        let turns = if unary {
            let watch = player.request(v1::WatchTurnsRequest {});
            Turns::Calls(player.games().watch_turns(watch).await?.into_inner())
        } else {
            // A bot has one move on its way.
            let (up, moves) = mpsc::channel(1);
            let play = player.request(ReceiverStream::new(moves));
            Turns::Play { down: player.games().play(play).await?.into_inner(), up }
        };
        Ok(Self { player, turns })
    }

    async fn answer(&mut self, game: &str, turn: Turn) -> anyhow::Result<()> {
        let (game_id, ply, square) = (game.to_owned(), turn.ply.into(), turn.square.to_string());
        match &mut self.turns {
            Turns::Play { up, .. } => {
                let sent = up.send(v1::PlayRequest { game_id, ply, square }).await;
                sent.map_err(|_| Fault::Ended.into())
            }
            Turns::Calls(_) => {
                let play = self.player.request(v1::PlayMoveRequest { game_id, ply, square });
                self.player.games().play_move(play).await?;
                Ok(())
            }
        }
    }
}

impl Turns {
    async fn next(&mut self) -> anyhow::Result<Event> {
        let event = match self {
            Self::Play { down, .. } => down.message().await?.map(|message| message.event),
            Self::Calls(down) => down.message().await?.map(|message| message.event),
        };
        let event = event.ok_or(Fault::Ended)?.and_then(|event| event.event);
        Ok(event.ok_or(Fault::Unreadable("an event of a kind that there is not"))?)
    }
}
