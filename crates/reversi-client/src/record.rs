//! Finished games.

use std::{fmt, time::SystemTime};

use super::{
    Ai, GameId, GameResult, Malformed, MeetingRef, Outcome, ParticipantKind, Player, PlayerId, Ply, RatingChange,
    RoomId, TournamentId, parse, player::rating,
};
use crate::{
    rules::{Board, ByColor, Color, Transcript},
    v1,
};

/// A filter of games; the default matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// Only games of this room.
    pub room: Option<RoomId>,
    /// Only games of this tournament.
    pub tournament: Option<TournamentId>,
    /// Only games of this player.
    pub player: Option<PlayerId>,
    /// Only games with a participant of this kind.
    pub kind: Option<ParticipantKind>,
    /// Only games with this result.
    pub result: Option<GameResult>,
    /// Only rated games, or only others.
    pub rated: Option<bool>,
    /// Only games of a participant who had this rating or more before the game.
    pub min_rating: Option<u16>,
    /// Only games that ended at this time or later.
    pub ended_from: Option<SystemTime>,
    /// Only games that ended before this time.
    pub ended_before: Option<SystemTime>,
    /// Only games of the opening of this English name.
    pub opening: Option<String>,
}

impl From<GameFilter> for v1::GameFilter {
    fn from(filter: GameFilter) -> Self {
        let result = match filter.result {
            None => v1::GameResult::Unspecified,
            Some(GameResult::Won(Color::Black)) => v1::GameResult::BlackWins,
            Some(GameResult::Won(Color::White)) => v1::GameResult::WhiteWins,
            Some(GameResult::Draw) => v1::GameResult::Draw,
            Some(GameResult::Aborted) => v1::GameResult::Aborted,
        };
        Self {
            room_id: filter.room.map(|id| id.to_string()).unwrap_or_default(),
            tournament_id: filter.tournament.map(|id| id.to_string()).unwrap_or_default(),
            player_id: filter.player.map(|id| id.to_string()).unwrap_or_default(),
            kind: filter.kind.unwrap_or_default().into(),
            result: result.into(),
            rated: filter.rated,
            min_rating: filter.min_rating.unwrap_or_default().into(),
            ended_from: filter.ended_from.map(Into::into),
            ended_before: filter.ended_before.map(Into::into),
            opening: filter.opening.unwrap_or_default(),
        }
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
    /// The start time; `None` if unknown.
    pub started_at: Option<SystemTime>,
    /// The end time; `None` if unknown.
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
    /// The ratings of the players before the game, rounded.
    pub ratings: ByColor<Option<u32>>,
    /// What the game did to them, if it is known.
    pub rating_changes: ByColor<Option<RatingChange>>,
    /// The English name of the opening.
    pub opening: Option<String>,
    /// The meeting of a tournament of which it was a part.
    pub meeting: Option<MeetingRef>,
}

impl TryFrom<v1::GameRecord> for GameRecord {
    type Error = Malformed;

    fn try_from(record: v1::GameRecord) -> Result<Self, Malformed> {
        // Without `..`: the compiler reports a field that is not named here.
        #[rustfmt::skip]
        let v1::GameRecord { game_id, room_id, room_name, black, white, started_at, ended_at, outcome, transcript,
            plies, board, rated, black_rating, white_rating, opening: name, private: _, black_rating_change, white_rating_change,
            meeting } = record;
        let board = match board {
            text if text.is_empty() => None,
            text => Some(text.parse().map_err(|error| Malformed::new("last position", error))?),
        };
        Ok(Self {
            id: GameId::parse(game_id)?,
            room: RoomId::parse(room_id)?,
            room_name: parse::plain(room_name, "room name")?,
            players: ByColor::new(
                parse::required(black, "black")?.try_into()?,
                parse::required(white, "white")?.try_into()?,
            ),
            started_at: parse::maybe_time(started_at, "start")?,
            ended_at: parse::maybe_time(ended_at, "end")?,
            outcome: parse::required(outcome, "outcome")?.try_into()?,
            transcript: transcript.parse().map_err(|error| Malformed::new("transcript", error))?,
            plies: parse::all(plies)?,
            board,
            rated,
            ratings: ByColor::new(rating(black_rating)?, rating(white_rating)?),
            rating_changes: ByColor::new(
                black_rating_change.map(RatingChange::try_from).transpose()?,
                white_rating_change.map(RatingChange::try_from).transpose()?,
            ),
            opening: opening(name)?,
            meeting: meeting.map(MeetingRef::try_from).transpose()?,
        })
    }
}

/// The name of an opening; none if it is empty.
pub(super) fn opening(wire: String) -> Result<Option<String>, Malformed> {
    Ok(Some(parse::plain(wire, "opening")?).filter(|name| !name.is_empty()))
}
