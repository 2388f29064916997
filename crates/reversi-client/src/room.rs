//! A room as its viewer sees it.

use std::time::{Duration, SystemTime};

use super::{
    Game, Guest, Malformed, MeetingRef, Occupant, Player, PlayerId, RoomId, Seat, Settings, parse, seat::parse_seats,
};
use crate::{
    match_statistics::Score,
    rules::{ByColor, Color},
    v1,
};

/// The phase of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Seats can be changed.
    Lobby,
    /// A game or a series runs.
    Playing,
    /// The room is closed.
    Closed,
}

impl Phase {
    pub(super) fn parse(phase: v1::RoomPhase) -> Result<Self, Malformed> {
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
    /// The player.
    pub player: Player,
    /// Whether the member is connected, or in the grace period after a lost connection.
    pub present: bool,
    /// The time of joining.
    pub joined_at: Option<SystemTime>,
}

impl TryFrom<v1::Member> for Member {
    type Error = Malformed;

    fn try_from(member: v1::Member) -> Result<Self, Malformed> {
        Ok(Self {
            player: parse::required(member.player, "member's player")?.try_into()?,
            present: member.present,
            joined_at: parse::maybe_time(member.joined_at, "time of joining")?,
        })
    }
}

/// A line of chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// The author.
    pub player: Player,
    /// The text.
    pub text: String,
    /// The time.
    pub at: Option<SystemTime>,
}

impl TryFrom<v1::ChatLine> for ChatLine {
    type Error = Malformed;

    fn try_from(line: v1::ChatLine) -> Result<Self, Malformed> {
        Ok(Self {
            player: parse::required(line.player, "speaker")?.try_into()?,
            text: line.text,
            at: parse::maybe_time(line.at, "time of a chat line")?,
        })
    }
}

/// What a player claims whose opponent has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The win.
    Win,
    /// A draw.
    Draw,
}

impl From<Claim> for v1::GameClaim {
    fn from(claim: Claim) -> Self {
        match claim {
            Claim::Win => Self::Win,
            Claim::Draw => Self::Draw,
        }
    }
}

/// Games between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The index of the running or last game, from 1.
    pub game: u32,
    /// The number of games.
    pub games: u32,
    /// Between two games, the start time of the next.
    pub next_game_at: Option<SystemTime>,
}

impl TryFrom<v1::Series> for Series {
    type Error = Malformed;

    fn try_from(series: v1::Series) -> Result<Self, Malformed> {
        Ok(Self {
            game: parse::count(series.game, "game of the series")?,
            games: parse::count(series.games, "games of the series")?,
            next_game_at: parse::maybe_time(series.next_game_at, "time of the next game")?,
        })
    }
}

/// The score of the running series in pairs, or of the last one between the same occupants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesScore {
    /// The current side of the player who began the series as black.
    pub first: Color,
    /// That player's score.
    pub score: Score,
}

pub(super) fn parse_players(ids: Vec<String>) -> Result<Vec<PlayerId>, Malformed> {
    ids.into_iter().map(PlayerId::parse).collect()
}

/// `None` for the empty id, that of a closed room's owner.
pub(super) fn parse_owner(id: String) -> Result<Option<PlayerId>, Malformed> {
    (!id.is_empty()).then(|| PlayerId::parse(id)).transpose()
}

pub(super) fn parse_score(score: v1::SeriesScore) -> Result<SeriesScore, Malformed> {
    let pairs = score.pairs.iter().map(|&pairs| parse::count(pairs, "pairs")).collect::<Result<Vec<_>, _>>()?;
    let first = parse::seat(score.seat, "seat of a score")?;
    let score = Score {
        wins: parse::count(score.wins, "games won")?,
        draws: parse::count(score.draws, "games drawn")?,
        losses: parse::count(score.losses, "games lost")?,
        pairs: pairs.try_into().map_err(|_| Malformed::new("pairs", "not five numbers"))?,
        half: None,
    };
    Ok(SeriesScore { first, score })
}

/// A room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The id, unique on the server.
    pub id: RoomId,
    /// The number of the last applied event.
    pub seq: u64,
    /// The phase.
    pub phase: Phase,
    /// The settings.
    pub settings: Settings,
    /// Whether joining needs a password.
    pub has_password: bool,
    /// The owner; `None` once the room is closed, and while the owner has gone and all members play a series.
    pub owner: Option<PlayerId>,
    /// The co-owners, who need not be members.
    pub co_owners: Vec<PlayerId>,
    /// The members in order of joining.
    pub members: Vec<Member>,
    /// The seat of each side.
    pub seats: ByColor<Seat>,
    /// The running game, or the last one.
    pub game: Option<Game>,
    /// The running series.
    pub series: Option<Series>,
    /// The last lines of chat.
    pub chat: Vec<ChatLine>,
    /// The code with which others can join; only members see it.
    pub join_code: Option<String>,
    /// The time of creation.
    pub created_at: Option<SystemTime>,
    /// The number of watching streams.
    pub watchers: u32,
    /// The side that has offered a rematch.
    pub rematch_offered_by: Option<Color>,
    /// The score of the running or last series; `None` if it is not in pairs.
    pub score: Option<SeriesScore>,
    /// The meeting of a tournament for which the server has opened it.
    pub meeting: Option<MeetingRef>,
}

impl Room {
    /// The side of a seated player.
    #[must_use]
    pub fn side_of(&self, player: &PlayerId) -> Option<Color> {
        Color::ALL.into_iter().find(|&side| self.seats[side].is_of(player))
    }

    /// Whether this player may do what an owner may: the owner and co-owners.
    #[must_use]
    pub fn is_managed_by(&self, player: &PlayerId) -> bool {
        self.owner.as_ref() == Some(player) || self.co_owners.contains(player)
    }

    /// The running game.
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
            phase: Phase::parse(room.phase())?,
            id: RoomId::parse(room.room_id)?,
            seq: room.seq,
            settings: room.settings.unwrap_or_default().try_into()?,
            has_password: room.has_password,
            owner: parse_owner(room.owner_id)?,
            co_owners: parse_players(room.co_owner_ids)?,
            members: parse::all(room.members)?,
            seats: parse_seats(room.seats)?,
            game: room.game.map(Game::try_from).transpose()?,
            series: room.series.map(Series::try_from).transpose()?,
            chat: parse::all(room.chat)?,
            join_code: (!room.join_code.is_empty()).then_some(room.join_code),
            created_at: parse::maybe_time(room.created_at, "time of creation")?,
            watchers: parse::count(room.watchers, "watchers")?,
            rematch_offered_by: room.rematch_offered_by.map(|seat| parse::seat(seat, "rematch offer")).transpose()?,
            score: room.score.map(parse_score).transpose()?,
            meeting: room.meeting.map(MeetingRef::try_from).transpose()?,
        })
    }
}

/// A room to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoom {
    /// The settings.
    pub settings: Settings,
    /// The first occupants of the seats; the only possible player is the caller.
    pub seats: ByColor<Occupant>,
    /// The seat to which a player is invited, instead of its occupant above; for that time, or for the server's default one.
    pub invite: Option<(Color, Guest, Option<Duration>)>,
    /// The password for joining; empty for none.
    pub password: String,
    /// If not empty, makes the call idempotent: the same id returns the same room.
    pub request_id: String,
}

impl Default for NewRoom {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            seats: ByColor::new(Occupant::Open, Occupant::Open),
            invite: None,
            password: String::new(),
            request_id: String::new(),
        }
    }
}
