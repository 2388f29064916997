//! One room: its members, seats and settings, and the stream of its events.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::{
    Services,
    lobby::{room_of, room_seen_by},
    request_with_id,
    streaming::{End, HeartbeatSchedule, ResponseStream, Source, stream_of},
};
use crate::{
    grpc::{
        layer::caller::{Reply, Role, caller_with_role, open, player_id, room_id},
        status,
    },
    proto::{EncodedMessage, convert, generated_services::room_service_server::RoomService, v1},
    room::{Command, Credentials, PlayerId, Rejection, RoomId, Seq, Viewer},
    runtime::{Clock, Player, RoomError, Update, Watch, WatchStart},
};

/// Retries of an update that found other settings than those that it read. Each means that another update succeeded.
const UPDATE_ATTEMPTS: u32 = 16;

impl Services {
    /// Executes a command of a member. Returns the sequence number of its last event.
    async fn command(&self, player: &Arc<Player>, room: RoomId, command: Command) -> Result<u64, Status> {
        Ok(self.runtime.rooms.command(player, room, command).await?.seq.0)
    }

    /// As [`Services::command`], or by an administrator in any room.
    async fn admin_command(
        &self,
        (player, role): (Arc<Player>, Role),
        room: RoomId,
        command: Command,
    ) -> Result<u64, Status> {
        match role {
            Role::Player => self.command(&player, room, command).await,
            Role::Admin => {
                tracing::info!(%room, by = %player.id(), ?command, "an administrator's command");
                Ok(self.runtime.rooms.command_as_admin(room, command).await?.seq.0)
            }
        }
    }
}

#[tonic::async_trait]
impl RoomService for Services {
    async fn get_room(&self, request: Request<v1::GetRoomRequest>) -> Reply<v1::GetRoomResponse> {
        let (player, role) = caller_with_role(&request)?;
        let rooms = &self.runtime.rooms;
        let wire = request.into_inner();
        let (id, code) = if wire.room_id.is_empty() && !wire.join_code.is_empty() {
            let code = wire.join_code.parse().ok();
            (rooms.find(&player, code).await?, code)
        } else {
            (room_id(&wire.room_id)?, None)
        };
        let credentials = Credentials { code, ..Credentials::default() };
        let (snapshot, viewer) = match (role, rooms.snapshot(&player, id, &credentials).await) {
            (Role::Admin, _) => (rooms.snapshot_as_admin(id).await?, Viewer::Player(player.id())),
            (_, Err(RoomError::Rejected(Rejection::BadPassword | Rejection::NotMember))) if code.is_some() => {
                (rooms.snapshot_for_invited(id).await?, Viewer::Invited)
            }
            (_, outcome) => (outcome?, Viewer::Player(player.id())),
        };
        Ok(Response::new(v1::GetRoomResponse { room: Some(room_seen_by(&self.runtime, viewer, &snapshot)) }))
    }

    async fn join_room(&self, request: Request<v1::JoinRoomRequest>) -> Reply<v1::JoinRoomResponse> {
        let (player, wire) = open(request)?;
        let password = convert::read_password(&wire.password)?;
        let rooms = &self.runtime.rooms;
        let (id, code) = match &wire.room {
            Some(v1::join_room_request::Room::RoomId(id)) => (room_id(id)?, None),
            Some(v1::join_room_request::Room::JoinCode(code)) => {
                let code = code.parse().ok();
                (rooms.find(&player, code).await?, code)
            }
            None => return Err(status::refused(Rejection::RoomNotFound)),
        };
        let credentials = rooms.credentials(&player, id, code, password).await?;
        rooms.join(&player, id, credentials.clone()).await?;
        let snapshot = rooms.snapshot(&player, id, &credentials).await?;
        Ok(Response::new(v1::JoinRoomResponse { room: Some(room_of(&self.runtime, &player, &snapshot)) }))
    }

    async fn leave_room(&self, request: Request<v1::LeaveRoomRequest>) -> Reply<v1::LeaveRoomResponse> {
        let (player, wire) = open(request)?;
        let seq = self.command(&player, room_id(&wire.room_id)?, Command::Leave).await?;
        Ok(Response::new(v1::LeaveRoomResponse { seq }))
    }

    async fn take_seat(&self, request: Request<v1::TakeSeatRequest>) -> Reply<v1::TakeSeatResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let seq = self.command(&player, room, Command::TakeSeat(convert::read_seat(wire.seat)?)).await?;
        Ok(Response::new(v1::TakeSeatResponse { seq }))
    }

    async fn leave_seat(&self, request: Request<v1::LeaveSeatRequest>) -> Reply<v1::LeaveSeatResponse> {
        let (player, wire) = open(request)?;
        let seq = self.command(&player, room_id(&wire.room_id)?, Command::LeaveSeat).await?;
        Ok(Response::new(v1::LeaveSeatResponse { seq }))
    }

    async fn swap_seats(&self, request: Request<v1::SwapSeatsRequest>) -> Reply<v1::SwapSeatsResponse> {
        let (player, wire) = open(request)?;
        let seq = self.command(&player, room_id(&wire.room_id)?, Command::SwapSeats).await?;
        Ok(Response::new(v1::SwapSeatsResponse { seq }))
    }

    async fn set_seat(&self, request: Request<v1::SetSeatRequest>) -> Reply<v1::SetSeatResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let seat = convert::read_seat(wire.seat)?;
        let spec = convert::read_seat_setting(wire.occupant)?;
        let seq = self.runtime.rooms.set_seat(&player, room, seat, spec).await?.seq.0;
        Ok(Response::new(v1::SetSeatResponse { seq }))
    }

    async fn decline_invitation(
        &self,
        request: Request<v1::DeclineInvitationRequest>,
    ) -> Reply<v1::DeclineInvitationResponse> {
        let (player, wire) = open(request)?;
        let decline = Command::DeclineInvitation(convert::read_decline_reason(&wire.reason)?);
        let seq = self.command(&player, room_id(&wire.room_id)?, decline).await?;
        Ok(Response::new(v1::DeclineInvitationResponse { seq }))
    }

    async fn set_ready(&self, request: Request<v1::SetReadyRequest>) -> Reply<v1::SetReadyResponse> {
        let (player, wire) = open(request)?;
        let seq = self.command(&player, room_id(&wire.room_id)?, Command::SetReady(wire.ready)).await?;
        Ok(Response::new(v1::SetReadyResponse { seq }))
    }

    async fn kick_member(&self, request: Request<v1::KickMemberRequest>) -> Reply<v1::KickMemberResponse> {
        let (caller, wire) = (caller_with_role(&request)?, request.into_inner());
        let room = room_id(&wire.room_id)?;
        let kick = Command::Kick { player: player_id(&wire.player_id)?, ban: wire.ban };
        let seq = self.admin_command(caller, room, kick).await?;
        Ok(Response::new(v1::KickMemberResponse { seq }))
    }

    async fn transfer_ownership(
        &self,
        request: Request<v1::TransferOwnershipRequest>,
    ) -> Reply<v1::TransferOwnershipResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let seq = self.command(&player, room, Command::Transfer(player_id(&wire.player_id)?)).await?;
        Ok(Response::new(v1::TransferOwnershipResponse { seq }))
    }

    async fn set_co_owner(&self, request: Request<v1::SetCoOwnerRequest>) -> Reply<v1::SetCoOwnerResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let command = Command::SetCoOwner(player_id(&wire.player_id)?, wire.co_owner);
        let seq = self.command(&player, room, command).await?;
        Ok(Response::new(v1::SetCoOwnerResponse { seq }))
    }

    async fn update_settings(&self, request: Request<v1::UpdateSettingsRequest>) -> Reply<v1::UpdateSettingsResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let password = match convert::read_password(&wire.password)? {
            Some(password) => {
                // Hashing is slow, so only for those who may change the settings.
                let snapshot = self.runtime.rooms.current(&player, room, &Credentials::default()).await?;
                if !snapshot.room.may_manage(player.id()) {
                    return Err(RoomError::from(Rejection::NotOwner).into());
                }
                Some(self.runtime.rooms.hash_password(&player, password).await?)
            }
            None => None,
        };
        let mut attempts = 0;
        // Another call may change the settings between the reading of the current ones and the command.
        let seq = loop {
            let snapshot = self.runtime.rooms.current(&player, room, &Credentials::default()).await?;
            let current = snapshot.room.settings().clone();
            let (given, mask) = (wire.settings.as_ref(), wire.update_mask.as_ref());
            let owner = snapshot.room.owner().map_or(&player.name, |owner| &owner.name);
            let mut settings = convert::read_changed_settings(given, mask, &current, owner)?;
            if wire.clear_password {
                settings.password = None;
            }
            settings.password = password.clone().or(settings.password);
            let command = Command::Configure(Box::new(settings), Some(Box::new(current)));
            match self.runtime.rooms.command(&player, room, command).await {
                Err(RoomError::Rejected(Rejection::StaleSettings)) if attempts < UPDATE_ATTEMPTS => attempts += 1,
                accepted => break accepted?.seq.0,
            }
        };
        Ok(Response::new(v1::UpdateSettingsResponse { seq }))
    }

    async fn start_game(&self, request: Request<v1::StartGameRequest>) -> Reply<v1::StartGameResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let request = request_with_id(&player, &wire.request_id, "StartGame", &wire)?;
        let accepted = self.runtime.rooms.start_game(&player, room, request).await?;
        Ok(Response::new(v1::StartGameResponse {
            seq: accepted.seq.0,
            game_id: accepted.game.map(|game| game.to_string()).unwrap_or_default(),
        }))
    }

    async fn end_series(&self, request: Request<v1::EndSeriesRequest>) -> Reply<v1::EndSeriesResponse> {
        let (caller, wire) = (caller_with_role(&request)?, request.into_inner());
        let seq = self.admin_command(caller, room_id(&wire.room_id)?, Command::EndSeries).await?;
        Ok(Response::new(v1::EndSeriesResponse { seq }))
    }

    async fn close_room(&self, request: Request<v1::CloseRoomRequest>) -> Reply<v1::CloseRoomResponse> {
        let (caller, wire) = (caller_with_role(&request)?, request.into_inner());
        let seq = self.admin_command(caller, room_id(&wire.room_id)?, Command::Close).await?;
        Ok(Response::new(v1::CloseRoomResponse { seq }))
    }

    async fn post_chat(&self, request: Request<v1::PostChatRequest>) -> Reply<v1::PostChatResponse> {
        let (player, wire) = open(request)?;
        let room = room_id(&wire.room_id)?;
        let seq = self.command(&player, room, Command::Chat(convert::read_chat(&wire.text)?)).await?;
        Ok(Response::new(v1::PostChatResponse { seq }))
    }

    async fn remove_chat(&self, request: Request<v1::RemoveChatRequest>) -> Reply<v1::RemoveChatResponse> {
        let (caller, wire) = (caller_with_role(&request)?, request.into_inner());
        let posted =
            convert::read_timestamp("at", wire.at.ok_or_else(|| convert::Malformed::argument("at", "must be set"))?)?;
        let seq = self.admin_command(caller, room_id(&wire.room_id)?, Command::RemoveChat(posted)).await?;
        Ok(Response::new(v1::RemoveChatResponse { seq }))
    }

    type WatchRoomStream = ResponseStream<v1::WatchRoomResponse>;

    async fn watch_room(&self, request: Request<v1::WatchRoomRequest>) -> Reply<Self::WatchRoomStream> {
        let (player, role) = caller_with_role(&request)?;
        let schedule = HeartbeatSchedule::of(&request).every(request.get_ref().heartbeat_seconds)?;
        let wire = request.into_inner();
        let id = room_id(&wire.room_id)?;
        let code = convert::read_join_code(&wire.join_code)?;
        let password = convert::read_password(&wire.password)?;
        let start = match wire.after_seq {
            _ if wire.snapshots_only => WatchStart::SnapshotsOnly,
            Some(seq) => WatchStart::After(Seq(seq)),
            None => WatchStart::Snapshot,
        };
        let watch = match role {
            Role::Admin => self.runtime.streams.room_as_admin(&player, id, start).await?,
            Role::Player => {
                let credentials = self.runtime.rooms.credentials(&player, id, code, password).await?;
                self.runtime.streams.room(&player, id, credentials, start).await?
            }
        };
        let clock = self.runtime.clock();
        let events = RoomEvents { clock, watch, viewer: player.id() };
        Ok(ResponseStream::new(clock, schedule, stream_of(events)))
    }
}

struct RoomEvents {
    clock: Clock,
    watch: Watch,
    viewer: PlayerId,
}

impl Source for RoomEvents {
    async fn next(&mut self) -> Result<EncodedMessage, End> {
        Ok(match self.watch.next().await? {
            Update::Event(event) => EncodedMessage(event),
            Update::Snapshot(snapshot) => {
                let view = snapshot.room.view(Viewer::Player(self.viewer));
                let room = convert::room(view, self.clock.now(), snapshot.watchers);
                let message = v1::watch_room_response::Message::Snapshot(room);
                EncodedMessage::new(&v1::WatchRoomResponse { message: Some(message) })
            }
        })
    }
}
