//! A room with a simulated driver, for tests of one room.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{
        AiSeat, ChatText, Command, Creation, Credentials, DisplayName, Event, Fact, Game, GameEnd, Issuer, JoinCode,
        Occupant, PasswordHash, PlayerId, PlayerKind, Policy, Profile, Rejection, Room, RoomId, RoomName, SeatSetting,
        Seq, Settings, TimeControl, Timestamp,
    },
    rules::{ByColor, Color, Square},
};

/// The join code of every room in these tests.
pub(crate) const CODE: u64 = 99;
/// Grace period of an absent member, and time until an idle room closes.
pub(crate) const POLICY: Policy = Policy { grace: secs(60), idle_close: secs(900), members: 8 };

pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A room and its driver, as in the server: ticks at the deadline, decides, applies, and keeps the history.
#[derive(Clone, Debug)]
pub(crate) struct TestRoom {
    pub(crate) room: Room,
    pub(crate) now: Timestamp,
    pub(crate) history: Vec<Event>,
}

impl TestRoom {
    /// A room that Ada creates at second one.
    pub(crate) fn new(settings: Settings, seats: ByColor<Occupant>, policy: Policy) -> Self {
        let now = Timestamp(1_000_000);
        let (id, code) = (RoomId::from_random(7), JoinCode::from_random(CODE));
        let creation = Creation { id, code, owner: profile("ada"), settings, policy, seats };
        let created = Event { seq: Seq(1), at: now, fact: Fact::Created(Box::new(creation.clone())) };
        Self { room: Room::new(creation, now), now, history: vec![created] }
    }

    /// Ada's room with these settings, without a seat for her.
    pub(crate) fn of(settings: Settings) -> Self {
        Self::new(settings, ByColor::new(Occupant::Open, Occupant::Open), POLICY)
    }

    /// Ada's room with the usual settings.
    pub(crate) fn lobby() -> Self {
        Self::of(default_settings())
    }

    /// Ada has black, Bob has white, and both are ready.
    pub(crate) fn seated(settings: Settings) -> Self {
        Self::of(settings).join("bob").sit("ada", Color::Black).sit("bob", Color::White)
    }

    /// Ada plays black and Bob plays white.
    pub(crate) fn two_players(settings: Settings) -> Self {
        let mut test = Self::seated(settings);
        test.ok("ada", Command::Start);
        test
    }

    /// Ada watches Bob (black) play Cy (white); Wim watches too.
    pub(crate) fn with_watchers() -> Self {
        Self::lobby().join("bob").join("cy").join("wim").sit("bob", Color::Black).sit("cy", Color::White)
    }

    /// Ada plays black against an AI.
    pub(crate) fn against_ai(settings: Settings) -> Self {
        let mut test = Self::of(settings).sit("ada", Color::Black).ai(Color::White);
        test.ok("ada", Command::Start);
        test
    }

    /// Two AIs play; Ada watches.
    pub(crate) fn ai_match(settings: Settings) -> Self {
        let mut test = Self::of(settings).ai(Color::Black).ai(Color::White);
        test.ok("ada", Command::Start);
        test
    }

    pub(crate) fn join(mut self, who: &str) -> Self {
        self.ok(who, Command::Join(profile(who), valid_credentials()));
        self
    }

    /// Takes a seat and sets readiness.
    pub(crate) fn sit(mut self, who: &str, seat: Color) -> Self {
        self.ok(who, Command::TakeSeat(seat));
        self.ok(who, Command::SetReady(true));
        self
    }

    pub(crate) fn ai(mut self, seat: Color) -> Self {
        self.ok("ada", Command::SetSeat(seat, ai()));
        self
    }

    pub(crate) fn started(mut self) -> Self {
        self.ok("ada", Command::Start);
        self
    }

    /// Decides and applies a command now.
    pub(crate) fn act(&mut self, who: &str, command: Command) -> Result<Vec<Fact>, Rejection> {
        self.tick_if_due();
        let events = self.room.decide(self.now, actor(who), command)?;
        Ok(self.accept(events))
    }

    pub(crate) fn ok(&mut self, who: &str, command: Command) -> Vec<Fact> {
        self.act(who, command.clone()).unwrap_or_else(|refusal| panic!("{who}: {command:?}: {refusal}"))
    }

    pub(crate) fn refused(&mut self, who: &str, command: Command) -> Rejection {
        self.act(who, command.clone()).expect_err(&format!("{who}: {command:?} should be refused"))
    }

    /// Advances the time, with a tick at each deadline of the room.
    pub(crate) fn wait(&mut self, duration: Duration) -> Vec<Fact> {
        let until = self.now.after(duration);
        let mut facts = Vec::new();
        while let Some(due) = self.room.deadline().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            let ticked = self.tick_if_due();
            assert!(!ticked.is_empty(), "a tick at a deadline has no events");
            facts.extend(ticked);
        }
        self.now = until;
        facts
    }

    /// Plays the squares for the sides to move, AIs included. Panics if a move is refused.
    pub(crate) fn play(&mut self, squares: &str) -> Vec<Fact> {
        squares
            .as_bytes()
            .chunks(2)
            .flat_map(|name| self.place(square(std::str::from_utf8(name).expect("ASCII"))))
            .collect()
    }

    /// Plays the first legal move until the game is over.
    pub(crate) fn play_out(&mut self) -> GameEnd {
        while let Some(game) = self.room.running() {
            let first = game.position.legal_moves().first().expect("the side to move can move");
            self.place(first);
        }
        self.end().expect("the game is over")
    }

    /// Places a disc for the side to move.
    pub(crate) fn place(&mut self, square: Square) -> Vec<Fact> {
        let (who, command) = (self.mover(), self.move_to(square));
        self.tick_if_due();
        let events = self.room.decide(self.now, who, command).unwrap_or_else(|refusal| panic!("{square}: {refusal}"));
        self.accept(events)
    }

    /// The command that places a disc at the current ply.
    pub(crate) fn move_to(&self, square: Square) -> Command {
        let game = self.game();
        Command::Play { game: game.number, ply: game.ply(), square, thought: None }
    }

    /// The issuer of moves for the side to move.
    pub(crate) fn mover(&self) -> Issuer {
        let turn = self.game().position.turn();
        self.room.seats()[turn].occupant.player().map_or(Issuer::Server, Issuer::Player)
    }

    pub(crate) fn game(&self) -> &Game {
        self.room.game().expect("a game")
    }

    pub(crate) fn end(&self) -> Option<GameEnd> {
        self.room.game()?.end
    }

    pub(crate) fn owner(&self) -> String {
        self.room.owner().map(|owner| owner.name.to_string()).unwrap_or_default()
    }

    /// Games won by black's and by white's occupant.
    pub(crate) fn wins(&self) -> (u16, u16) {
        let seats = self.room.seats();
        (seats.black.wins, seats.white.wins)
    }

    fn tick_if_due(&mut self) -> Vec<Fact> {
        if self.room.deadline().is_none_or(|due| due > self.now) {
            return Vec::new();
        }
        let events = self.room.decide(self.now, Issuer::Server, Command::Tick).expect("a tick is never refused");
        self.accept(events)
    }

    pub(crate) fn accept(&mut self, events: Vec<Event>) -> Vec<Fact> {
        events.iter().for_each(|event| self.room.apply(event));
        self.history.extend(events.iter().cloned());
        assert_eq!(Room::replay(&self.history).as_ref(), Some(&self.room));
        events.into_iter().map(|event| event.fact).collect()
    }
}

/// The issuer of that name: "admin" and "server" are special; all others are players.
pub(crate) fn actor(who: &str) -> Issuer {
    match who {
        "admin" => Issuer::Admin,
        "server" => Issuer::Server,
        _ => Issuer::Player(id(who)),
    }
}

pub(crate) fn id(who: &str) -> PlayerId {
    PlayerId::from_random(who.bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte)))
}

/// The profile of that name; names that start with "bot" are bots.
pub(crate) fn profile(who: &str) -> Profile {
    let kind = if who.starts_with("bot") { PlayerKind::Bot } else { PlayerKind::Human };
    Profile { id: id(who), name: DisplayName::parse(who).expect("a name"), kind }
}

/// Credentials that admit to every room of these tests.
pub(crate) fn valid_credentials() -> Credentials {
    Credentials { code: Some(JoinCode::from_random(CODE)), password: Some(password()) }
}

pub(crate) fn password() -> PasswordHash {
    PasswordHash([0xA7; 32].into())
}

pub(crate) fn default_settings() -> Settings {
    Settings::named(RoomName::parse("Ada's room").expect("a name"))
}

pub(crate) fn ai_seat() -> AiSeat {
    AiSeat { kind: Arc::from("roxanne"), level: 1, seed: 3 }
}

pub(crate) fn ai() -> SeatSetting {
    SeatSetting::Ai(ai_seat())
}

pub(crate) fn square(name: &str) -> Square {
    name.parse().expect("a square")
}

pub(crate) fn chat(text: &str) -> Command {
    Command::Chat(ChatText::parse(text).expect("a line"))
}

pub(crate) fn kick(who: &str) -> Command {
    Command::Kick { player: id(who), ban: false }
}

pub(crate) fn ban(who: &str) -> Command {
    Command::Kick { player: id(who), ban: true }
}

/// A clock for all moves of a side.
pub(crate) fn total(total: Duration, increment: Duration) -> TimeControl {
    TimeControl { per_move: None, total: Some(total), increment }
}
