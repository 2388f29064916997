//! Two bots with fifty games between them, which remember every move that the server has acknowledged.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use reversi::{
    proto::v1::{self, play_event::Event, room_event, watch_room_response::Message},
    room::{GameId, RoomId, Seq},
    rules::Square,
};
use tokio::{sync::mpsc, task::JoinSet};
use tonic::Code;

use crate::harness::process::Player;

/// The acknowledged moves.
#[derive(Default)]
pub(crate) struct Acknowledged {
    moves: BTreeMap<(GameId, u16), Square>,
    /// The number of the last event of each room of which a bot knows.
    seqs: BTreeMap<String, u64>,
}

impl Acknowledged {
    pub(crate) fn count(&self) -> usize {
        self.moves.len()
    }

    pub(crate) fn moves(&self) -> impl Iterator<Item = (GameId, u16, Square)> {
        self.moves.iter().map(|(&(game, ply), &square)| (game, ply, square))
    }

    /// A move that was acknowledged to its caller.
    pub(crate) fn add(&mut self, game: &str, ply: usize, square: &str) {
        self.record(Answer { game: game.into(), ply: i32::try_from(ply).unwrap(), square: square.into(), seq: 0 });
    }

    fn record(&mut self, answer: Answer) {
        let Answer { game, ply, square, seq } = answer;
        let (room, _) = game.split_once('-').unwrap();
        let last = self.seqs.entry(room.to_owned()).or_default();
        *last = seq.max(*last);
        let (game, square) = (game.parse().unwrap(), square.parse().unwrap());
        let before = self.moves.insert((game, u16::try_from(ply).unwrap()), square);
        assert!(before.is_none_or(|before| before == square), "two moves were acknowledged for one ply");
    }
}

/// An acknowledged move, with the number of its event.
struct Answer {
    game: String,
    ply: i32,
    square: String,
    seq: u64,
}

pub(crate) struct Bots {
    bots: [Player; 2],
    rooms: Vec<String>,
    running: Option<RunningTasks>,
}

/// Both bots, with their streams and their moves.
struct RunningTasks {
    answers: mpsc::Receiver<Answer>,
    tasks: JoinSet<()>,
}

impl Bots {
    /// Logs in two bots, and puts them into rooms with endless series of games.
    pub(crate) async fn create(url: &str, rooms: usize, pair: &str) -> Self {
        let seats = i32::try_from(rooms).unwrap();
        let bots = [bot(url, "Black", pair, seats).await, bot(url, "White", pair, seats).await];
        let mut names = Vec::new();
        for number in 0..rooms {
            let settings = v1::RoomSettings {
                name: format!("room {number}"),
                games: 1_000,
                rated: number % 2 == 0,
                total_time: Some(prost_types::Duration { seconds: 3_600, nanos: 0 }),
                increment: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
                ..Default::default()
            };
            let room = bots[0].create(settings, ["me", "open"]).await.room_id;
            bots[1].join_and_sit(&room, 1).await;
            bots[0].start(&room).await;
            names.push(room);
        }
        let mut bots = Self { bots, rooms: names, running: None };
        bots.start().await;
        bots
    }

    /// Plays in all rooms.
    pub(crate) async fn start(&mut self) {
        let (sender, answers) = mpsc::channel(64);
        let mut tasks = JoinSet::new();
        for bot in &self.bots {
            let turns = bot.turns().await;
            tasks.spawn(answer_turns(bot.clone(), turns, sender.clone()));
        }
        self.running = Some(RunningTasks { answers, tasks });
    }

    /// Waits until this many more moves are acknowledged. The bots keep playing.
    pub(crate) async fn play(&mut self, moves: u64, acknowledged: &mut Acknowledged) {
        let work = self.running.as_mut().unwrap();
        for _ in 0..moves {
            acknowledged.record(work.answers.recv().await.unwrap());
        }
    }

    /// Reads the last answers of a server that was killed.
    pub(crate) async fn disconnect(&mut self, acknowledged: &mut Acknowledged) {
        let mut work = self.running.take().unwrap();
        while let Some(answer) = work.answers.recv().await {
            acknowledged.record(answer);
        }
        work.tasks.join_all().await;
    }

    /// Stops playing.
    pub(crate) fn stop(&mut self) {
        drop(self.running.take());
    }

    pub(crate) fn rooms(&self) -> &[String] {
        &self.rooms
    }

    /// One of the bots.
    pub(crate) fn player(&self) -> &Player {
        &self.bots[0]
    }

    /// Connects to the next server with the same tokens.
    pub(crate) async fn reconnect(&mut self, url: &str) {
        for bot in &mut self.bots {
            *bot = Player::with_token(url, &bot.token).await;
        }
    }

    /// Checks that the clocks which ran at a kill, after these events of their rooms, were credited with this time.
    pub(crate) async fn check_credits(&self, running: &BTreeMap<RoomId, Seq>, downtime: &RangeInclusive<Duration>) {
        for (room, seq) in running {
            let room = room.to_string();
            let now = self.bots[0].room(&room).await.seq;
            let mut events = self.bots[0].watch_after(&room, Some(seq.0)).await;
            let mut credit = Duration::ZERO;
            for _ in seq.0..now {
                let Message::Event(event) = events.message().await.unwrap().unwrap().message.unwrap() else { continue };
                if let Some(room_event::Event::ClockCredited(credited)) = event.event {
                    credit += Duration::try_from(credited.credit.unwrap()).unwrap();
                }
            }
            assert!(downtime.contains(&credit), "{room} was credited with {credit:?} for {downtime:?}");
        }
    }

    /// Checks that every room has its acknowledged moves.
    pub(crate) async fn check_rooms(&self, acknowledged: &Acknowledged) {
        for room in &self.rooms {
            let shown = self.bots[0].room(room).await;
            let last = acknowledged.seqs.get(room).copied().unwrap_or_default();
            assert!(shown.seq >= last, "{room} was at {last}, and is at {}", shown.seq);
            assert_eq!(shown.seats.len(), 2);
            assert_eq!(shown.phase(), v1::RoomPhase::Playing);
        }
    }
}

async fn bot(url: &str, name: &str, pair: &str, seats: i32) -> Player {
    Player::bot(url, &format!("{name} {pair}"), seats).await
}

/// Answers every turn with a legal move, until the server is gone.
async fn answer_turns(bot: Player, mut turns: tonic::Streaming<v1::WatchTurnsResponse>, answers: mpsc::Sender<Answer>) {
    let mut calls = JoinSet::new();
    while let Ok(Some(message)) = turns.message().await {
        let Some(Event::TurnRequested(turn)) = message.event.and_then(|event| event.event) else { continue };
        calls.spawn(make_move(bot.clone(), turn, answers.clone()));
    }
    while calls.join_next().await.is_some() {}
}

async fn make_move(bot: Player, turn: v1::TurnRequested, answers: mpsc::Sender<Answer>) {
    let legal = turn.position.unwrap().legal_moves;
    // A different square in each game, and the same square if a turn is asked again.
    let any = turn
        .game_id
        .bytes()
        .chain(turn.ply.to_le_bytes())
        .fold(7, |any: usize, byte| any * 31 % 65_521 + usize::from(byte));
    let square = legal[any % legal.len()].clone();
    let request = v1::PlayMoveRequest { game_id: turn.game_id.clone(), ply: turn.ply, square: square.clone() };
    match bot.games().play_move(request).await {
        Ok(answer) => {
            let seq = answer.into_inner().seq;
            // Fails once the bots have stopped.
            let _ = answers.send(Answer { game: turn.game_id, ply: turn.ply, square, seq }).await;
        }
        // The server was killed, or the turn was asked twice.
        Err(status) => assert_ne!(status.code(), Code::Internal, "{status}"),
    }
}
