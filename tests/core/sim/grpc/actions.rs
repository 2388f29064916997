//! The requests of simulated clients as gRPC calls.

use std::time::Duration;

use reversi::{
    proto::{
        convert::{self, WireEnum as _},
        v1::{self, join_room_request::Room as JoinedRoom},
    },
    room::{AiSpec, Availability, Command, GameId, PlayerId, PlayerRef, RoomId, SeatSpec, Seq, Settings},
    rules::Color,
    runtime::{NewRoom, Opponent},
};
use tonic::Status;

use super::client::GrpcClient;
use crate::sim::{
    event_log::{Action, Outcome},
    server::SimServer,
};

impl GrpcClient {
    /// Performs the request of a player.
    pub(crate) async fn outcome(&self, server: &SimServer, me: PlayerId, action: Action) -> Result<Outcome, Status> {
        let seq = match action {
            Action::LogIn | Action::LogOut => unreachable!("done by the client"),
            Action::Create(new, request) => {
                let answer = self.lobby().create_room(create_room(*new, request)).await?.into_inner();
                return Ok(created(server, answer.room));
            }
            Action::Quick(opponent, side, settings, request) => {
                let quick_start = quick_start(opponent, side, &settings, request);
                let answer = self.lobby().quick_start(quick_start).await?.into_inner();
                return Ok(created(server, answer.room));
            }
            Action::Command(room, Command::Join(_, credentials)) => {
                let room = match credentials.code {
                    Some(code) => JoinedRoom::JoinCode(code.to_string()),
                    None => JoinedRoom::RoomId(room.to_string()),
                };
                let joined = self.join(me, room).await?;
                return Ok(joined.map_or(Outcome::Removed, |room| Outcome::Done(Seq(room.seq))));
            }
            Action::JoinByCode(code) => {
                let joined = self.join(me, JoinedRoom::JoinCode(code.to_string())).await?;
                let outcome = |room: v1::Room| Outcome::Joined(room.room_id.parse().expect("an id"), Seq(room.seq));
                return Ok(joined.map_or(Outcome::Removed, outcome));
            }
            Action::Command(room, command) => self.command(room, command).await?,
            Action::SetSeat(room, side, wish) => {
                let (room_id, seat) = (room.to_string(), convert::seat_number(side));
                let request = v1::SetSeatRequest { room_id, seat, occupant: Some(seat_setting(wish)) };
                self.rooms().set_seat(request).await?.into_inner().seq
            }
            Action::Start(room, request) => {
                let request_id = request.unwrap_or_default();
                let request = v1::StartGameRequest { room_id: room.to_string(), request_id };
                self.rooms().start_game(request).await?.into_inner().seq
            }
            Action::SetAvailability(Availability { available, increment, max_rating, games_at_once, .. }) => {
                let number = |number: Option<u16>| number.map_or(0, Into::into);
                let availability = v1::Availability {
                    unavailable: !available,
                    longest_increment: increment.longest.map(convert::duration),
                    max_rating: number(max_rating),
                    games_at_once: number(games_at_once),
                    ..Default::default()
                };
                let request = v1::SetAvailabilityRequest { availability: Some(availability) };
                self.lobby().set_availability(request).await?;
                return Ok(Outcome::AvailabilitySet);
            }
            Action::Play(game, ply, square) => {
                let (game_id, square) = (game.to_string(), square.to_string());
                let request = v1::PlayMoveRequest { game_id, ply: ply.into(), square };
                self.games().play_move(request).await?.into_inner().seq
            }
        };
        Ok(Outcome::Done(Seq(seq)))
    }

    /// Joins a room. Returns none if the player was removed before the answer.
    async fn join(&self, me: PlayerId, room: JoinedRoom) -> Result<Option<v1::Room>, Status> {
        let request = v1::JoinRoomRequest { room: Some(room), password: String::new() };
        let room = self.rooms().join_room(request).await?.into_inner().room.expect("a room");
        let me = me.to_string();
        let is_me = |member: &v1::Member| member.player.as_ref().is_some_and(|player| player.player_id == me);
        Ok(room.members.iter().any(is_me).then_some(room))
    }

    /// Executes a command of a member. Returns its last event.
    async fn command(&self, room: RoomId, command: Command) -> Result<u64, Status> {
        let (mut rooms, mut games) = (self.rooms(), self.games());
        let game_id = |number| GameId { room, number }.to_string();
        let room_id = room.to_string();
        Ok(match command {
            Command::Leave => rooms.leave_room(v1::LeaveRoomRequest { room_id }).await?.into_inner().seq,
            Command::TakeSeat(side) => {
                let request = v1::TakeSeatRequest { room_id, seat: convert::seat_number(side) };
                rooms.take_seat(request).await?.into_inner().seq
            }
            Command::LeaveSeat => rooms.leave_seat(v1::LeaveSeatRequest { room_id }).await?.into_inner().seq,
            Command::SwapSeats => rooms.swap_seats(v1::SwapSeatsRequest { room_id }).await?.into_inner().seq,
            Command::DeclineInvitation(reason) => {
                let reason = reason.map(|reason| reason.to_string()).unwrap_or_default();
                rooms.decline_invitation(v1::DeclineInvitationRequest { room_id, reason }).await?.into_inner().seq
            }
            Command::SetReady(ready) => rooms.set_ready(v1::SetReadyRequest { room_id, ready }).await?.into_inner().seq,
            Command::Kick { player, ban } => {
                let request = v1::KickMemberRequest { room_id, player_id: player.to_string(), ban };
                rooms.kick_member(request).await?.into_inner().seq
            }
            Command::Transfer(player) => {
                let request = v1::TransferOwnershipRequest { room_id, player_id: player.to_string() };
                rooms.transfer_ownership(request).await?.into_inner().seq
            }
            Command::Configure(settings, _) => {
                rooms.update_settings(update_settings(room_id, &settings)).await?.into_inner().seq
            }
            Command::EndSeries => rooms.end_series(v1::EndSeriesRequest { room_id }).await?.into_inner().seq,
            Command::Close => rooms.close_room(v1::CloseRoomRequest { room_id }).await?.into_inner().seq,
            Command::Chat(text) => {
                let request = v1::PostChatRequest { room_id, text: text.to_string() };
                rooms.post_chat(request).await?.into_inner().seq
            }
            Command::Resign { game } => {
                games.resign(v1::ResignRequest { game_id: game_id(game) }).await?.into_inner().seq
            }
            Command::Abort { game } => {
                games.abort_game(v1::AbortGameRequest { game_id: game_id(game) }).await?.into_inner().seq
            }
            Command::Offer(offer, game) => {
                let game_id = game.map(game_id).unwrap_or_default();
                let request = v1::MakeOfferRequest { room_id, offer: offer.wire().into(), game_id };
                games.make_offer(request).await?.into_inner().seq
            }
            Command::Answer(offer, game, accept) => {
                let game_id = game.map(game_id).unwrap_or_default();
                let request = v1::AnswerOfferRequest { room_id, offer: offer.wire().into(), accept, game_id };
                games.answer_offer(request).await?.into_inner().seq
            }
            other => unreachable!("no client sends {other:?}"),
        })
    }
}

fn created(server: &SimServer, room: Option<v1::Room>) -> Outcome {
    let room = room.expect("a room");
    let id = room.room_id.parse().expect("an id");
    // Only members see the code; a repeated request may return a room that the player has left.
    if let Ok(code) = room.join_code.parse() {
        server.add_room(id, code);
    }
    Outcome::RoomCreated(id, Seq(room.seq))
}

fn create_room(new: NewRoom, request: Option<String>) -> v1::CreateRoomRequest {
    use v1::seat::Occupant;

    let seat = |spec| {
        let occupant = match spec {
            SeatSpec::Open => Occupant::Open(v1::OpenSeat {}),
            SeatSpec::Me => Occupant::Player(v1::Player::default()),
            SeatSpec::Reserved(player) => {
                Occupant::Reserved(v1::Player { player_id: player.to_string(), ..Default::default() })
            }
            SeatSpec::Invited(guest, lasts) => Occupant::Invite(invitation(guest, lasts)),
            SeatSpec::Ai(ai) => Occupant::Ai(ai_seat(ai)),
        };
        v1::Seat { occupant: Some(occupant), ..Default::default() }
    };
    v1::CreateRoomRequest {
        settings: Some(convert::room_settings(&new.settings)),
        seats: vec![seat(new.seats.black), seat(new.seats.white)],
        password: String::new(),
        request_id: request.unwrap_or_default(),
    }
}

fn quick_start(
    opponent: Opponent,
    side: Option<Color>,
    settings: &Settings,
    request: Option<String>,
) -> v1::QuickStartRequest {
    use v1::quick_start_request::Opponent as Wire;

    let side = match side {
        None => v1::SidePreference::Random,
        Some(Color::Black) => v1::SidePreference::Black,
        Some(Color::White) => v1::SidePreference::White,
    };
    let opponent = match opponent {
        Opponent::Ai(ai) => Wire::Ai(ai_seat(ai)),
        Opponent::Anyone => Wire::Anyone(v1::Anyone::default()),
        Opponent::AnyoneOrHouse(after) => Wire::Anyone(v1::Anyone { house_after: after.try_into().ok() }),
    };
    v1::QuickStartRequest {
        opponent: Some(opponent),
        side: side.into(),
        request_id: request.unwrap_or_default(),
        settings: Some(convert::room_settings(settings)),
    }
}

fn update_settings(room_id: String, settings: &Settings) -> v1::UpdateSettingsRequest {
    v1::UpdateSettingsRequest {
        room_id,
        settings: Some(convert::room_settings(settings)),
        update_mask: Some(prost_types::FieldMask { paths: vec!["*".to_owned()] }),
        clear_password: true,
        ..Default::default()
    }
}

fn seat_setting(wish: SeatSpec) -> v1::set_seat_request::Occupant {
    use v1::set_seat_request::Occupant;

    match wish {
        SeatSpec::Open => Occupant::Open(v1::OpenSeat {}),
        SeatSpec::Reserved(player) => Occupant::ReservedFor(player.to_string()),
        SeatSpec::Invited(guest, lasts) => Occupant::Invite(invitation(guest, lasts)),
        SeatSpec::Ai(ai) => Occupant::Ai(ai_seat(ai)),
        SeatSpec::Me => unreachable!("only in a new room"),
    }
}

fn invitation(guest: PlayerRef, lasts: Duration) -> v1::SeatInvitation {
    let player = match guest {
        PlayerRef::Id(id) => v1::seat_invitation::Player::PlayerId(id.to_string()),
        PlayerRef::Name(name) => v1::seat_invitation::Player::DisplayName(name.to_string()),
    };
    v1::SeatInvitation { player: Some(player), lasts: Some(convert::duration(lasts)) }
}

fn ai_seat(ai: AiSpec) -> v1::AiSeat {
    v1::AiSeat { kind: ai.kind, level: ai.level.unwrap_or(0).into(), seed: ai.seed.unwrap_or(0) }
}
