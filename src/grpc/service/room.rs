//! One room: its members, seats and settings, and the stream of its events.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::{
    lobby::{read_request_id, seen},
    streaming::{End, Feed, Pulse, Source, Told, feed},
};
use crate::{
    grpc::{
        layer::caller::{Power, caller, caller_with_power, password, room_id},
        status,
    },
    {
        proto::{Frame, convert, server::room_service_server::RoomService, v1},
        room::{Command, Credentials, JoinCode, PasswordHash, PlayerId, Rejection, RoomId, Seq, Viewer},
        runtime::{Clock, Player, RoomError, Runtime, Snapshot, Update, Watch},
    },
};

/// The room service over a runtime.
pub(crate) struct Rooms {
    pub(crate) runtime: Runtime,
}

impl Rooms {
    /// Reads the caller and the room, carries out the command, and says which event was the last.
    async fn change<T>(
        &self,
        request: &Request<T>,
        room: &str,
        command: impl FnOnce() -> Result<Command, Status>,
    ) -> Result<u64, Status> {
        let player = caller(request)?;
        let accepted = self.runtime.command(&player, room_id(room)?, command()?).await;
        Ok(accepted.map_err(status::failed)?.seq.0)
    }

    /// Joins a room, and looks at it.
    async fn enter(
        &self,
        player: &Arc<Player>,
        named: Named,
        password: Option<PasswordHash>,
    ) -> Result<Snapshot, RoomError> {
        let (id, code) = match named {
            Named::Id(id) => (Some(id), None),
            Named::Code(code) => (code.and_then(|code| self.runtime.room_by_code(code)), code),
        };
        let id = id.ok_or(Rejection::RoomNotFound)?;
        let credentials = Credentials { code, password };
        self.runtime.command(player, id, Command::Join(player.profile().clone(), credentials)).await?;
        self.runtime.look(player, id, &credentials).await
    }

    /// As [`Rooms::change`], for what administrators may do in any room.
    async fn rule<T>(
        &self,
        request: &Request<T>,
        room: &str,
        command: impl FnOnce() -> Result<Command, Status>,
    ) -> Result<u64, Status> {
        let (player, power) = caller_with_power(request)?;
        let (room, command) = (room_id(room)?, command()?);
        let accepted = match power {
            Power::Player => self.runtime.command(&player, room, command).await,
            Power::Admin => {
                tracing::info!(%room, by = %player.id(), ?command, "an administrator's command");
                self.runtime.rule(room, command).await
            }
        };
        Ok(accepted.map_err(status::failed)?.seq.0)
    }

    /// What the new settings are depends on the old ones, which only members' rooms tell.
    async fn reconfigured(&self, player: &Player, wire: v1::UpdateSettingsRequest) -> Result<Command, Status> {
        let password = password(&wire.password)?;
        let snapshot = self.runtime.look(player, room_id(&wire.room_id)?, &Credentials::default()).await;
        let snapshot = snapshot.map_err(status::failed)?;
        let current = snapshot.room.settings();
        let mut settings = convert::read_changed_settings(wire.settings, wire.update_mask.as_ref(), current)
            .map_err(status::malformed)?;
        if wire.clear_password {
            settings.password = None;
        }
        settings.password = password.or(settings.password);
        Ok(Command::Configure(Box::new(settings)))
    }
}

/// How a room is named by those who join it.
#[derive(Clone, Copy)]
enum Named {
    Id(RoomId),
    /// None where the text cannot be a code.
    Code(Option<JoinCode>),
}

#[tonic::async_trait]
impl RoomService for Rooms {
    async fn get_room(&self, request: Request<v1::GetRoomRequest>) -> Result<Response<v1::GetRoomResponse>, Status> {
        let (player, power) = caller_with_power(&request)?;
        let id = room_id(&request.into_inner().room_id)?;
        let snapshot = match power {
            Power::Player => self.runtime.look(&player, id, &Credentials::default()).await,
            Power::Admin => self.runtime.inspect(id).await,
        };
        let snapshot = snapshot.map_err(status::failed)?;
        Ok(Response::new(v1::GetRoomResponse { room: Some(seen(&self.runtime, &player, &snapshot)) }))
    }

    async fn join_room(&self, request: Request<v1::JoinRoomRequest>) -> Result<Response<v1::JoinRoomResponse>, Status> {
        let player = caller(&request)?;
        let wire = request.into_inner();
        let password = password(&wire.password)?;
        let named = match &wire.room {
            Some(v1::join_room_request::Room::RoomId(id)) => Named::Id(room_id(id)?),
            Some(v1::join_room_request::Room::JoinCode(code)) => Named::Code(code.parse().ok()),
            None => return Err(status::refused(Rejection::RoomNotFound)),
        };
        let entered = self.enter(&player, named, password);
        let snapshot = match (named, password) {
            (Named::Id(_), None) => entered.await,
            _ => self.runtime.guess(&player, entered).await,
        };
        let snapshot = snapshot.map_err(status::failed)?;
        Ok(Response::new(v1::JoinRoomResponse { room: Some(seen(&self.runtime, &player, &snapshot)) }))
    }

    async fn leave_room(
        &self,
        request: Request<v1::LeaveRoomRequest>,
    ) -> Result<Response<v1::LeaveRoomResponse>, Status> {
        let seq = self.change(&request, &request.get_ref().room_id, || Ok(Command::Leave)).await?;
        Ok(Response::new(v1::LeaveRoomResponse { seq }))
    }

    async fn take_seat(&self, request: Request<v1::TakeSeatRequest>) -> Result<Response<v1::TakeSeatResponse>, Status> {
        let wire = request.get_ref();
        let seat = || convert::read_seat(wire.seat).map(Command::TakeSeat).map_err(status::malformed);
        let seq = self.change(&request, &wire.room_id, seat).await?;
        Ok(Response::new(v1::TakeSeatResponse { seq }))
    }

    async fn leave_seat(
        &self,
        request: Request<v1::LeaveSeatRequest>,
    ) -> Result<Response<v1::LeaveSeatResponse>, Status> {
        let seq = self.change(&request, &request.get_ref().room_id, || Ok(Command::LeaveSeat)).await?;
        Ok(Response::new(v1::LeaveSeatResponse { seq }))
    }

    async fn swap_seats(
        &self,
        request: Request<v1::SwapSeatsRequest>,
    ) -> Result<Response<v1::SwapSeatsResponse>, Status> {
        let seq = self.change(&request, &request.get_ref().room_id, || Ok(Command::SwapSeats)).await?;
        Ok(Response::new(v1::SwapSeatsResponse { seq }))
    }

    async fn set_seat(&self, request: Request<v1::SetSeatRequest>) -> Result<Response<v1::SetSeatResponse>, Status> {
        let player = caller(&request)?;
        let wire = request.into_inner();
        let room = room_id(&wire.room_id)?;
        let seat = convert::read_seat(wire.seat).map_err(status::malformed)?;
        let wish = convert::read_seat_setting(wire.occupant).map_err(status::malformed)?;
        let accepted = self.runtime.set_seat(&player, room, seat, wish).await.map_err(status::failed)?;
        Ok(Response::new(v1::SetSeatResponse { seq: accepted.seq.0 }))
    }

    async fn set_ready(&self, request: Request<v1::SetReadyRequest>) -> Result<Response<v1::SetReadyResponse>, Status> {
        let wire = request.get_ref();
        let seq = self.change(&request, &wire.room_id, || Ok(Command::SetReady(wire.ready))).await?;
        Ok(Response::new(v1::SetReadyResponse { seq }))
    }

    async fn kick_member(
        &self,
        request: Request<v1::KickMemberRequest>,
    ) -> Result<Response<v1::KickMemberResponse>, Status> {
        let wire = request.get_ref();
        let kick = || Ok(Command::Kick { player: player_id(&wire.player_id)?, ban: wire.ban });
        let seq = self.rule(&request, &wire.room_id, kick).await?;
        Ok(Response::new(v1::KickMemberResponse { seq }))
    }

    async fn transfer_ownership(
        &self,
        request: Request<v1::TransferOwnershipRequest>,
    ) -> Result<Response<v1::TransferOwnershipResponse>, Status> {
        let wire = request.get_ref();
        let transfer = || player_id(&wire.player_id).map(Command::Transfer);
        let seq = self.change(&request, &wire.room_id, transfer).await?;
        Ok(Response::new(v1::TransferOwnershipResponse { seq }))
    }

    async fn update_settings(
        &self,
        request: Request<v1::UpdateSettingsRequest>,
    ) -> Result<Response<v1::UpdateSettingsResponse>, Status> {
        let player = caller(&request)?;
        let wire = request.into_inner();
        let room = room_id(&wire.room_id)?;
        let command = self.reconfigured(&player, wire).await?;
        let accepted = self.runtime.command(&player, room, command).await.map_err(status::failed)?;
        Ok(Response::new(v1::UpdateSettingsResponse { seq: accepted.seq.0 }))
    }

    async fn start_game(
        &self,
        request: Request<v1::StartGameRequest>,
    ) -> Result<Response<v1::StartGameResponse>, Status> {
        let player = caller(&request)?;
        let wire = request.into_inner();
        let room = room_id(&wire.room_id)?;
        let request_id = read_request_id(&wire.request_id)?;
        let accepted = self.runtime.start_game(&player, room, request_id).await.map_err(status::failed)?;
        Ok(Response::new(v1::StartGameResponse {
            seq: accepted.seq.0,
            game_id: accepted.game.map(|game| game.to_string()).unwrap_or_default(),
        }))
    }

    async fn close_room(
        &self,
        request: Request<v1::CloseRoomRequest>,
    ) -> Result<Response<v1::CloseRoomResponse>, Status> {
        let seq = self.rule(&request, &request.get_ref().room_id, || Ok(Command::Close)).await?;
        Ok(Response::new(v1::CloseRoomResponse { seq }))
    }

    async fn post_chat(&self, request: Request<v1::PostChatRequest>) -> Result<Response<v1::PostChatResponse>, Status> {
        let wire = request.get_ref();
        let chat = || convert::read_chat(&wire.text).map(Command::Chat).map_err(status::malformed);
        let seq = self.change(&request, &wire.room_id, chat).await?;
        Ok(Response::new(v1::PostChatResponse { seq }))
    }

    type WatchRoomStream = Feed<v1::WatchRoomResponse>;

    async fn watch_room(
        &self,
        request: Request<v1::WatchRoomRequest>,
    ) -> Result<Response<Self::WatchRoomStream>, Status> {
        let (player, power) = caller_with_power(&request)?;
        let pulse = Pulse::of(&request);
        let wire = request.into_inner();
        let id: RoomId = room_id(&wire.room_id)?;
        let code = convert::read_join_code(&wire.join_code).map_err(status::malformed)?;
        let credentials = Credentials { code, password: password(&wire.password)? };
        let after = wire.after_seq.map(Seq);
        let watch = match (power, credentials) {
            (Power::Admin, _) => self.runtime.oversee(&player, id, after).await,
            (Power::Player, Credentials { code: None, password: None }) => {
                self.runtime.watch(&player, id, credentials, after).await
            }
            (Power::Player, _) => {
                let opened = self.runtime.watch(&player, id, credentials, after);
                self.runtime.guess(&player, opened).await
            }
        };
        let clock = self.runtime.clock();
        Ok(feed(clock, pulse, RoomFeed { clock, watch: watch.map_err(status::failed)?, viewer: player.id() }))
    }
}

/// A player id; one that cannot be is a player that there is not.
fn player_id(text: &str) -> Result<PlayerId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::PlayerNotFound))
}

/// The events of a room, as one watcher gets them.
struct RoomFeed {
    clock: Clock,
    watch: Watch,
    viewer: PlayerId,
}

impl Source for RoomFeed {
    type Message = v1::WatchRoomResponse;

    async fn next(&mut self) -> Result<Frame, End> {
        Ok(match self.watch.next().await? {
            Update::Event(wire) => Frame::from_bytes(wire),
            Update::Snapshot(snapshot) => {
                let view = snapshot.room.view(Viewer::Player(self.viewer));
                let room = convert::room(view, self.clock.now(), snapshot.watchers);
                Frame::of(&v1::WatchRoomResponse { message: Some(v1::watch_room_response::Message::Snapshot(room)) })
            }
        })
    }
}

impl Told for v1::WatchRoomResponse {
    fn heartbeat(beat: v1::Heartbeat) -> Self {
        Self { message: Some(v1::watch_room_response::Message::Heartbeat(beat)) }
    }

    fn closing(closing: v1::Closing) -> Self {
        Self { message: Some(v1::watch_room_response::Message::Closing(closing)) }
    }
}
