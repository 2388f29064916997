//! A logged-in player, with its calls; those about analyses and the explorer are in the modules of their types.

use std::{
    ops::Deref,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::service::interceptor::InterceptedService;

use super::{
    Ai, Availability, Ban, BanSubject, Claim, ClientError, GameId, Guest, Incoming, Me, NewRoom, Offer,
    PROMPT_HEARTBEAT, Page, PlayEvent, PlayStream, Player, PlayerId, Reader, Room, RoomId, Settings, SideWish, backoff,
    connection::Servers,
    parse,
    reader::{Bearer, Transport},
    settings::wire_count,
    stream::{HEARTBEAT, PROMPT_SECONDS},
};
use crate::{
    rules::{Color, Square},
    v1::{
        self, analysis_service_client::AnalysisServiceClient, game_service_client::GameServiceClient,
        join_room_request as join, quick_start_request::Opponent, session_service_client::SessionServiceClient,
        set_seat_request as set_seat,
    },
};

/// The capacity of the queue of moves. A bot answers each turn once, so that it needs one per seat.
const MOVE_QUEUE: usize = 64;

/// How often a move is repeated.
const MOVE_REPEATS: u32 = 23;

/// A logged-in player, which also reads as a [`Reader`] does. Clones share the login, and dropping them does not log out.
///
/// All calls fail with [`ClientError::Refused`] and a reason, or with a broken connection.
#[derive(Clone, Debug)]
pub struct Session {
    player: Player,
    reader: Reader,
}

impl Deref for Session {
    type Target = Reader;

    fn deref(&self) -> &Reader {
        &self.reader
    }
}

impl Session {
    pub(super) fn new(servers: Arc<Servers>, player: Player, bearer: Bearer) -> Self {
        Self { player, reader: Reader { bearer, servers } }
    }

    pub(super) async fn resume(servers: Arc<Servers>, bearer: Bearer) -> Result<Self, ClientError> {
        let transport = InterceptedService::new(servers.channel(), bearer.clone());
        let me = SessionServiceClient::new(transport).get_me(v1::GetMeRequest {}).await?.into_inner();
        Ok(Self::new(servers, parse::required(me.player, "player")?.try_into()?, bearer))
    }

    pub(super) fn games(&self) -> GameServiceClient<Transport> {
        GameServiceClient::new(self.transport())
    }

    pub(super) fn analyses(&self) -> AnalysisServiceClient<Transport> {
        AnalysisServiceClient::new(self.transport())
    }

    /// The player.
    #[must_use]
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// The token for [`Client::resume`](super::Client::resume).
    #[must_use]
    pub fn token(&self) -> &str {
        let header = self.bearer.player.as_ref().and_then(|header| header.to_str().ok());
        header.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default()
    }

    /// Whether the token is limited to playing. Calls that decide over the player are refused with `FULL_TOKEN_NEEDED`.
    #[must_use]
    pub fn is_limited_to_playing(&self) -> bool {
        self.token().starts_with("play_")
    }

    /// Leaves every room, ends the streams and frees the name, unless it is claimed.
    pub async fn log_out(self) -> Result<(), ClientError> {
        SessionServiceClient::new(self.transport()).log_out(v1::LogOutRequest::default()).await?;
        Ok(())
    }

    /// Logs another player out, and frees the name if it is not claimed or `free_name` is set; for administrators.
    /// Refused with `NOT_ADMIN` and `PLAYER_NOT_FOUND`.
    pub async fn log_out_player(&self, player: &PlayerId, free_name: bool) -> Result<(), ClientError> {
        let request = v1::LogOutRequest { player_id: player.to_string(), give_up_name: free_name };
        SessionServiceClient::new(self.transport()).log_out(request).await?;
        Ok(())
    }

    /// Bans a name or a network, for a time or until the ban is removed; for administrators. Refused with `NOT_ADMIN`,
    /// `BAD_ARGUMENT` and `QUOTA_BANS`.
    pub async fn add_ban(
        &self,
        subject: BanSubject,
        reason: String,
        time: Option<Duration>,
    ) -> Result<Ban, ClientError> {
        let ban = Some(Ban { subject: Some(subject), reason, ..Default::default() });
        let request = v1::AddBanRequest { ban, duration: time.map(parse::to_wire) };
        let answer = SessionServiceClient::new(self.transport()).add_ban(request).await?.into_inner();
        Ok(parse::required(answer.ban, "ban")?)
    }

    /// A page of the bans in force, the newest first; for administrators. Refused with `NOT_ADMIN` and
    /// `BAD_PAGE_TOKEN`.
    pub async fn bans(&self, page: Option<String>) -> Result<Page<Ban>, ClientError> {
        let request = v1::ListBansRequest { page_size: 0, page_token: page.unwrap_or_default() };
        let answer = SessionServiceClient::new(self.transport()).list_bans(request).await?.into_inner();
        Ok(Page::new(answer.bans, answer.next_page_token))
    }

    /// Ends the bans of a name and those that look like it, or the ban of a network, and returns them; for
    /// administrators. Refused with `NOT_ADMIN`.
    pub async fn remove_ban(&self, subject: BanSubject) -> Result<Vec<Ban>, ClientError> {
        let request = v1::RemoveBanRequest { ban: Some(Ban { subject: Some(subject), ..Default::default() }) };
        Ok(SessionServiceClient::new(self.transport()).remove_ban(request).await?.into_inner().bans)
    }

    /// Logs out, and frees the name also if it is claimed.
    pub async fn give_up_name(self) -> Result<(), ClientError> {
        let request = v1::LogOutRequest { give_up_name: true, ..Default::default() };
        SessionServiceClient::new(self.transport()).log_out(request).await?;
        Ok(())
    }

    /// Keeps the name, the results and the rating until the token was not used for a long time. Refused with
    /// `WRONG_PHASE` before the first finished game.
    pub async fn claim_name(&self) -> Result<(), ClientError> {
        SessionServiceClient::new(self.transport()).claim_name(v1::ClaimNameRequest {}).await?;
        Ok(())
    }

    /// Replaces the token by 64 random hexadecimal digits. Store them before the call; afterwards resume with them.
    pub async fn replace_token(&self, new_token: &str) -> Result<(), ClientError> {
        let request = v1::ReplaceTokenRequest { new_token: new_token.to_owned() };
        SessionServiceClient::new(self.transport()).replace_token(request).await?;
        Ok(())
    }

    /// The player's own state, such as its rooms, its seats, and what went wrong lately.
    pub async fn me(&self) -> Result<Me, ClientError> {
        let answer = SessionServiceClient::new(self.transport()).get_me(v1::GetMeRequest {}).await?;
        Ok(answer.into_inner().try_into()?)
    }

    /// Says which version of its engine a bot plays with from now on. If it had another version before, its rating becomes
    /// provisional.
    pub async fn set_engine_version(&self, engine_version: &str) -> Result<(), ClientError> {
        let request = v1::SetEngineVersionRequest { engine_version: engine_version.to_owned() };
        SessionServiceClient::new(self.transport()).set_engine_version(request).await?;
        Ok(())
    }

    /// Sets the invitations that the player accepts. The server stores it.
    pub async fn set_availability(&self, availability: Availability) -> Result<(), ClientError> {
        let request = v1::SetAvailabilityRequest { availability: Some(availability.into()) };
        self.lobby().set_availability(request).await?;
        Ok(())
    }

    /// Starts a game against an AI, or joins or opens a room for a game against any player if `None`.
    pub async fn quick_start(&self, ai: Option<Ai>, side: SideWish) -> Result<Room, ClientError> {
        self.quick_start_with(ai, side, Settings::default()).await
    }

    /// As [`Session::quick_start`], with a clock, rated, or for some opponents only. Two players meet if they ask for the
    /// same game and the `opponents` of each accept the other.
    pub async fn quick_start_with(
        &self,
        ai: Option<Ai>,
        side: SideWish,
        settings: Settings,
    ) -> Result<Room, ClientError> {
        let opponent = ai.map_or(Opponent::Anyone(v1::Anyone::default()), |ai| Opponent::Ai(ai.into()));
        self.start_against(opponent, side, settings).await
    }

    /// As [`Session::quick_start_with`] without an AI; a call that finds the player still waiting after this time seats an
    /// AI of the server, of about the player's rating. Call it every few seconds.
    pub async fn quick_start_or_house(
        &self,
        side: SideWish,
        settings: Settings,
        house_after: Duration,
    ) -> Result<Room, ClientError> {
        let house_after = Some(parse::to_wire(house_after));
        self.start_against(Opponent::Anyone(v1::Anyone { house_after }), side, settings).await
    }

    async fn start_against(&self, opponent: Opponent, side: SideWish, settings: Settings) -> Result<Room, ClientError> {
        let request = v1::QuickStartRequest {
            settings: Some(settings.into()),
            opponent: Some(opponent),
            side: side.into(),
            request_id: String::new(),
        };
        let answer = self.lobby().quick_start(request).await?.into_inner();
        Ok(parse::required(answer.room, "room")?.try_into()?)
    }
}

/// Calls that change a room return the number of the last event that they caused. "Owner" marks calls for owners only.
impl Session {
    /// Creates a room with the player as its owner and first member.
    pub async fn create_room(&self, room: NewRoom) -> Result<Room, ClientError> {
        let mut seats = room.seats.map(v1::Seat::from);
        if let Some((side, guest, lasts)) = &room.invite {
            seats[*side].occupant = Some(v1::seat::Occupant::Invite(guest.invite(*lasts)));
        }
        let request = v1::CreateRoomRequest {
            settings: Some(room.settings.into()),
            seats: vec![seats.black, seats.white],
            password: room.password,
            request_id: room.request_id,
        };
        let answer = self.lobby().create_room(request).await?.into_inner();
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

    /// Owner: invites a player to a seat, which is kept for that time, or for the server's default one.
    pub async fn invite(
        &self,
        room: &RoomId,
        side: Color,
        guest: &Guest,
        lasts: Option<Duration>,
    ) -> Result<u64, ClientError> {
        self.set_seat(room, side, set_seat::Occupant::Invite(guest.invite(lasts))).await
    }

    /// Declines the seat that is reserved for the player; the reason may be empty.
    pub async fn decline_invitation(&self, room: &RoomId, reason: &str) -> Result<u64, ClientError> {
        let request = v1::DeclineInvitationRequest { room_id: room.to_string(), reason: reason.to_owned() };
        Ok(self.rooms().decline_invitation(request).await?.into_inner().seq)
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

    /// Names a member as a co-owner (true), or takes that back.
    pub async fn set_co_owner(&self, room: &RoomId, player: &PlayerId, co_owner: bool) -> Result<u64, ClientError> {
        let (room_id, player_id) = (room.to_string(), player.to_string());
        let request = v1::SetCoOwnerRequest { room_id, player_id, co_owner };
        Ok(self.rooms().set_co_owner(request).await?.into_inner().seq)
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
}

/// Calls that change a game return the number of the last event that they caused.
impl Session {
    /// The player's turns and games; open turns come first. Replaces the player's older stream, also that of
    /// [`Session::play_stream`].
    pub async fn turns(&self) -> Result<Incoming<PlayEvent>, ClientError> {
        let request = v1::WatchTurnsRequest { heartbeat_seconds: PROMPT_SECONDS };
        let events = self.games().watch_turns(request).await?;
        let parse = |response: v1::WatchTurnsResponse| PlayEvent::parse(response.event);
        Ok(Incoming::with_heartbeats(events, PROMPT_HEARTBEAT, parse))
    }

    /// Opens the bidirectional stream; open turns come first. Replaces the player's older stream, also that of
    /// [`Session::turns`].
    pub async fn play_stream(&self) -> Result<PlayStream, ClientError> {
        let (moves, requests) = mpsc::channel(MOVE_QUEUE);
        let events = self.games().play(ReceiverStream::new(requests)).await?;
        let parse = |response: v1::PlayResponse| PlayEvent::parse(response.event);
        let events = Incoming::with_heartbeats(events, HEARTBEAT, parse);
        Ok(PlayStream::new(events, moves))
    }

    /// Plays a move in `game` at `ply`. Idempotent; repeated for about a minute while the connection breaks or the
    /// server is busy, since the clock runs.
    pub async fn play(&self, game: &GameId, ply: u32, square: Square) -> Result<u64, ClientError> {
        let (game_id, square) = (game.to_string(), square.to_string());
        let request = v1::PlayMoveRequest { game_id, ply: wire_count(ply), square };
        let mut failures = 0;
        loop {
            match self.games().play_move(request.clone()).await.map_err(ClientError::from) {
                Err(error) if failures < MOVE_REPEATS && error.is_transient() => {
                    tokio::time::sleep(backoff(failures)).await;
                    failures += 1;
                }
                done => return Ok(done?.into_inner().seq),
            }
        }
    }

    /// Resigns the game.
    pub async fn resign(&self, game: &GameId) -> Result<u64, ClientError> {
        let request = v1::ResignRequest { game_id: game.to_string() };
        Ok(self.games().resign(request).await?.into_inner().seq)
    }

    /// Ends the game without a winner. Allowed for a player before both sides have moved, and for the owner if no human
    /// is seated.
    pub async fn abort(&self, game: &GameId) -> Result<u64, ClientError> {
        let request = v1::AbortGameRequest { game_id: game.to_string() };
        Ok(self.games().abort_game(request).await?.into_inner().seq)
    }

    /// Ends the game as a win or a draw, once the opponent has been away until [`Seat::claim_from`](super::Seat::claim_from).
    pub async fn claim(&self, game: &GameId, claim: Claim) -> Result<u64, ClientError> {
        let request = v1::ClaimGameRequest { game_id: game.to_string(), claim: v1::GameClaim::from(claim).into() };
        Ok(self.games().claim_game(request).await?.into_inner().seq)
    }

    /// Offers a draw in the game, or a rematch after it.
    pub async fn offer(&self, game: &GameId, offer: Offer) -> Result<u64, ClientError> {
        let (game_id, offer) = (game.to_string(), v1::Offer::from(offer).into());
        let request = v1::MakeOfferRequest { game_id, offer, ..Default::default() };
        Ok(self.games().make_offer(request).await?.into_inner().seq)
    }

    /// Accepts or declines the opponent's offer in the game or after it.
    pub async fn answer(&self, game: &GameId, offer: Offer, accept: bool) -> Result<u64, ClientError> {
        let (game_id, offer) = (game.to_string(), v1::Offer::from(offer).into());
        let request = v1::AnswerOfferRequest { game_id, offer, accept, ..Default::default() };
        Ok(self.games().answer_offer(request).await?.into_inner().seq)
    }
}
