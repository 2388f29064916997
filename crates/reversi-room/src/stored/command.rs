//! Stored commands, as one node of a cluster sends them to another.

use reversi_engine::rules::{Color, Square};

use super::{
    StoredError,
    codec::{Numbered, StoredPair, narrow, read_code, read_player},
    game::StoredThought,
    required,
    seat::{StoredAi, StoredProfile},
    settings::StoredSettings,
};
use crate::{
    command::{Command, Credentials, SeatSetting},
    event::Offer,
    settings::PasswordHash,
    text::ChatText,
    timestamp::Timestamp,
};

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredCommand {
    #[prost(
        oneof = "CommandKind",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25"
    )]
    kind: Option<CommandKind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum CommandKind {
    #[prost(message, tag = "1")]
    Play(StoredPlay),
    #[prost(message, tag = "2")]
    Join(StoredJoin),
    #[prost(message, tag = "3")]
    Leave(()),
    #[prost(uint32, tag = "4")]
    TakeSeat(u32),
    #[prost(message, tag = "5")]
    LeaveSeat(()),
    #[prost(message, tag = "6")]
    Vacate(()),
    #[prost(message, tag = "7")]
    SwapSeats(()),
    #[prost(message, tag = "8")]
    SetSeat(StoredSeatSetting),
    #[prost(bool, tag = "9")]
    SetReady(bool),
    #[prost(message, tag = "10")]
    Kick(StoredPair),
    #[prost(uint64, tag = "11")]
    Transfer(u64),
    #[prost(message, tag = "12")]
    Configure(Box<StoredConfigure>),
    #[prost(message, tag = "13")]
    Start(()),
    #[prost(message, tag = "14")]
    EndSeries(()),
    #[prost(message, tag = "15")]
    Close(()),
    #[prost(string, tag = "16")]
    Chat(String),
    #[prost(message, tag = "17")]
    Strike(StoredPair),
    #[prost(uint32, tag = "18")]
    Resign(u32),
    #[prost(uint32, tag = "19")]
    Abort(u32),
    #[prost(uint32, tag = "20")]
    Offer(u32),
    #[prost(message, tag = "21")]
    Answer(StoredPair),
    #[prost(message, tag = "22")]
    SetPresence(StoredPair),
    #[prost(sint64, tag = "23")]
    Credit(i64),
    #[prost(message, tag = "24")]
    Tick(()),
    #[prost(sint64, tag = "25")]
    RemoveChat(i64),
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredPlay {
    #[prost(uint32, tag = "1")]
    game: u32,
    #[prost(uint32, tag = "2")]
    ply: u32,
    #[prost(uint32, tag = "3")]
    square: u32,
    #[prost(message, optional, boxed, tag = "4")]
    thought: Option<Box<StoredThought>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredJoin {
    #[prost(message, optional, tag = "1")]
    profile: Option<StoredProfile>,
    #[prost(uint64, optional, tag = "2")]
    code: Option<u64>,
    #[prost(bytes = "vec", optional, tag = "3")]
    password: Option<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredSeatSetting {
    #[prost(uint32, tag = "1")]
    seat: u32,
    /// None for an open seat.
    #[prost(oneof = "Setting", tags = "2, 3")]
    setting: Option<Setting>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Setting {
    #[prost(message, tag = "2")]
    Reserved(StoredProfile),
    #[prost(message, tag = "3")]
    Ai(StoredAi),
}

#[derive(Clone, PartialEq, prost::Message)]
struct StoredConfigure {
    #[prost(message, optional, tag = "1")]
    settings: Option<StoredSettings>,
    #[prost(message, optional, tag = "2")]
    current: Option<StoredSettings>,
}

impl From<&Command> for StoredCommand {
    fn from(command: &Command) -> Self {
        let kind = match command {
            Command::Play { game, ply, square, thought } => CommandKind::Play(StoredPlay {
                game: *game,
                ply: (*ply).into(),
                square: square.index().into(),
                thought: thought.as_deref().map(|thought| Box::new(thought.into())),
            }),
            Command::Join(profile, credentials) => CommandKind::Join(StoredJoin {
                profile: Some(profile.into()),
                code: credentials.code.map(|code| code.bits()),
                password: credentials.password.as_ref().map(|hash| hash.0.to_vec()),
            }),
            Command::Leave => CommandKind::Leave(()),
            Command::TakeSeat(seat) => CommandKind::TakeSeat(seat.number()),
            Command::LeaveSeat => CommandKind::LeaveSeat(()),
            Command::Vacate => CommandKind::Vacate(()),
            Command::SwapSeats => CommandKind::SwapSeats(()),
            Command::SetSeat(seat, setting) => {
                let setting = match setting {
                    SeatSetting::Open => None,
                    SeatSetting::Reserved(guest) => Some(Setting::Reserved(guest.into())),
                    SeatSetting::Ai(ai) => Some(Setting::Ai(ai.into())),
                };
                CommandKind::SetSeat(StoredSeatSetting { seat: seat.number(), setting })
            }
            Command::SetReady(ready) => CommandKind::SetReady(*ready),
            Command::Kick { player, ban } => CommandKind::Kick(StoredPair::new(player.bits(), *ban)),
            Command::Transfer(player) => CommandKind::Transfer(player.bits()),
            Command::Configure(settings, current) => CommandKind::Configure(Box::new(StoredConfigure {
                settings: Some((&**settings).into()),
                current: current.as_deref().map(Into::into),
            })),
            Command::Start => CommandKind::Start(()),
            Command::EndSeries => CommandKind::EndSeries(()),
            Command::Close => CommandKind::Close(()),
            Command::Chat(text) => CommandKind::Chat(text.to_string()),
            Command::Strike { game, ply } => CommandKind::Strike(StoredPair::new(*game, *ply)),
            Command::Resign { game } => CommandKind::Resign(*game),
            Command::Abort { game } => CommandKind::Abort(*game),
            Command::Offer(offer) => CommandKind::Offer(offer.number()),
            Command::Answer(offer, accept) => CommandKind::Answer(StoredPair::new(offer.number(), *accept)),
            Command::SetPresence(player, present) => CommandKind::SetPresence(StoredPair::new(player.bits(), *present)),
            Command::Credit { micros } => CommandKind::Credit(*micros),
            Command::Tick => CommandKind::Tick(()),
            Command::RemoveChat(posted) => CommandKind::RemoveChat(posted.0),
        };
        Self { kind: Some(kind) }
    }
}

impl StoredCommand {
    pub(super) fn read(self) -> Result<Command, StoredError> {
        Ok(match required(self.kind, "command")? {
            CommandKind::Play(play) => Command::Play {
                game: play.game,
                ply: narrow(play.ply, "ply")?,
                square: required(Square::new(narrow(play.square, "square")?), "square")?,
                thought: play.thought.map(|thought| thought.read().map(Box::new)).transpose()?,
            },
            CommandKind::Join(join) => {
                let code = join.code.map(read_code).transpose()?;
                let password = join.password.map(|hash| PasswordHash(hash.into()));
                Command::Join(required(join.profile, "profile")?.read()?, Credentials { code, password })
            }
            CommandKind::Leave(()) => Command::Leave,
            CommandKind::TakeSeat(seat) => Command::TakeSeat(Color::read(seat)?),
            CommandKind::LeaveSeat(()) => Command::LeaveSeat,
            CommandKind::Vacate(()) => Command::Vacate,
            CommandKind::SwapSeats(()) => Command::SwapSeats,
            CommandKind::SetSeat(StoredSeatSetting { seat, setting }) => {
                let setting = match setting {
                    None => SeatSetting::Open,
                    Some(Setting::Reserved(guest)) => SeatSetting::Reserved(guest.read()?),
                    Some(Setting::Ai(ai)) => SeatSetting::Ai(ai.read()?),
                };
                Command::SetSeat(Color::read(seat)?, setting)
            }
            CommandKind::SetReady(ready) => Command::SetReady(ready),
            CommandKind::Kick(kick) => Command::Kick { player: read_player(kick.first)?, ban: kick.second != 0 },
            CommandKind::Transfer(player) => Command::Transfer(read_player(player)?),
            CommandKind::Configure(configure) => {
                let current = configure.current.map(|current| current.read().map(Box::new)).transpose()?;
                Command::Configure(Box::new(required(configure.settings, "settings")?.read()?), current)
            }
            CommandKind::Start(()) => Command::Start,
            CommandKind::EndSeries(()) => Command::EndSeries,
            CommandKind::Close(()) => Command::Close,
            CommandKind::Chat(text) => {
                Command::Chat(ChatText::from_stored(&text).map_err(|_| StoredError::Malformed("chat"))?)
            }
            CommandKind::Strike(strike) => {
                Command::Strike { game: narrow(strike.first, "number of a game")?, ply: narrow(strike.second, "ply")? }
            }
            CommandKind::Resign(game) => Command::Resign { game },
            CommandKind::Abort(game) => Command::Abort { game },
            CommandKind::Offer(offer) => Command::Offer(Offer::read(offer)?),
            CommandKind::Answer(answer) => Command::Answer(Offer::read(answer.first)?, answer.second != 0),
            CommandKind::SetPresence(change) => Command::SetPresence(read_player(change.first)?, change.second != 0),
            CommandKind::Credit(micros) => Command::Credit { micros },
            CommandKind::Tick(()) => Command::Tick,
            CommandKind::RemoveChat(posted) => Command::RemoveChat(Timestamp(posted)),
        })
    }
}
