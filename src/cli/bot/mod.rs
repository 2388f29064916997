//! `reversi bot`: takes seats and plays, over the public API only.

mod claims;
mod current_room;
mod ending;
mod invitations;
mod move_searches;
mod options;
mod room_actions;
mod stop_reason;
mod tournament;
mod tournament_choice;

use std::{collections::HashSet, time::Duration};

use anyhow::bail;
use tokio::time::Instant;

use super::{
    connect::{
        check_ai,
        login::{self, LoginOptions},
        named_room::{is_named, join_by_text},
        reconnecting_stream::{Received, connection_lost, wait_after},
        server_address::Address,
        terms::Terms,
    },
    external_engine::NoMove,
    random, say,
    terminal::interrupt::Interrupt,
};
use crate::client::{
    Ai, Client, ClientError, CloseReason, InvitationEndReason, Phase, PlayEvent, PlayStream, PlayerKind, Room, RoomId,
    RoomList, RoomUpdate, Session, SideWish, TournamentId,
};
use claims::Claims;
use current_room::{CurrentRoom, GAME_TIMEOUT};
use move_searches::{ChosenMove, MoveSearches};
use options::MoveSource;
use room_actions::{RoomAction, Wish, open_rooms, perform};
use stop_reason::StopReason;
use tournament_choice::TournamentChoice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi bot --ai alphabeta                    takes any open seat\n  \
    reversi bot --ai mcts:3 --room 7k2m9x4q1c0d\n  \
    reversi bot --ai greedy --quick --games 10    ten games, against anyone\n  \
    reversi bot --clock 60+1 --rated              rated, with this clock\n  \
    reversi bot --accept --seats 4                waits for invitations\n  \
    reversi bot --pool 60+1                       plays in the server's pool\n  \
    reversi bot --tournament 7k2m9x4q1c0d         plays a tournament to its end\n  \
    reversi bot --ai roxanne --vs positional --games 1 --seed 7\n  \
    reversi bot --nboard 'edax -nboard' --quick   by another program\n  \
    reversi bot --gtp './engine --gtp' --engine-time 5 --room 7k2m9x4q1c0d\n\n\
    A bot with games left to play stays after each game, and accepts a rematch: with --room for ever, with --quick for 20 \
    seconds if the opponent is a person, with --vs not, and otherwise for 60 seconds. One that is kept from playing its games \
    ends with the reason and the exit status 1.\n\n\
    An engine that ends, moves illegally or is late is started again, three times in a row at most. The bot resigns a game \
    in which the engine has no move in time, and ends with the reason when the engine cannot be used.")]
pub(super) struct Args {
    #[command(flatten)]
    source: options::Args,
    /// Play in this room, given by its id or join code.
    #[arg(long, value_name = "ID_OR_CODE", group = "place", conflicts_with_all = ["Terms", "GameTerms"])]
    room: Option<String>,
    /// The password of the room or tournament.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    password: String,
    /// Play against another player who looks for a game with the same terms; implied by these.
    #[arg(long, group = "place")]
    quick: bool,
    /// Take the seats to which other players invite the bot. What the terms do not allow is refused or declined. Without
    /// --rated, rated and unrated games are accepted.
    #[arg(long, group = "place")]
    accept: bool,
    #[command(flatten)]
    event: TournamentChoice,
    /// With --accept: play in this number of rooms at a time, 1 to 64.
    #[arg(long, value_name = "N", requires = "accept", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    seats: u16,
    /// With --accept: play against at most this number of opponents in 24 hours; 0 is no limit.
    #[arg(long, value_name = "N", requires = "accept", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1_000))]
    opponents_a_day: u16,
    /// As --quick; after this wait for an opponent, play against an AI of the server, of about the bot's rating.
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["room", "accept", "vs", "rating", "against"])]
    house: Option<u16>,
    #[command(flatten)]
    terms: Terms,
    /// Play against this AI of the server.
    #[arg(long, value_name = "KIND", group = "place")]
    vs: Option<String>,
    /// That AI's level; its kind's default if left out.
    #[arg(long, value_name = "N")]
    vs_level: Option<u32>,
    /// End after this many games that begin in this run, rematches as well; 0 plays for ever. A series that has begun
    /// is played to its end.
    #[arg(long, value_name = "N", default_value_t = 0)]
    games: u32,
    /// The same seed chooses the same moves; random if left out.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    server: Address,
    #[command(flatten)]
    login: LoginOptions,
}

/// Plays until all games are played or an interrupt.
pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    args.login.seats = args.seats;
    let source = MoveSource::new(&args.source).await?;
    let against = args.vs.as_ref().map(|kind| check_ai::check(kind, args.vs_level)).transpose()?;
    let mut interrupt = Interrupt::listen()?;
    let client = login::connect(&args.server).await?;
    let session =
        login::resume_or_log_in(&client, &args.login, &format!("bot-{}", source.name()), PlayerKind::Bot).await?;
    say(format_args!("{} is logged in", session.player().name));
    if args.seats > 1 && args.login.keep.is_some() {
        args.seats = options::seats_of_kept(&session, args.seats).await?;
    }
    let mut bot = Bot {
        client,
        session,
        source: source.clone(),
        against,
        seed: args.seed.unwrap_or_else(random::random),
        current: None,
        accepted: Vec::new(),
        tournament: None,
        tried: HashSet::new(),
        claims: Claims::default(),
        sent: None,
        played: 0,
        failures: 0,
        opened: None,
        args,
    };
    let done = tokio::select! {
        done = bot.run() => done,
        // A kept login keeps its seat, and any bot the one in a running game.
        () = interrupt.end() => {
            source.end();
            let keep = bot.args.login.keep.as_deref();
            bot.leave_tournament_unless_kept().await;
            if keep.is_none() {
                for room in bot.rooms() {
                    login::leave(&bot.session, room, false).await;
                }
            }
            if login::is_playing(&bot.session, bot.rooms().next().is_some()).await {
                say(login::seat_kept(keep, "to come back: the same command with"));
            } else {
                login::log_out_unless_kept(bot.session, keep).await;
            }
            return Ok(());
        }
    };
    source.end();
    if done.is_err() {
        bot.leave_tournament_unless_kept().await;
    }
    for room in bot.rooms() {
        // Errors are ignored: the process ends.
        let _ = bot.session.leave(room).await;
    }
    login::log_out_unless_kept(bot.session, bot.args.login.keep.as_deref()).await;
    done
}

struct Bot {
    client: Client,
    session: Session,
    source: MoveSource,
    /// The server's AI to play against.
    against: Option<Ai>,
    seed: u64,
    current: Option<CurrentRoom>,
    /// The rooms of accepted invitations.
    accepted: Vec<CurrentRoom>,
    /// The tournament in which the bot takes part, in place of rooms.
    tournament: Option<TournamentId>,
    tried: HashSet<RoomId>,
    claims: Claims,
    /// The last move, repeated after a temporary refusal.
    sent: Option<ChosenMove>,
    played: u32,
    /// The number of streams in a row that failed before their first event.
    failures: u32,
    /// When the last stream was opened.
    opened: Option<Instant>,
    args: Args,
}

impl Bot {
    /// Plays, and reconnects after temporary failures.
    async fn run(&mut self) -> anyhow::Result<()> {
        self.tournament = self.args.event.find(&self.session).await?;
        if self.tournament.is_none() && self.args.login.keep.is_some() && !self.args.accept {
            self.return_to_seat(CurrentRoom::returned).await?;
        }
        let mut is_new_session = false;
        loop {
            let began = Instant::now();
            let Err(reason) = match self.tournament.clone() {
                Some(id) => self.play_in_tournament(&id).await,
                None => self.play().await,
            };
            let error = match reason {
                StopReason::Done => return Ok(()),
                StopReason::Ended(why) => return self.end(&why),
                StopReason::Superseded => bail!("another process plays with the same login; it has the turns now"),
                StopReason::Failed(error) => error,
                StopReason::Broken(failure) => return Err(failure.into()),
            };
            if began.elapsed() > GAME_TIMEOUT {
                is_new_session = false;
            }
            // A new session that is refused as well would be so for ever.
            if error.is_session_lost() && !is_new_session {
                say(format_args!("{error}; logging in again"));
                self.forget_rooms();
                match self.log_in_again().await {
                    Ok(()) => {
                        is_new_session = true;
                        continue;
                    }
                    Err(error) if !error.downcast_ref().is_some_and(ClientError::is_transient) => return Err(error),
                    Err(_) => {}
                }
            } else if !error.is_transient() {
                return Err(self.explain(error).await);
            }
            let open = self.opened.take().map(|opened| opened.elapsed()).unwrap_or_default();
            let wait = wait_after(open, self.failures);
            // Once: the next line says that the bot is back.
            if self.failures == 0 {
                say(connection_lost(&error, wait));
            }
            self.failures += 1;
            tokio::time::sleep(wait).await;
        }
    }

    /// Continues in the seat that this player has, if any: by a kept login, or by a call whose answer was lost.
    async fn return_to_seat(&mut self, current: fn(&Session, &Room, bool) -> CurrentRoom) -> Result<(), ClientError> {
        if let Some((room, _)) = self.session.me().await?.seats.first() {
            let room = match self.session.room(room).await {
                // It has closed, or removed the bot, since.
                Err(error) if error.refusal().is_some() && !error.is_transient() && !error.is_session_lost() => {
                    return Ok(());
                }
                room => room?,
            };
            say(format_args!("back in room {} ({})", room.id, room.settings.name));
            let is_other = self.args.room.as_ref().is_some_and(|text| !is_named(&room, text));
            self.current = Some(current(&self.session, &room, is_other));
        }
        Ok(())
    }

    async fn log_in_again(&mut self) -> anyhow::Result<()> {
        let name = self.session.player().name.clone();
        let options = LoginOptions { name: Some(name), ..self.args.login.clone() };
        self.session = login::resume_or_log_in(&self.client, &options, "", PlayerKind::Bot).await?;
        Ok(())
    }

    /// Plays until the streams fail or all games are played.
    async fn play(&mut self) -> Result<std::convert::Infallible, StopReason> {
        let mut stream = self.session.play_stream().await?;
        self.opened = Some(Instant::now());
        self.introduce().await?;
        if self.args.accept {
            say("waiting for invitations");
            self.return_to_accepted().await?;
        } else if self.current.is_none() {
            self.return_to_seat(CurrentRoom::entered).await?;
        }
        let mut searches = MoveSearches::new(self.source.search_engine(&self.session), self.seed);
        let mut list = RoomList::default();
        let mut lobby = open_rooms(&self.session);
        loop {
            if self.current.is_none() {
                if self.is_done() && self.accepted.is_empty() {
                    return Err(StopReason::Done);
                }
                if !self.args.accept {
                    self.find_room(&list).await?;
                }
                if self.current.is_some() {
                    // A stream that is not read costs the server memory.
                    (lobby, list) = (open_rooms(&self.session), RoomList::default());
                }
            }
            let seeking = self.current.is_none() && !self.args.accept;
            let until = self
                .current
                .as_ref()
                .map_or_else(|| Instant::now() + GAME_TIMEOUT, |current| current.retry.unwrap_or(current.until));
            tokio::select! {
                event = stream.next() => {
                    let event = event.unwrap_or_else(|| Err(ClientError::Broken("the server ended the stream".into())))?;
                    self.handle_event(event, &stream, &mut searches).await?;
                    self.failures = 0;
                }
                chosen_move = searches.next() => self.send_move(chosen_move, &stream).await?,
                game = self.claims.next() => self.claims.claim(&self.session, game).await?,
                news = lobby.next(), if seeking => if let Received::Item(update) = news? {
                    list.apply(update);
                },
                news = current_room::next_in(&mut self.current) => self.handle_update(news).await?,
                news = current_room::next_of(&mut self.accepted) => self.handle_room(news).await?,
                () = tokio::time::sleep_until(until) => self.wake().await?,
            }
        }
    }

    /// Joins the room given by the options, or one with an open seat.
    async fn find_room(&mut self, list: &RoomList) -> Result<(), StopReason> {
        let entered = if let Some(room) = &self.args.room {
            join_by_text(&self.session, room, &self.args.password).await?
        } else if self.changes_rooms() {
            self.quick_start().await?
        } else {
            let Some(id) = room_actions::choose(list, &self.tried) else { return Ok(()) };
            self.tried.insert(id.clone());
            match self.session.join(&id, "").await {
                Ok(room) => room,
                Err(error) if error.refusal().is_some() && !error.is_session_lost() => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        };
        self.enter(&entered);
        Ok(())
    }

    async fn quick_start(&self) -> Result<Room, ClientError> {
        let settings = self.args.terms.settings();
        match self.args.house {
            Some(after) => {
                self.session.quick_start_or_house(SideWish::Random, settings, Duration::from_secs(after.into())).await
            }
            None => self.session.quick_start_with(self.against.clone(), SideWish::Random, settings).await,
        }
    }

    /// Whether the bot looks for a new room for each game.
    fn changes_rooms(&self) -> bool {
        self.against.is_some()
            || self.args.quick
            || self.args.house.is_some()
            || self.args.terms.are_given() && !self.args.accept
    }

    /// Looks for an opponent who waits elsewhere. Refused if a game has begun here meanwhile.
    async fn seek_again(&mut self) -> Result<(), StopReason> {
        match self.quick_start().await {
            Ok(room) if self.current.as_ref().is_none_or(|current| current.id != room.id) => self.enter(&room),
            Err(error) if error.is_session_lost() => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    fn enter(&mut self, entered: &Room) {
        let waits = if entered.running().is_none() { "; waiting for a game" } else { "" };
        say(format_args!("in room {} ({}){waits}", entered.id, entered.settings.name));
        self.current = Some(CurrentRoom::entered(&self.session, entered, false).with_house(self.args.house));
    }

    /// Sends the move; without one, resigns the game.
    async fn send_move(&mut self, chosen_move: ChosenMove, stream: &PlayStream) -> Result<(), StopReason> {
        let game = &chosen_move.game;
        match &chosen_move.chosen {
            Ok(square) => {
                stream.play_at(game, chosen_move.ply, *square).await?;
                self.sent = Some(chosen_move);
            }
            Err(NoMove::Unwanted) => {}
            Err(failure) => {
                say(format_args!("game {game}: {failure}; this game is resigned"));
                match self.session.resign(game).await {
                    Err(error) if error.refusal().is_none() => return Err(error.into()),
                    // Refused if the game is already over.
                    Ok(_) | Err(_) => {}
                }
                if let NoMove::Broken(_) = failure {
                    return Err(StopReason::Broken(failure.clone()));
                }
            }
        }
        Ok(())
    }

    async fn handle_event(
        &mut self,
        event: PlayEvent,
        stream: &PlayStream,
        searches: &mut MoveSearches,
    ) -> Result<(), StopReason> {
        self.claims.apply(&event);
        match event {
            PlayEvent::Turn(turn) => searches.begin(&turn),
            PlayEvent::TurnClosed { game, ply, .. } => searches.close(&game, ply),
            PlayEvent::GameEnded { game, .. } => searches.forget(&game),
            PlayEvent::RatingChanged { game, own, .. } => say(format_args!("game {game}: rating {own}")),
            PlayEvent::MoveRejected { game, ply, reason, message, legal, retry_after } => {
                let sent = self.sent.take().filter(|sent| sent.game == game && sent.ply == ply);
                match (reason.as_str(), legal.first(), sent.zip(retry_after)) {
                    ("ILLEGAL_MOVE", Some(square), _) => stream.play_at(&game, ply, square).await?,
                    (_, _, Some((sent, wait))) => searches.repeat(sent, wait),
                    _ => say(format_args!("game {game}: refused, {message}")),
                }
            }
            // The removal may be older than the bot's present stay.
            PlayEvent::Kicked { room, banned } if !self.is_member(&room).await? => {
                self.leave_room(&room, if banned { "it was banned" } else { "it was removed" })?;
            }
            PlayEvent::RoomClosed(room) => self.leave_room(&room, "the room is gone")?,
            PlayEvent::Closing(closing) => match closing.reason {
                CloseReason::Superseded => {
                    // To leave would end its game.
                    self.forget_rooms();
                    return Err(StopReason::Superseded);
                }
                _ => return Err(ClientError::Broken("the server ends the stream".into()).into()),
            },
            PlayEvent::Invited(invited) if self.args.accept => self.answer_invitation(&invited).await?,
            PlayEvent::InvitationEnded { room, reason: InvitationEndReason::Withdrawn, .. } if self.args.accept => {
                say(format_args!(
                    "the invitation to room {room} has ended: the seat, the terms or the room has changed"
                ));
            }
            // Games are reported by the room, and offers answered there.
            PlayEvent::Kicked { .. }
            | PlayEvent::GameStarted { .. }
            | PlayEvent::Invited(_)
            | PlayEvent::InvitationEnded { .. }
            | PlayEvent::Offer { .. }
            | PlayEvent::SeriesEnded(_)
            | PlayEvent::Tournament { .. }
            | PlayEvent::Heartbeat => {}
        }
        Ok(())
    }

    async fn is_member(&self, room: &RoomId) -> Result<bool, ClientError> {
        match self.session.room(room).await {
            Ok(room) => Ok(room.member(&self.session.player().id).is_some()),
            Err(error) if error.refusal().is_none() || error.is_transient() || error.is_session_lost() => Err(error),
            // Only members may see it.
            Err(_) => Ok(false),
        }
    }

    /// Applies an update of the room and acts on it.
    async fn handle_update(&mut self, news: Result<Received<RoomUpdate>, ClientError>) -> Result<(), StopReason> {
        let (wish, was_done) = (self.wish(), self.is_done());
        let Some(current) = &mut self.current else { return Ok(()) };
        let id = current.id.clone();
        match news {
            Ok(Received::Item(update)) => {
                let (me, games) = (&self.session.player().id, current.games());
                let ended = current.apply(update, me, wish);
                if current.games() != games {
                    current.report(me).into_iter().for_each(say);
                }
                if !current.is_other {
                    let in_series = current.room.as_ref().is_some_and(|room| room.phase == Phase::Playing);
                    self.played = self.played.saturating_add(ended);
                    if in_series && self.is_done() && !was_done {
                        say(format_args!(
                            "{} games are played; the series that has begun is played to its end",
                            self.played
                        ));
                    }
                }
            }
            Ok(Received::Lost(..)) => return Ok(()),
            // The room is gone, or closed to this bot.
            Err(error) if error.refusal().is_some() && !error.is_session_lost() => {
                return self.leave_room(&id, &error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        self.act().await
    }

    /// Takes the next action in the room.
    async fn act(&mut self) -> Result<(), StopReason> {
        let (wish, me) = (self.wish(), &self.session.player().id);
        match self.current.as_mut().and_then(|current| current.next_action(me, wish)) {
            Some(action) => self.take(action).await,
            None => Ok(()),
        }
    }

    async fn take(&mut self, action: RoomAction) -> Result<(), StopReason> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let game = current.room.as_ref().and_then(|room| Some(room.game.as_ref()?.id.clone()));
        match perform(&self.session, &current.id, game, action).await {
            Err(error) if error.refusal().is_none() || error.is_session_lost() => return Err(error.into()),
            Err(error) if error.is_transient() => current.try_again(),
            // A game has begun, which is played.
            Err(error) if error.is("ROOM_IN_GAME") => {}
            // Other refusals mean that the room has changed: its events follow.
            Ok(()) | Err(_) if action == RoomAction::Leave => return self.left(),
            Ok(()) | Err(_) => {}
        }
        Ok(())
    }

    /// Forgets the room after leaving it.
    fn left(&mut self) -> Result<(), StopReason> {
        match self.current.take() {
            Some(current) if self.args.room.is_some() && !current.is_other && !self.is_done() => {
                let is_closed = current.room.is_some_and(|room| room.phase == Phase::Closed);
                let why = if is_closed { "it is closed" } else { "no seat is free" };
                Err(StopReason::Ended(format!("nothing to play in room {}: {why}", current.id)))
            }
            left => {
                left.iter().for_each(|left| self.say_why_left(left));
                Ok(())
            }
        }
    }

    /// Forgets a room that removed the bot.
    fn leave_room(&mut self, room: &RoomId, why: &str) -> Result<(), StopReason> {
        self.select(room);
        let Some(current) = self.current.take_if(|current| current.id == *room) else { return Ok(()) };
        let line = format!("room {room} is closed to this bot: {why}");
        if self.args.room.is_some() && !current.is_other {
            return Err(StopReason::Ended(line));
        }
        say(line);
        Ok(())
    }

    async fn wake(&mut self) -> Result<(), StopReason> {
        match self.current.as_mut().and_then(|current| current.retry.take()) {
            Some(_) => self.act().await,
            None => self.look_elsewhere().await,
        }
    }

    /// Leaves a room in which no game starts; rooms that were tried before may be tried again.
    async fn look_elsewhere(&mut self) -> Result<(), StopReason> {
        let wish = self.wish();
        let Some(current) = &mut self.current else {
            self.tried.clear();
            return Ok(());
        };
        current.extend_wait(wish);
        let playing = current.room.as_ref().is_some_and(|room| room.running().is_some());
        let over = current.room.as_ref().is_some_and(|room| room.game.is_some());
        if wish == Wish::ChangeRooms && current.waits_for_first_game() {
            return self.seek_again().await;
        }
        if self.args.room.is_none() && !playing && (over || wish != Wish::ChangeRooms) {
            return self.take(RoomAction::Leave).await;
        }
        Ok(())
    }

    /// What the bot wants after the games that it has played.
    fn wish(&self) -> Wish {
        let leaves = |current: &CurrentRoom| current.is_other || self.args.accept && self.leaves_invitation(current);
        if self.is_done() || self.current.as_ref().is_some_and(leaves) {
            Wish::Leave
        } else if self.changes_rooms() {
            Wish::ChangeRooms
        } else {
            Wish::Stay
        }
    }

    /// Whether all games are played.
    fn is_done(&self) -> bool {
        self.args.games != 0 && self.played >= self.args.games
    }
}
