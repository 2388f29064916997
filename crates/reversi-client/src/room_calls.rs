//! The calls about rooms. Changes answer with the number of the last event that they caused.

use super::{Ai, ClientError, GameId, Incoming, Occupant, PlayerId, Room, RoomId, RoomUpdate, Session, Settings, read};
use crate::{
    rules::{ByColor, Color},
    v1::{self, join_room_request as join, set_seat_request as set_seat},
};

/// A room to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoom {
    /// What its owner chooses.
    pub settings: Settings,
    /// What the seats begin as; a player can only be the caller.
    pub seats: ByColor<Occupant>,
    /// Asked of those who join, if not empty.
    pub password: String,
    /// Makes the call repeatable, if not empty: the same id answers with the same room.
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

/// All of these fail with a [`ClientError::Refused`] that says why, or with a broken connection.
#[allow(clippy::missing_errors_doc)]
impl Session {
    /// Makes a room that the player owns, as its first member.
    pub async fn create_room(&self, room: NewRoom) -> Result<Room, ClientError> {
        let ByColor { black, white } = room.seats;
        self.create(v1::CreateRoomRequest {
            settings: Some(room.settings.into()),
            seats: vec![black.into(), white.into()],
            password: room.password,
            request_id: room.request_id,
        })
        .await
    }

    /// A room as it is now.
    pub async fn room(&self, room: &RoomId) -> Result<Room, ClientError> {
        let answer = self.rooms().get_room(v1::GetRoomRequest { room_id: room.to_string() }).await?.into_inner();
        Ok(read::required(answer.room, "room")?.try_into()?)
    }

    /// Becomes a member of a public room. The password is looked at only where there is one.
    pub async fn join(&self, room: &RoomId, password: &str) -> Result<Room, ClientError> {
        self.join_by(join::Room::RoomId(room.to_string()), password).await
    }

    /// Becomes a member of the room with this join code.
    pub async fn join_by_code(&self, code: &str, password: &str) -> Result<Room, ClientError> {
        self.join_by(join::Room::JoinCode(code.to_owned()), password).await
    }

    async fn join_by(&self, room: join::Room, password: &str) -> Result<Room, ClientError> {
        let request = v1::JoinRoomRequest { room: Some(room), password: password.to_owned() };
        let answer = self.rooms().join_room(request).await?.into_inner();
        Ok(read::required(answer.room, "room")?.try_into()?)
    }

    /// Stops being a member; in a running game that loses it.
    pub async fn leave(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::LeaveRoomRequest { room_id: room.to_string() };
        Ok(self.rooms().leave_room(request).await?.into_inner().seq)
    }

    /// Sits down, or changes to the other seat.
    pub async fn take_seat(&self, room: &RoomId, side: Color) -> Result<u64, ClientError> {
        let request = v1::TakeSeatRequest { room_id: room.to_string(), seat: read::seat_number(side) };
        Ok(self.rooms().take_seat(request).await?.into_inner().seq)
    }

    /// Gets up.
    pub async fn leave_seat(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::LeaveSeatRequest { room_id: room.to_string() };
        Ok(self.rooms().leave_seat(request).await?.into_inner().seq)
    }

    /// Owner: lets the occupants change sides.
    pub async fn swap_seats(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::SwapSeatsRequest { room_id: room.to_string() };
        Ok(self.rooms().swap_seats(request).await?.into_inner().seq)
    }

    /// Owner: opens a seat.
    pub async fn open_seat(&self, room: &RoomId, side: Color) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::Open(v1::OpenSeat {})).await
    }

    /// Owner: keeps a seat for a player, who is told.
    pub async fn reserve_seat(&self, room: &RoomId, side: Color, player: &PlayerId) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::ReservedFor(player.to_string())).await
    }

    /// Owner: gives a seat to an AI.
    pub async fn seat_ai(&self, room: &RoomId, side: Color, ai: Ai) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::Ai(ai.into())).await
    }

    async fn set_seat(&self, room: &RoomId, side: Color, to: set_seat::Occupant) -> Result<u64, ClientError> {
        let request =
            v1::SetSeatRequest { room_id: room.to_string(), seat: read::seat_number(side), occupant: Some(to) };
        Ok(self.rooms().set_seat(request).await?.into_inner().seq)
    }

    /// Is ready for the next game, or no longer.
    pub async fn set_ready(&self, room: &RoomId, ready: bool) -> Result<u64, ClientError> {
        let request = v1::SetReadyRequest { room_id: room.to_string(), ready };
        Ok(self.rooms().set_ready(request).await?.into_inner().seq)
    }

    /// Owner: removes a member, for the room's life if `ban`.
    pub async fn kick(&self, room: &RoomId, player: &PlayerId, ban: bool) -> Result<u64, ClientError> {
        let request = v1::KickMemberRequest { room_id: room.to_string(), player_id: player.to_string(), ban };
        Ok(self.rooms().kick_member(request).await?.into_inner().seq)
    }

    /// Owner: makes another member the owner.
    pub async fn transfer_ownership(&self, room: &RoomId, player: &PlayerId) -> Result<u64, ClientError> {
        let request = v1::TransferOwnershipRequest { room_id: room.to_string(), player_id: player.to_string() };
        Ok(self.rooms().transfer_ownership(request).await?.into_inner().seq)
    }

    /// Owner: changes the named fields of the settings; all of them when none is named. The password stays.
    pub async fn update_settings(
        &self,
        room: &RoomId,
        settings: Settings,
        fields: &[&str],
    ) -> Result<u64, ClientError> {
        let paths = fields.iter().map(|&field| field.to_owned()).collect();
        let request = v1::UpdateSettingsRequest {
            room_id: room.to_string(),
            settings: Some(settings.into()),
            update_mask: Some(prost_types::FieldMask { paths }),
            ..Default::default()
        };
        Ok(self.rooms().update_settings(request).await?.into_inner().seq)
    }

    /// Owner: asks this of those who join from now on; nothing if it is empty.
    pub async fn set_password(&self, room: &RoomId, password: &str) -> Result<u64, ClientError> {
        let request = v1::UpdateSettingsRequest {
            room_id: room.to_string(),
            password: password.to_owned(),
            clear_password: password.is_empty(),
            ..Default::default()
        };
        Ok(self.rooms().update_settings(request).await?.into_inner().seq)
    }

    /// Owner: starts a game or series. The same `request_id`, if not empty, answers with the same game.
    pub async fn start_game(&self, room: &RoomId, request_id: &str) -> Result<GameId, ClientError> {
        let request = v1::StartGameRequest { room_id: room.to_string(), request_id: request_id.to_owned() };
        Ok(GameId::read(self.rooms().start_game(request).await?.into_inner().game_id)?)
    }

    /// Closes the room.
    pub async fn close_room(&self, room: &RoomId) -> Result<u64, ClientError> {
        let request = v1::CloseRoomRequest { room_id: room.to_string() };
        Ok(self.rooms().close_room(request).await?.into_inner().seq)
    }

    /// Says something in the room.
    pub async fn chat(&self, room: &RoomId, text: &str) -> Result<u64, ClientError> {
        let request = v1::PostChatRequest { room_id: room.to_string(), text: text.to_owned() };
        Ok(self.rooms().post_chat(request).await?.into_inner().seq)
    }

    /// The room's state, then every event; see [`Room::apply`].
    pub async fn watch(&self, room: &RoomId) -> Result<Incoming<RoomUpdate>, ClientError> {
        self.watch_with(room, "", "", None).await
    }

    /// As [`Session::watch`], into a room that asks for its join code or a password (empty where it does not), and
    /// going on after an event already known.
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
        };
        Ok(Incoming::new(self.rooms().watch_room(request).await?.into_inner(), RoomUpdate::read))
    }
}
