//! A room as its viewer sees it, and the calls about rooms.

use std::time::SystemTime;

use super::{
    Ai, ClientError, Game, GameId, Incoming, Malformed, Occupant, PROMPT_HEARTBEAT, Player, PlayerId, RoomId,
    RoomUpdate, Seat, Session, Settings, parse, seat::parse_seats, stream::PROMPT_SECONDS,
};
use crate::{
    rating::Score,
    rules::{ByColor, Color},
    v1::{self, join_room_request as join, set_seat_request as set_seat},
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

/// An offer between the players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// To end the running game as a draw.
    Draw,
    /// To play again.
    Rematch,
}

impl Offer {
    pub(super) fn parse(offer: v1::Offer) -> Result<Self, Malformed> {
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
    /// The owner; `None` once the room is closed.
    pub owner: Option<PlayerId>,
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
}

impl Room {
    /// The side of a seated player.
    #[must_use]
    pub fn side_of(&self, player: &PlayerId) -> Option<Color> {
        Color::ALL.into_iter().find(|&side| self.seats[side].is_of(player))
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
            password: String::new(),
            request_id: String::new(),
        }
    }
}

/// Calls that change a room return the number of the last event that they caused. "Owner" marks calls for owners only.
impl Session {
    /// Creates a room with the player as its owner and first member.
    pub async fn create_room(&self, room: NewRoom) -> Result<Room, ClientError> {
        let ByColor { black, white } = room.seats;
        let request = v1::CreateRoomRequest {
            settings: Some(room.settings.into()),
            seats: vec![black.into(), white.into()],
            password: room.password,
            request_id: room.request_id,
        };
        let answer = self.lobby().create_room(request).await?.into_inner();
        Ok(parse::required(answer.room, "room")?.try_into()?)
    }

    /// The current state of a room.
    pub async fn room(&self, room: &RoomId) -> Result<Room, ClientError> {
        let answer = self
            .rooms()
            .get_room(v1::GetRoomRequest { room_id: room.to_string(), ..Default::default() })
            .await?
            .into_inner();
        Ok(parse::required(answer.room, "room")?.try_into()?)
    }

    /// Joins a public room. The password is ignored if the room has none.
    pub async fn join(&self, room: &RoomId, password: &str) -> Result<Room, ClientError> {
        self.join_by(join::Room::RoomId(room.to_string()), password).await
    }

    /// Joins the room with this join code.
    pub async fn join_by_code(&self, code: &str, password: &str) -> Result<Room, ClientError> {
        self.join_by(join::Room::JoinCode(code.to_owned()), password).await
    }

    async fn join_by(&self, room: join::Room, password: &str) -> Result<Room, ClientError> {
        let request = v1::JoinRoomRequest { room: Some(room), password: password.to_owned() };
        let answer = self.rooms().join_room(request).await?.into_inner();
        Ok(parse::required(answer.room, "room")?.try_into()?)
    }

    /// Leaves the room, and loses a running game.
    pub async fn leave(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::LeaveRoomRequest { room_id: room.to_string() };
        Ok(self.rooms().leave_room(request).await?.into_inner().seq)
    }

    /// Takes a seat, and leaves the other one.
    pub async fn take_seat(&self, room: &RoomId, side: Color) -> Result<u64, ClientError> {
        let request = v1::TakeSeatRequest { room_id: room.to_string(), seat: parse::seat_number(side) };
        Ok(self.rooms().take_seat(request).await?.into_inner().seq)
    }

    /// Leaves the seat.
    pub async fn leave_seat(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::LeaveSeatRequest { room_id: room.to_string() };
        Ok(self.rooms().leave_seat(request).await?.into_inner().seq)
    }

    /// Owner: swaps the occupants of the seats.
    pub async fn swap_seats(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::SwapSeatsRequest { room_id: room.to_string() };
        Ok(self.rooms().swap_seats(request).await?.into_inner().seq)
    }

    /// Owner: opens a seat.
    pub async fn open_seat(&self, room: &RoomId, side: Color) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::Open(v1::OpenSeat {})).await
    }

    /// Owner: reserves a seat for a player, who is notified.
    pub async fn reserve_seat(&self, room: &RoomId, side: Color, player: &PlayerId) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::ReservedFor(player.to_string())).await
    }

    /// Owner: gives a seat to an AI.
    pub async fn seat_ai(&self, room: &RoomId, side: Color, ai: Ai) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::Ai(ai.into())).await
    }

    async fn set_seat(&self, room: &RoomId, side: Color, to: set_seat::Occupant) -> Result<u64, ClientError> {
        let request =
            v1::SetSeatRequest { room_id: room.to_string(), seat: parse::seat_number(side), occupant: Some(to) };
        Ok(self.rooms().set_seat(request).await?.into_inner().seq)
    }

    /// Sets whether the player is ready for the next game.
    pub async fn set_ready(&self, room: &RoomId, ready: bool) -> Result<u64, ClientError> {
        let request = v1::SetReadyRequest { room_id: room.to_string(), ready };
        Ok(self.rooms().set_ready(request).await?.into_inner().seq)
    }

    /// Owner: removes a member; with `ban`, for the room's lifetime.
    pub async fn kick(&self, room: &RoomId, player: &PlayerId, ban: bool) -> Result<u64, ClientError> {
        let request = v1::KickMemberRequest { room_id: room.to_string(), player_id: player.to_string(), ban };
        Ok(self.rooms().kick_member(request).await?.into_inner().seq)
    }

    /// Administrator: removes the lines of chat that were posted at this time.
    pub async fn remove_chat(&self, room: &RoomId, at: SystemTime) -> Result<u64, ClientError> {
        let request = v1::RemoveChatRequest { room_id: room.to_string(), at: Some(at.into()) };
        Ok(self.rooms().remove_chat(request).await?.into_inner().seq)
    }

    /// Owner: makes another member the owner.
    pub async fn transfer_ownership(&self, room: &RoomId, player: &PlayerId) -> Result<u64, ClientError> {
        let request = v1::TransferOwnershipRequest { room_id: room.to_string(), player_id: player.to_string() };
        Ok(self.rooms().transfer_ownership(request).await?.into_inner().seq)
    }

    /// Owner: changes the settings in `fields`, or all if it is empty, but not the password.
    pub async fn update_settings(
        &self,
        room: &RoomId,
        settings: Settings,
        fields: &[&str],
    ) -> Result<u64, ClientError> {
        let fields = if fields.is_empty() { &["*"] } else { fields };
        let paths = fields.iter().map(|&field| field.to_owned()).collect();
        let request = v1::UpdateSettingsRequest {
            room_id: room.to_string(),
            settings: Some(settings.into()),
            update_mask: Some(prost_types::FieldMask { paths }),
            ..Default::default()
        };
        Ok(self.rooms().update_settings(request).await?.into_inner().seq)
    }

    /// Owner: sets the password for joining; empty for none.
    pub async fn set_password(&self, room: &RoomId, password: &str) -> Result<u64, ClientError> {
        let request = v1::UpdateSettingsRequest {
            room_id: room.to_string(),
            password: password.to_owned(),
            clear_password: password.is_empty(),
            ..Default::default()
        };
        Ok(self.rooms().update_settings(request).await?.into_inner().seq)
    }

    /// Owner: starts a game or series. The same `request_id`, if not empty, returns the same game.
    pub async fn start_game(&self, room: &RoomId, request_id: &str) -> Result<GameId, ClientError> {
        let request = v1::StartGameRequest { room_id: room.to_string(), request_id: request_id.to_owned() };
        Ok(GameId::parse(self.rooms().start_game(request).await?.into_inner().game_id)?)
    }

    /// Owner: makes the running game the last of its series, or ends the series between two games.
    pub async fn end_series(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::EndSeriesRequest { room_id: room.to_string() };
        Ok(self.rooms().end_series(request).await?.into_inner().seq)
    }

    /// Owner: closes the room.
    pub async fn close_room(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::CloseRoomRequest { room_id: room.to_string() };
        Ok(self.rooms().close_room(request).await?.into_inner().seq)
    }

    /// Posts a line of chat.
    pub async fn chat(&self, room: &RoomId, text: &str) -> Result<u64, ClientError> {
        let request = v1::PostChatRequest { room_id: room.to_string(), text: text.to_owned() };
        Ok(self.rooms().post_chat(request).await?.into_inner().seq)
    }

    /// A snapshot of the room, then its events; see [`Room::apply`].
    pub async fn watch(&self, room: &RoomId) -> Result<Incoming<RoomUpdate>, ClientError> {
        self.watch_with(room, "", "", None).await
    }

    /// Like [`Session::watch`], with a join code and password if needed (else empty), resuming after event `after_seq`.
    pub async fn watch_with(
        &self,
        room: &RoomId,
        join_code: &str,
        password: &str,
        after_seq: Option<u64>,
    ) -> Result<Incoming<RoomUpdate>, ClientError> {
        let request = v1::WatchRoomRequest {
            room_id: room.to_string(),
            join_code: join_code.to_owned(),
            password: password.to_owned(),
            after_seq,
            heartbeat_seconds: PROMPT_SECONDS,
            ..Default::default()
        };
        let updates = self.rooms().watch_room(request).await?.into_inner();
        Ok(Incoming::with_heartbeats(updates, PROMPT_HEARTBEAT, RoomUpdate::parse))
    }
}
