//! `reversi bot`: a program that takes seats and plays, by the public API alone.

mod options;
mod strategy;
mod thinker;

use std::{collections::HashSet, path::PathBuf, time::Duration};

use anyhow::anyhow;
use tokio::time::Instant;

use super::{
    connect::{
        check_ai, login,
        reconnecting_stream::{Feed, News, backoff},
        server_address::Address,
    },
    external_engine::Failure,
    random, say,
    terminal::interrupt::Interrupt,
};
use crate::client::{
    Ai, Client, ClientError, CloseReason, GameId, ListUpdate, Phase, PlayEvent, PlayLane, PlayerKind, Room, RoomFilter,
    RoomId, RoomList, RoomUpdate, Session, SideWish,
};
use options::Chooser;
use strategy::Step;
use thinker::{Thinker, Thought};

/// How long a bot waits in a room for a game before it looks for another room.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a busy server is left alone.
const BUSY_WAIT: Duration = Duration::from_millis(100);

/// Who plays, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi bot --ai alphabeta                    looks for open seats, and plays wherever there is one\n  \
    reversi bot --ai mcts --level 3 --room 7k2m9x4q1c0d\n  \
    reversi bot --ai greedy --quick --games 10    ten games against whoever else asks for one\n  \
    reversi bot --ai roxanne --vs positional --games 1 --seed 7\n  \
    reversi bot --nboard 'edax -nboard' --quick   an engine of others, which the bot starts\n  \
    reversi bot --gtp './engine --gtp' --engine-time 5 --room 7k2m9x4q1c0d\n\n\
    An engine that ends, moves illegally or is late is started again, three times in a row at most. The bot resigns a game \
    in which the engine has no move in time, and ends with the reason when the engine cannot be used.")]
pub(super) struct Args {
    #[command(flatten)]
    chooser: options::Args,
    /// Play in this room, given by its id or join code.
    #[arg(long, env = "REVERSI_ROOM", value_name = "ID_OR_CODE", group = "place")]
    room: Option<String>,
    /// The room's password.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    /// Play against anyone who asks for the same.
    #[arg(long, env = "REVERSI_QUICK", group = "place", value_parser = clap::builder::FalseyValueParser::new())]
    quick: bool,
    /// Play against this AI of the server.
    #[arg(long, env = "REVERSI_VS", value_name = "KIND", group = "place")]
    vs: Option<String>,
    /// That AI's level; its kind's default if left out.
    #[arg(long, env = "REVERSI_VS_LEVEL", value_name = "N")]
    vs_level: Option<u32>,
    /// End after this many games; 0 plays for ever.
    #[arg(long, env = "REVERSI_GAMES", value_name = "N", default_value_t = 0)]
    games: u32,
    /// The bot's name; a made-up one if left out.
    #[arg(long, env = "REVERSI_NAME")]
    name: Option<String>,
    /// The same seed chooses the same moves; random if left out.
    #[arg(long, env = "REVERSI_SEED")]
    seed: Option<u64>,
    /// Keep the login in this file, and come back by it: to the seat, if it is still yours.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    keep: Option<PathBuf>,
}

/// Plays until the games are played or the process is told to end.
pub(super) async fn run(server: &Address, args: Args) -> anyhow::Result<()> {
    let chooser = Chooser::new(&args.chooser).await?;
    let against = args.vs.as_ref().map(|kind| check_ai::check(kind, args.vs_level)).transpose()?;
    let mut interrupt = Interrupt::listen()?;
    let client = login::connect(server).await?;
    let session = login::enter(
        &client,
        args.keep.as_deref(),
        args.name.as_deref(),
        &format!("bot-{}", chooser.name()),
        PlayerKind::Bot,
    )
    .await?;
    say(format_args!("{} is logged in", session.player().name));
    let mut bot = Bot {
        client,
        session,
        chooser: chooser.clone(),
        against,
        seed: args.seed.unwrap_or_else(random::random),
        place: None,
        tried: HashSet::new(),
        sent: None,
        played: 0,
        args,
    };
    let done = tokio::select! {
        done = bot.live() => done,
        // Who can come back keeps the seat.
        () = interrupt.wait() => {
            chooser.rest();
            login::part(bot.session, bot.args.keep.as_deref()).await;
            return Ok(());
        }
    };
    chooser.rest();
    if let Some(place) = &bot.place {
        // Whether it succeeds matters to nobody who is leaving.
        let _ = bot.session.leave(&place.id).await;
    }
    login::part(bot.session, bot.args.keep.as_deref()).await;
    done
}

struct Bot {
    client: Client,
    session: Session,
    chooser: Chooser,
    /// The AI of the server against which the bot plays.
    against: Option<Ai>,
    seed: u64,
    place: Option<Place>,
    tried: HashSet<RoomId>,
    /// The last move, in case that it is refused for a reason that passes.
    sent: Option<Thought>,
    played: u32,
    args: Args,
}

/// The room in which the bot is.
struct Place {
    id: RoomId,
    room: Option<Room>,
    updates: Feed<RoomUpdate>,
    /// The step last taken, and at which event: it is not taken twice.
    taken: Option<(u64, Step)>,
    /// The last game whose end was counted.
    counted: Option<GameId>,
    /// When to take a step again for which the server was too busy.
    retry: Option<Instant>,
    until: Instant,
}

/// Why the bot stops reading its streams.
enum Pause {
    /// All games are played, or the room is gone.
    Done,
    /// The connection or the session is lost.
    Failed(ClientError),
    /// Nothing chooses moves any more.
    Broken(Failure),
}

impl From<ClientError> for Pause {
    fn from(error: ClientError) -> Self {
        Self::Failed(error)
    }
}

impl Bot {
    /// Plays, and comes back after failures that pass.
    async fn live(&mut self) -> anyhow::Result<()> {
        if self.args.keep.is_some() {
            self.return_to_seat().await?;
        }
        let mut failures = 0;
        loop {
            let began = Instant::now();
            let error = match self.play().await {
                Pause::Done => return Ok(()),
                Pause::Failed(error) => error,
                Pause::Broken(failure) => return Err(failure.into()),
            };
            if began.elapsed() > PATIENCE {
                failures = 0;
            }
            if error.is_session_lost() {
                say(format_args!("{error}; logging in again"));
                self.place = None;
                match self.log_in_again().await {
                    Ok(()) => continue,
                    Err(error) if !is_passing(&error) => return Err(error),
                    Err(_) => {}
                }
            } else if !error.is_transient() {
                return Err(self.explain(error).await);
            }
            let wait = backoff(failures);
            failures += 1;
            say(format_args!("{error}; trying again in {:.1} s", wait.as_secs_f32()));
            tokio::time::sleep(wait).await;
        }
    }

    /// A kept login may still have its seat, and a game in it.
    async fn return_to_seat(&mut self) -> anyhow::Result<()> {
        if let Some((room, _)) = self.session.me().await?.seats.first() {
            let room = self.session.room(room).await?;
            say(format_args!("back in room {} ({})", room.id, room.settings.name));
            self.place = Some(Place::new(&self.session, room));
        }
        Ok(())
    }

    /// What makes playing on impossible.
    async fn explain(&self, error: ClientError) -> anyhow::Error {
        match &self.against {
            _ if error.is("BAD_PASSWORD") => login::asks_for_password(),
            Some(ai) if error.is("BAD_ARGUMENT") => match self.session.server_info().await {
                Ok(info) => check_ai::refused(error, ai, &info),
                Err(_) => anyhow!(error),
            },
            _ => anyhow!(error).context("cannot play on"),
        }
    }

    async fn log_in_again(&mut self) -> anyhow::Result<()> {
        let name = self.session.player().name.clone();
        let file = self.args.keep.as_deref();
        self.session = login::enter(&self.client, file, Some(&name), "", PlayerKind::Bot).await?;
        Ok(())
    }

    /// One life of the streams.
    async fn play(&mut self) -> Pause {
        match self.play_until_pause().await {
            Ok(never) => match never {},
            Err(pause) => pause,
        }
    }

    async fn play_until_pause(&mut self) -> Result<std::convert::Infallible, Pause> {
        let mut lane = self.session.play_lane().await?;
        let mut thinker = Thinker::new(self.chooser.mind(&self.session), self.seed);
        let mut list = RoomList::default();
        let mut lobby = open_rooms(&self.session);
        loop {
            if self.place.is_none() {
                self.find_place(&list).await?;
                if self.place.is_some() {
                    // A stream that nobody reads is a burden to the server.
                    (lobby, list) = (open_rooms(&self.session), RoomList::default());
                }
            }
            let seeking = self.place.is_none();
            let until = self
                .place
                .as_ref()
                .map_or_else(|| Instant::now() + PATIENCE, |place| place.retry.unwrap_or(place.until));
            tokio::select! {
                event = lane.next() => {
                    let event = event.unwrap_or_else(|| Err(ClientError::Broken("the server ended the stream".into())))?;
                    self.take_event(event, &lane, &mut thinker).await?;
                }
                thought = thinker.next() => self.take_thought(thought, &lane).await?,
                news = lobby.next(), if seeking => take_row(&mut list, news?),
                news = next_in(&mut self.place) => self.take_update(news).await?,
                () = tokio::time::sleep_until(until) => self.wake().await?,
            }
        }
    }

    /// Goes where the arguments say, or to a seat in the list.
    async fn find_place(&mut self, list: &RoomList) -> Result<(), Pause> {
        let entered = if let Some(room) = &self.args.room {
            super::play::enter(&self.session, room, &self.args.password).await?
        } else if let Some(ai) = &self.against {
            self.session.quick_start_ai(ai.clone(), SideWish::Random).await?
        } else if self.args.quick {
            self.session.quick_start_anyone(SideWish::Random).await?
        } else {
            let Some(id) = strategy::choose(list, &self.tried) else { return Ok(()) };
            self.tried.insert(id.clone());
            match self.session.join(&id, "").await {
                Ok(room) => room,
                Err(error) if error.refusal().is_some() && !error.is_session_lost() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        };
        say(format_args!("in room {} ({})", entered.id, entered.settings.name));
        self.place = Some(Place::new(&self.session, entered));
        Ok(())
    }

    /// Makes the move; a game for which there is none is given up.
    async fn take_thought(&mut self, thought: Thought, lane: &PlayLane) -> Result<(), Pause> {
        let game = &thought.game;
        match &thought.chosen {
            Ok(square) => {
                lane.play_at(game, thought.ply, *square).await?;
                self.sent = Some(thought);
            }
            Err(Failure::Unwanted) => {}
            Err(failure) => {
                say(format_args!("game {game}: {failure}; this game is resigned"));
                match self.session.resign(game).await {
                    Err(error) if error.refusal().is_none() => return Err(error.into()),
                    // Refused where the game is over already.
                    Ok(_) | Err(_) => {}
                }
                if let Failure::Broken(_) = failure {
                    return Err(Pause::Broken(failure.clone()));
                }
            }
        }
        Ok(())
    }

    async fn take_event(&mut self, event: PlayEvent, lane: &PlayLane, thinker: &mut Thinker) -> Result<(), Pause> {
        match event {
            PlayEvent::Turn(turn) => thinker.think(&turn),
            PlayEvent::TurnClosed { game, .. } => thinker.forget(&game),
            PlayEvent::GameStarted { game, side, opponent, .. } => {
                let opponent = opponent.map_or_else(String::new, |seat| format!(" against {}", seat.occupant));
                say(format_args!("game {game}: {side}{opponent}"));
                self.wait_on();
            }
            PlayEvent::GameEnded { game, side, outcome, .. } => {
                thinker.forget(&game);
                say(format_args!("game {game}: {outcome} (played {side})"));
                self.played += 1;
                self.wait_on();
                if self.args.games != 0 && self.played >= self.args.games {
                    return Err(Pause::Done);
                }
                if let Some(place) = &mut self.place {
                    place.counted = Some(game);
                }
                self.act().await?;
            }
            PlayEvent::MoveRejected { game, ply, reason, message, legal, retry_after } => {
                let sent = self.sent.take().filter(|sent| sent.game == game && sent.ply == ply);
                match (reason.as_str(), legal.first(), sent.zip(retry_after)) {
                    ("ILLEGAL_MOVE", Some(square), _) => lane.play_at(&game, ply, square).await?,
                    (_, _, Some((sent, wait))) => thinker.repeat(sent, wait),
                    _ => say(format_args!("game {game}: refused, {message}")),
                }
            }
            PlayEvent::Kicked { room, banned: true } => self.forget_place(&room, "it was banned")?,
            PlayEvent::Kicked { room, banned: false } => self.forget_place(&room, "it was removed")?,
            PlayEvent::RoomClosed(room) => self.forget_place(&room, "the room is gone")?,
            PlayEvent::Closing(closing) => match closing.reason {
                CloseReason::Superseded => {
                    say("the same player plays elsewhere");
                    return Err(Pause::Done);
                }
                _ => return Err(ClientError::Broken("the server ends the stream".into()).into()),
            },
            PlayEvent::Invited { .. } | PlayEvent::Heartbeat => {}
        }
        Ok(())
    }

    /// Does what the room asks for.
    async fn take_update(&mut self, news: Result<News<RoomUpdate>, ClientError>) -> Result<(), Pause> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let id = place.id.clone();
        match news {
            Ok(News::Item(update)) => place.take(update),
            Ok(News::Lost(..)) => return Ok(()),
            // The room is gone, or closed to this bot.
            Err(error) if error.refusal().is_some() && !error.is_session_lost() => {
                return self.forget_place(&id, &error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        self.act().await
    }

    /// Takes the next step in the room.
    async fn act(&mut self) -> Result<(), Pause> {
        let restless = self.is_restless();
        let Some(place) = &mut self.place else { return Ok(()) };
        let Some(step) = place.next_step(&self.session, restless) else { return Ok(()) };
        match take_step(&self.session, &place.id, step).await {
            Err(error) if error.refusal().is_none() || error.is_session_lost() => return Err(error.into()),
            Err(error) if error.is_transient() => place.try_again(),
            // Other refusals mean that the room has changed meanwhile: its news says how.
            Ok(()) | Err(_) if step == Step::Leave => return self.left(),
            Ok(()) | Err(_) => {}
        }
        Ok(())
    }

    fn left(&mut self) -> Result<(), Pause> {
        let Some(place) = self.place.take() else { return Ok(()) };
        if self.args.room.is_some() {
            say(format_args!("nothing to play in room {}", place.id));
            return Err(Pause::Done);
        }
        Ok(())
    }

    /// The room does not want the bot any more.
    fn forget_place(&mut self, room: &RoomId, why: &str) -> Result<(), Pause> {
        if self.place.take_if(|place| place.id == *room).is_none() {
            return Ok(());
        }
        say(format_args!("room {room} is closed to this bot: {why}"));
        if self.args.room.is_some() { Err(Pause::Done) } else { Ok(()) }
    }

    async fn wake(&mut self) -> Result<(), Pause> {
        match self.place.as_mut().and_then(|place| place.retry.take()) {
            Some(_) => self.act().await,
            None => self.lose_patience().await,
        }
    }

    /// A seeker does not sit for ever where nobody starts a game; and what was tried long ago may be tried again.
    async fn lose_patience(&mut self) -> Result<(), Pause> {
        self.wait_on();
        let Some(place) = &self.place else {
            self.tried.clear();
            return Ok(());
        };
        let bound = self.args.room.is_some();
        let playing = place.room.as_ref().is_some_and(|room| room.running().is_some());
        let over = place.room.as_ref().is_some_and(|room| room.game.is_some());
        if !bound && !playing && (over || !self.is_restless()) {
            return match take_step(&self.session, &place.id, Step::Leave).await {
                Err(error) if error.refusal().is_none() || error.is_session_lost() => Err(error.into()),
                _ => self.left(),
            };
        }
        Ok(())
    }

    /// Whether the bot plays one game in a room and then asks for the next.
    fn is_restless(&self) -> bool {
        self.args.quick || self.args.vs.is_some()
    }

    fn wait_on(&mut self) {
        if let Some(place) = &mut self.place {
            place.until = Instant::now() + PATIENCE;
        }
    }
}

impl Place {
    fn new(session: &Session, room: Room) -> Self {
        let (session, id) = (session.clone(), room.id.clone());
        let watched = id.clone();
        let updates = Feed::new(move || {
            let (session, id) = (session.clone(), watched.clone());
            async move { session.watch(&id).await }
        });
        Self { id, room: None, updates, taken: None, counted: None, retry: None, until: Instant::now() + PATIENCE }
    }

    fn take(&mut self, update: RoomUpdate) {
        let missed = match (update, &mut self.room) {
            (RoomUpdate::Snapshot(room), _) => {
                self.room = Some(*room);
                false
            }
            (RoomUpdate::Event(event), Some(room)) => room.apply(&event).is_err(),
            _ => false,
        };
        if missed {
            self.updates.restart();
        }
    }

    /// The server was too busy for the last step.
    fn try_again(&mut self) {
        self.taken = None;
        self.retry = Some(Instant::now() + BUSY_WAIT);
    }

    /// Restless bots leave once they have heard of the end themselves: it comes by another stream than the room's news.
    fn next_step(&mut self, session: &Session, restless: bool) -> Option<Step> {
        let room = self.room.as_ref()?;
        let step = match &room.game {
            Some(game) if restless && room.phase == Phase::Lobby => {
                (self.counted.as_ref() == Some(&game.id)).then_some(Step::Leave)?
            }
            _ => strategy::next_step(room, &session.player().id)?,
        };
        let taken = Some((room.seq, step));
        if self.taken == taken {
            return None;
        }
        self.taken = taken;
        Some(step)
    }
}

/// The rooms with a seat to take; nothing is asked before it is read.
fn open_rooms(session: &Session) -> Feed<ListUpdate> {
    let session = session.clone();
    Feed::new(move || {
        let session = session.clone();
        async move { session.watch_rooms(RoomFilter { open_seat: true, ..RoomFilter::default() }).await }
    })
}

async fn next_in(place: &mut Option<Place>) -> Result<News<RoomUpdate>, ClientError> {
    match place {
        Some(place) => place.updates.next().await,
        None => std::future::pending().await,
    }
}

fn take_row(list: &mut RoomList, news: News<ListUpdate>) {
    if let News::Item(update) = news {
        list.apply(update);
    }
}

async fn take_step(session: &Session, room: &RoomId, step: Step) -> Result<(), ClientError> {
    match step {
        Step::Sit(side) => session.take_seat(room, side).await,
        Step::Ready => session.set_ready(room, true).await,
        Step::Start => session.start_game(room, "").await.map(|_| 0),
        Step::Accept(offer) => session.answer(room, offer, true).await,
        Step::Decline(offer) => session.answer(room, offer, false).await,
        Step::Leave => session.leave(room).await,
    }
    .map(drop)
}

fn is_passing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ClientError>().is_some_and(ClientError::is_transient)
}
