//! Finished games.

use std::{fmt, time::SystemTime};

use super::{Ai, GameId, Malformed, Outcome, Player, PlayerId, Ply, RoomId, parse};
use crate::{
    rules::{Board, ByColor, Transcript},
    v1,
};

/// A filter of games; the default matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// Only games of this room.
    pub room: Option<RoomId>,
    /// Only games of this player.
    pub player: Option<PlayerId>,
}

impl From<GameFilter> for v1::GameFilter {
    fn from(filter: GameFilter) -> Self {
        let room_id = filter.room.map(|id| id.to_string()).unwrap_or_default();
        Self { room_id, player_id: filter.player.map(|id| id.to_string()).unwrap_or_default() }
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The token of the next page; `None` on the last.
    pub next: Option<String>,
}

impl<T> Page<T> {
    pub(super) fn new(items: Vec<T>, next: String) -> Self {
        Self { items, next: (!next.is_empty()).then_some(next) }
    }
}

/// The player of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Participant {
    /// A player.
    Player(Player),
    /// A server-side AI.
    Ai(Ai),
}

impl fmt::Display for Participant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Player(player) => f.pad(&player.name),
            Self::Ai(ai) => f.pad(&format!("AI {ai}")),
        }
    }
}

impl TryFrom<v1::Participant> for Participant {
    type Error = Malformed;

    fn try_from(participant: v1::Participant) -> Result<Self, Malformed> {
        use v1::participant::Participant as Wire;
        match parse::required(participant.participant, "participant")? {
            Wire::Player(player) => Ok(Self::Player(player.try_into()?)),
            Wire::Ai(ai) => Ok(Self::Ai(ai.try_into()?)),
        }
    }
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The id, unique on the server.
    pub id: GameId,
    /// The room of the game.
    pub room: RoomId,
    /// The room's name.
    pub room_name: String,
    /// The player of each side.
    pub players: ByColor<Participant>,
    /// The start time.
    pub started_at: Option<SystemTime>,
    /// The end time.
    pub ended_at: Option<SystemTime>,
    /// The result.
    pub outcome: Outcome,
    /// The moves.
    pub transcript: Transcript,
    /// The moves with passes and times; empty in a list.
    pub plies: Vec<Ply>,
    /// The last position's discs, if sent.
    pub board: Option<Board>,
    /// Whether the game counts for ratings.
    pub rated: bool,
}

impl TryFrom<v1::GameRecord> for GameRecord {
    type Error = Malformed;

    fn try_from(record: v1::GameRecord) -> Result<Self, Malformed> {
        let board = match record.board {
            text if text.is_empty() => None,
            text => Some(text.parse().map_err(|error| Malformed::new("last position", error))?),
        };
        Ok(Self {
            id: GameId::parse(record.game_id)?,
            room: RoomId::parse(record.room_id)?,
            room_name: parse::plain(record.room_name, "room name")?,
            players: ByColor::new(
                parse::required(record.black, "black")?.try_into()?,
                parse::required(record.white, "white")?.try_into()?,
            ),
            started_at: parse::maybe_time(record.started_at, "start")?,
            ended_at: parse::maybe_time(record.ended_at, "end")?,
            outcome: parse::required(record.outcome, "outcome")?.try_into()?,
            transcript: record.transcript.parse().map_err(|error| Malformed::new("transcript", error))?,
            plies: parse::all(record.plies)?,
            board,
            rated: record.rated,
        })
    }
}
