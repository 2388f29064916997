//! A logged-in player, with the calls about sessions, the lobby and records; others are in the modules of their types.

use std::time::Duration;

use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::Channel,
};

use super::{
    Ai, Ban, BanSubject, ClientError, ExportFormat, GameFilter, GameId, GameRecord, Incoming, ListUpdate, Me, Page,
    Player, PlayerId, Room, RoomFilter, RoomRow, ServerInfo, SideWish, Stats, parse, settings::wire_count,
    stream::HEARTBEAT,
};
use crate::v1::{
    self, analysis_service_client::AnalysisServiceClient, game_service_client::GameServiceClient,
    lobby_service_client::LobbyServiceClient, quick_start_request::Opponent,
    record_service_client::RecordServiceClient, room_service_client::RoomServiceClient,
    session_service_client::SessionServiceClient,
};

/// A channel that adds the caller's tokens to every call.
pub(super) type Transport = InterceptedService<Channel, Bearer>;

/// A logged-in player. Clones share the login, and dropping them does not log out.
///
/// All calls fail with [`ClientError::Refused`] and a reason, or with a broken connection.
#[derive(Clone, Debug)]
pub struct Session {
    player: Player,
    bearer: Bearer,
    channel: Channel,
}

/// The header with an administrator's secret.
pub(super) const ADMIN: &str = "reversi-admin";

#[derive(Clone, Debug)]
pub(super) struct Bearer {
    pub(super) player: MetadataValue<Ascii>,
    pub(super) admin: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.player.clone());
        if let Some(admin) = &self.admin {
            request.metadata_mut().insert(ADMIN, admin.clone());
        }
        Ok(request)
    }
}

impl Session {
    pub(super) fn new(channel: Channel, player: Player, bearer: Bearer) -> Self {
        Self { player, bearer, channel }
    }

    pub(super) async fn resume(channel: Channel, bearer: Bearer) -> Result<Self, ClientError> {
        let transport = InterceptedService::new(channel.clone(), bearer.clone());
        let me = SessionServiceClient::new(transport).get_me(v1::GetMeRequest {}).await?.into_inner();
        Ok(Self::new(channel, parse::required(me.player, "player")?.try_into()?, bearer))
    }

    fn transport(&self) -> Transport {
        InterceptedService::new(self.channel.clone(), self.bearer.clone())
    }

    pub(super) fn rooms(&self) -> RoomServiceClient<Transport> {
        RoomServiceClient::new(self.transport())
    }

    pub(super) fn games(&self) -> GameServiceClient<Transport> {
        GameServiceClient::new(self.transport())
    }

    pub(super) fn analyses(&self) -> AnalysisServiceClient<Transport> {
        AnalysisServiceClient::new(self.transport())
    }

    pub(super) fn lobby(&self) -> LobbyServiceClient<Transport> {
        LobbyServiceClient::new(self.transport())
    }

    pub(super) fn records(&self) -> RecordServiceClient<Transport> {
        RecordServiceClient::new(self.transport())
    }

    /// The player.
    #[must_use]
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// The token for [`Client::resume`](super::Client::resume).
    #[must_use]
    pub fn token(&self) -> &str {
        self.bearer.player.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default()
    }

    /// Leaves every room, ends the streams and frees the name, unless it is claimed.
    pub async fn log_out(self) -> Result<(), ClientError> {
        SessionServiceClient::new(self.transport()).log_out(v1::LogOutRequest::default()).await?;
        Ok(())
    }

    /// Logs another player out, and frees the name if it is not claimed or `free_name` is set; for administrators. Refused
    /// with `NOT_ADMIN` and `PLAYER_NOT_FOUND`.
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

    /// A page of the bans in force, the newest first; for administrators. Refused with `NOT_ADMIN` and `BAD_PAGE_TOKEN`.
    pub async fn bans(&self, page: Option<String>) -> Result<Page<Ban>, ClientError> {
        let request = v1::ListBansRequest { page_size: 0, page_token: page.unwrap_or_default() };
        let answer = SessionServiceClient::new(self.transport()).list_bans(request).await?.into_inner();
        Ok(Page::new(answer.bans, answer.next_page_token))
    }

    /// Ends the bans of a name and those that look like it, or the ban of a network, and returns them; for administrators.
    /// Refused with `NOT_ADMIN`.
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

    /// The player's own state, such as its rooms and seats.
    pub async fn me(&self) -> Result<Me, ClientError> {
        let answer = SessionServiceClient::new(self.transport()).get_me(v1::GetMeRequest {}).await?;
        Ok(answer.into_inner().try_into()?)
    }

    /// The server's AIs, limits and counts.
    pub async fn server_info(&self) -> Result<ServerInfo, ClientError> {
        Ok(self.lobby().get_server_info(v1::GetServerInfoRequest {}).await?.into_inner())
    }

    /// A page of the listed rooms, newest first; `page` is [`Page::next`] of the last page. Refused with
    /// `BAD_PAGE_TOKEN`.
    pub async fn list_rooms(&self, filter: RoomFilter, page: Option<String>) -> Result<Page<RoomRow>, ClientError> {
        let page_token = page.unwrap_or_default();
        let request = v1::ListRoomsRequest { filter: Some(filter.into()), page_size: 0, page_token };
        let answer = self.lobby().list_rooms(request).await?.into_inner();
        Ok(Page::new(parse::all(answer.rooms)?, answer.next_page_token))
    }

    /// The listed rooms, then every change; see [`RoomList`](super::RoomList). Refused with `QUOTA_STREAMS`.
    pub async fn watch_rooms(&self, filter: RoomFilter) -> Result<Incoming<ListUpdate>, ClientError> {
        let request = v1::WatchRoomsRequest { filter: Some(filter.into()) };
        let updates = self.lobby().watch_rooms(request).await?.into_inner();
        Ok(Incoming::with_heartbeats(updates, HEARTBEAT, ListUpdate::parse))
    }

    /// Starts a game against an AI, or joins or opens a room for a game against any player if `None`.
    pub async fn quick_start(&self, ai: Option<Ai>, side: SideWish) -> Result<Room, ClientError> {
        let request = v1::QuickStartRequest {
            opponent: Some(ai.map_or(Opponent::Anyone(v1::Anyone {}), |ai| Opponent::Ai(ai.into()))),
            side: side.into(),
            request_id: String::new(),
        };
        let answer = self.lobby().quick_start(request).await?.into_inner();
        Ok(parse::required(answer.room, "room")?.try_into()?)
    }

    /// A finished game. Refused with `GAME_NOT_FOUND`.
    pub async fn record(&self, game: &GameId) -> Result<GameRecord, ClientError> {
        let request = v1::GetGameRequest { game_id: game.to_string() };
        let answer = self.records().get_game(request).await?.into_inner();
        Ok(parse::required(answer.game, "game")?.try_into()?)
    }

    /// A page of finished games without their plies, newest first; `page` is [`Page::next`] of the last page. Refused
    /// with `BAD_PAGE_TOKEN`.
    pub async fn list_games(
        &self,
        filter: GameFilter,
        page_size: u32,
        page: Option<String>,
    ) -> Result<Page<GameRecord>, ClientError> {
        let request = v1::ListGamesRequest {
            filter: Some(filter.into()),
            page_size: wire_count(page_size),
            page_token: page.unwrap_or_default(),
        };
        let answer = self.records().list_games(request).await?.into_inner();
        Ok(Page::new(parse::all(answer.games)?, answer.next_page_token))
    }

    /// Finished games as text, one line each.
    pub async fn export_games(
        &self,
        filter: GameFilter,
        format: ExportFormat,
    ) -> Result<Incoming<(GameId, String)>, ClientError> {
        let request = v1::ExportGamesRequest { filter: Some(filter.into()), format: format.into() };
        let lines = self.records().export_games(request).await?.into_inner();
        Ok(Incoming::new(lines, |line: v1::ExportGamesResponse| Ok(Some((GameId::parse(line.game_id)?, line.line)))))
    }

    /// A player's results. Refused with `PLAYER_NOT_FOUND`.
    pub async fn stats(&self, player: &PlayerId) -> Result<(Player, Stats), ClientError> {
        let request = v1::GetPlayerStatsRequest { player_id: player.to_string(), ..Default::default() };
        let (player, stats, _) = self.stats_by(request).await?;
        Ok((player, stats))
    }

    /// The results of the player who has this name now, or else who had it last, and the other players with stored games
    /// who had it earlier. Refused with `PLAYER_NOT_FOUND`.
    pub async fn stats_of_name(&self, name: &str) -> Result<(Player, Stats, Vec<Player>), ClientError> {
        self.stats_by(v1::GetPlayerStatsRequest { display_name: name.to_owned(), ..Default::default() }).await
    }

    async fn stats_by(&self, request: v1::GetPlayerStatsRequest) -> Result<(Player, Stats, Vec<Player>), ClientError> {
        let answer = self.records().get_player_stats(request).await?.into_inner();
        let player = parse::required(answer.player, "player")?.try_into()?;
        Ok((player, answer.stats.unwrap_or_default().try_into()?, parse::all(answer.earlier)?))
    }

    /// The results of an AI at its level. Refused with `BAD_ARGUMENT` for an unknown kind or level.
    pub async fn ai_stats(&self, ai: Ai) -> Result<Stats, ClientError> {
        let v1::AiSeat { kind, level, .. } = ai.into();
        let answer = self.records().get_ai_stats(v1::GetAiStatsRequest { kind, level }).await?.into_inner();
        Ok(answer.stats.unwrap_or_default().try_into()?)
    }
}
