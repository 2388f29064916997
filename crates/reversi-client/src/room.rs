//! A room, as one viewer may see it.

use std::time::SystemTime;

use super::{Game, Malformed, Player, PlayerId, RoomId, Seat, Settings, read, seat::read_seats};
use crate::{
    rating::Score,
    rules::{ByColor, Color},
    v1,
};

/// What a room is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Seats can be changed.
    Lobby,
    /// A game or a series runs.
    Playing,
    /// It is gone.
    Closed,
}

impl Phase {
    pub(super) fn read(phase: v1::RoomPhase) -> Result<Self, Malformed> {
        match phase {
            v1::RoomPhase::Lobby => Ok(Self::Lobby),
            v1::RoomPhase::Playing => Ok(Self::Playing),
            v1::RoomPhase::Closed => Ok(Self::Closed),
            v1::RoomPhase::Unspecified => Err(Malformed::new("phase", "unspecified")),
        }
    }
}

impl From<Phase> for v1::RoomPhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Lobby => Self::Lobby,
            Phase::Playing => Self::Playing,
            Phase::Closed => Self::Closed,
        }
    }
}

/// A member of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub player: Player,
    /// Connected, or within the grace after the connection was lost.
    pub present: bool,
    /// Since when.
    pub joined_at: Option<SystemTime>,
}

impl TryFrom<v1::Member> for Member {
    type Error = Malformed;

    fn try_from(member: v1::Member) -> Result<Self, Malformed> {
        Ok(Self {
            player: read::required(member.player, "member's player")?.try_into()?,
            present: member.present,
            joined_at: read::maybe_time(member.joined_at, "time of joining")?,
        })
    }
}

/// A line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// Who said it.
    pub player: Player,
    /// What.
    pub text: String,
    /// When.
    pub at: Option<SystemTime>,
}

impl TryFrom<v1::ChatLine> for ChatLine {
    type Error = Malformed;

    fn try_from(line: v1::ChatLine) -> Result<Self, Malformed> {
        Ok(Self {
            player: read::required(line.player, "speaker")?.try_into()?,
            text: line.text,
            at: read::maybe_time(line.at, "time of a chat line")?,
        })
    }
}

/// What may be offered between the players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// To end the running game as a draw.
    Draw,
    /// To play again.
    Rematch,
}

impl Offer {
    pub(super) fn read(offer: v1::Offer) -> Result<Self, Malformed> {
        match offer {
            v1::Offer::Draw => Ok(Self::Draw),
            v1::Offer::Rematch => Ok(Self::Rematch),
            v1::Offer::Unspecified => Err(Malformed::new("offer", "unspecified")),
        }
    }
}

impl From<Offer> for v1::Offer {
    fn from(offer: Offer) -> Self {
        match offer {
            Offer::Draw => Self::Draw,
            Offer::Rematch => Self::Rematch,
        }
    }
}

/// Games between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The game that runs or has just ended, from 1.
    pub game: u32,
    /// How many there are to be.
    pub games: u32,
    /// When the next one starts, while one is awaited.
    pub next_game_at: Option<SystemTime>,
}

impl TryFrom<v1::Series> for Series {
    type Error = Malformed;

    fn try_from(series: v1::Series) -> Result<Self, Malformed> {
        Ok(Self {
            game: read::count(series.game, "game of the series")?,
            games: read::count(series.games, "games of the series")?,
            next_game_at: read::maybe_time(series.next_game_at, "time of the next game")?,
        })
    }
}

/// The score of a series in pairs: the running one, or the last one between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesScore {
    /// The side where the player now sits who began the series with black.
    pub first: Color,
    /// The results of that player.
    pub score: Score,
}

/// The owner of a room; a closed one has none, and an empty id.
pub(super) fn read_owner(id: String) -> Result<Option<PlayerId>, Malformed> {
    (!id.is_empty()).then(|| PlayerId::read(id)).transpose()
}

pub(super) fn read_score(score: v1::SeriesScore) -> Result<SeriesScore, Malformed> {
    let pairs = score.pairs.iter().map(|&pairs| read::count(pairs, "pairs")).collect::<Result<Vec<_>, _>>()?;
    let score_of_player = Score {
        wins: read::count(score.wins, "games won")?,
        draws: read::count(score.draws, "games drawn")?,
        losses: read::count(score.losses, "games lost")?,
        pairs: pairs.try_into().map_err(|_| Malformed::new("pairs", "not five numbers"))?,
        half: None,
    };
    Ok(SeriesScore { first: read::seat(score.seat, "seat of a score")?, score: score_of_player })
}

/// A room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Names it everywhere.
    pub id: RoomId,
    /// The number of the last event that is in it.
    pub seq: u64,
    /// What it is doing.
    pub phase: Phase,
    /// What its owner chose.
    pub settings: Settings,
    /// Whether those who join are asked for a password.
    pub has_password: bool,
    /// `None` once it is closed.
    pub owner: Option<PlayerId>,
    /// In the order in which they came.
    pub members: Vec<Member>,
    /// Who moves for each side.
    pub seats: ByColor<Seat>,
    /// The running game, or the last one.
    pub game: Option<Game>,
    /// Absent when no series runs.
    pub series: Option<Series>,
    /// What was said last.
    pub chat: Vec<ChatLine>,
    /// Lets others in; for members only.
    pub join_code: Option<String>,
    /// Since when it exists.
    pub created_at: Option<SystemTime>,
    /// Streams that watch it.
    pub watchers: u32,
    /// The side that has offered a rematch.
    pub rematch_offered_by: Option<Color>,
    /// Of the series that runs, or of the last one; none of one that does not come in pairs.
    pub score: Option<SeriesScore>,
}

impl Room {
    /// The side for which this player sits here.
    #[must_use]
    pub fn side_of(&self, player: &PlayerId) -> Option<Color> {
        Color::ALL.into_iter().find(|&side| self.seats[side].is_of(player))
    }

    /// The game, while it runs.
    #[must_use]
    pub fn running(&self) -> Option<&Game> {
        self.game.as_ref().filter(|game| game.outcome.is_none())
    }

    /// The member with this id.
    #[must_use]
    pub fn member(&self, player: &PlayerId) -> Option<&Member> {
        self.members.iter().find(|member| member.player.id == *player)
    }
}

impl TryFrom<v1::Room> for Room {
    type Error = Malformed;

    fn try_from(room: v1::Room) -> Result<Self, Malformed> {
        Ok(Self {
            phase: Phase::read(room.phase())?,
            id: RoomId::read(room.room_id)?,
            seq: room.seq,
            settings: room.settings.unwrap_or_default().try_into()?,
            has_password: room.has_password,
            owner: read_owner(room.owner_id)?,
            members: read::all(room.members)?,
            seats: read_seats(room.seats)?,
            game: room.game.map(Game::try_from).transpose()?,
            series: room.series.map(Series::try_from).transpose()?,
            chat: read::all(room.chat)?,
            join_code: (!room.join_code.is_empty()).then_some(room.join_code),
            created_at: read::maybe_time(room.created_at, "time of creation")?,
            watchers: read::count(room.watchers, "watchers")?,
            rematch_offered_by: room.rematch_offered_by.map(|seat| read::seat(seat, "rematch offer")).transpose()?,
            score: room.score.map(read_score).transpose()?,
        })
    }
}
