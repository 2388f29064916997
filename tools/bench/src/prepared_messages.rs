//! All messages of the fixed game, encoded in advance, for the baseline server.

use std::time::Duration;

use anyhow::Context as _;
use bytes::{BufMut as _, Bytes, BytesMut};
use prost::{
    Message as _,
    encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len},
};
use reversi::{
    proto::{
        convert::{self, WireEnum as _},
        v1,
    },
    room::{
        Command, Creation, DisplayName, Event, Fact, GameId, Issuer, JoinCode, Occupant, PlayerId, PlayerKind, Policy,
        Profile, Room, RoomId, RoomName, Settings, Timestamp,
    },
    rules::{ByColor, Color},
};
use v1::play_event::Event as BotEventKind;

use crate::fixed_game::FixedGame;

/// An arbitrary time; the encoded size hardly depends on it.
const NOW: Timestamp = Timestamp(1_700_000_000_123_456);

/// The only room of the baseline server.
pub(crate) const fn room() -> RoomId {
    RoomId::from_random(0x9e37_79b9_7f4a_7c15)
}

#[derive(Debug)]
pub(crate) struct PreparedMessages {
    pub(crate) room: String,
    /// The messages of the game's start.
    pub(crate) opening: PreparedStep,
    /// The messages of each move; the last has those of the game's end too.
    pub(crate) steps: Vec<PreparedStep>,
}

/// The messages that one command causes.
#[derive(Debug, Default)]
pub(crate) struct PreparedStep {
    /// Each a `PlayResponse`, which is encoded like a `WatchTurnsResponse`.
    pub(crate) to_bots: ByColor<Vec<Bytes>>,
    /// To watchers.
    pub(crate) events: Vec<RoomEvent>,
}

/// An encoded `v1::RoomEvent` without its first field, the number.
#[derive(Debug)]
pub(crate) struct RoomEvent(Bytes);

impl PreparedMessages {
    /// Plays the game in a room.
    pub(crate) fn new(fixed_game: &FixedGame) -> anyhow::Result<Self> {
        let bots = ByColor::from_fn(bot).map(Result::ok);
        let (Some(black), Some(white)) = (bots.black, bots.white) else { anyhow::bail!("a bot has no name") };
        let mut room = a_room(&black)?;
        for (player, command) in [
            (&white, Command::Join(white.clone(), Default::default())),
            (&white, Command::TakeSeat(Color::White)),
            (&white, Command::SetReady(true)),
        ] {
            execute(&mut room, player.id, command)?;
        }
        let opening = execute(&mut room, black.id, Command::Start(None))?;
        let mut steps = Vec::new();
        for turn in &fixed_game.turns {
            let mover = if turn.mover() == Color::Black { &black } else { &white };
            let play = Command::Play { game: 1, ply: turn.ply, square: turn.square, thought: None };
            steps.push(execute(&mut room, mover.id, play)?);
        }
        Ok(Self { room: room.id().to_string(), opening, steps })
    }
}

impl RoomEvent {
    fn new(event: v1::RoomEvent) -> Self {
        Self(v1::RoomEvent { seq: 0, ..event }.encode_to_vec().into())
    }

    /// The `WatchRoomResponse` of the event with this number.
    pub(crate) fn numbered(&self, seq: u64) -> Bytes {
        const EVENT: u32 = 2;
        const SEQ: u32 = 1;
        let length = key_len(SEQ) + encoded_len_varint(seq) + self.0.len();
        let mut wire = BytesMut::with_capacity(length + 8);
        encode_key(EVENT, WireType::LengthDelimited, &mut wire);
        encode_varint(length as u64, &mut wire);
        encode_key(SEQ, WireType::Varint, &mut wire);
        encode_varint(seq, &mut wire);
        wire.put_slice(&self.0);
        wire.freeze()
    }

    #[cfg(test)]
    pub(crate) fn read(&self, seq: u64) -> v1::RoomEvent {
        match v1::WatchRoomResponse::decode(self.numbered(seq)).unwrap().message {
            Some(v1::watch_room_response::Message::Event(event)) => event,
            other => panic!("{other:?}"),
        }
    }
}

fn bot(side: Color) -> anyhow::Result<Profile> {
    let (number, name) = if side == Color::Black { (1, "black 1000.50000") } else { (2, "white 1000.50000") };
    Ok(Profile {
        id: PlayerId::from_random(number << 40),
        name: DisplayName::parse(name)?,
        kind: PlayerKind::Bot,
        engine_version: None,
    })
}

/// A room with the settings of the bench.
fn a_room(owner: &Profile) -> anyhow::Result<Room> {
    let settings = Settings {
        games: Settings::MAX_GAMES,
        swap_sides: false,
        ..Settings::named(RoomName::parse(owner.name.as_str())?)
    };
    let creation = Creation {
        id: room(),
        code: JoinCode::from_random(3 << 40),
        owner: owner.clone(),
        settings,
        policy: Policy { grace: Duration::from_secs(60), idle_close: Duration::from_secs(7_200), members: 64 },
        seats: ByColor::new(Occupant::Player(owner.clone()), Occupant::Open),
        meeting: None,
        request: None,
    };
    Ok(Room::new(creation, NOW))
}

/// Executes a command, and encodes the messages that it causes.
fn execute(room: &mut Room, player: PlayerId, command: Command) -> anyhow::Result<PreparedStep> {
    let events = room.decide(NOW, Issuer::Player(player), command).ok().context("the room refuses the bench's game")?;
    let mut step = PreparedStep::default();
    for event in &events {
        let asked = room.running().map(|game| (game.position.turn(), game.ply()));
        room.apply(event);
        encode_bot_events(&mut step, room, event, asked);
        step.events.push(RoomEvent::new(convert::room_event(event, room)));
    }
    if let Some(request) = room.turn_request(NOW) {
        step.to_bots[request.position.turn()].push(convert::turn_requested(&request).0);
    }
    Ok(step)
}

/// The messages to the bots that an event causes.
fn encode_bot_events(step: &mut PreparedStep, room: &Room, event: &Event, asked: Option<(Color, u16)>) {
    match &event.fact {
        Fact::GameStarted { .. } => Color::ALL.into_iter().for_each(|side| {
            let opposite = side.opposite();
            let started = v1::PlayerGameStarted {
                room_id: room.id().to_string(),
                game_id: game(room).to_string(),
                side: side.wire().into(),
                opponent: Some(convert::lone_seat(&room.seats()[opposite], room.is_present(opposite))),
                series: room.series().map(convert::series),
                meeting: room.meeting().map(convert::room_meeting),
            };
            step.to_bots[side].push(encode(BotEventKind::GameStarted(started)));
        }),
        Fact::Played { square, .. } => {
            if let Some((side, ply)) = asked {
                let (game, reason) = (game(room), v1::TurnCloseReason::Played);
                step.to_bots[side].push(convert::turn_closed(game, ply, reason, Some(*square)).0);
            }
        }
        Fact::GameEnded(end) => Color::ALL.into_iter().for_each(|side| {
            let Some(position) = room.game().map(|game| game.position) else { return };
            let ended = v1::PlayerGameEnded {
                room_id: room.id().to_string(),
                game_id: game(room).to_string(),
                side: side.wire().into(),
                outcome: Some(convert::outcome(*end, position)),
                position: Some(convert::final_position(position)),
                series: room.series().map(convert::series),
            };
            step.to_bots[side].push(encode(BotEventKind::GameEnded(ended)));
        }),
        _ => {}
    }
}

fn game(room: &Room) -> GameId {
    let number = room.game().map_or(0, |game| game.number);
    GameId { room: room.id(), number }
}

fn encode(event: BotEventKind) -> Bytes {
    v1::PlayResponse { event: Some(v1::PlayEvent { event: Some(event) }) }.encode_to_vec().into()
}
