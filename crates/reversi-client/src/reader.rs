//! The calls that only read; those about the explorer are in the module of its types.

use std::sync::Arc;

use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
};

use super::{
    Ai, ClientError, ExportFormat, GameFilter, GameId, GameRecord, Incoming, ListUpdate, OnlinePlayer,
    PROMPT_HEARTBEAT, Page, Player, PlayerFilter, PlayerId, Room, RoomFilter, RoomId, RoomRow, RoomUpdate, ServerInfo,
    Stats,
    connection::{ServerChannel, Servers},
    parse,
    settings::wire_count,
    stream::{HEARTBEAT, PROMPT_SECONDS},
};
use crate::v1::{
    self, lobby_service_client::LobbyServiceClient, record_service_client::RecordServiceClient,
    room_service_client::RoomServiceClient,
};

/// A channel to the server in use that adds the caller's tokens to every call.
pub(super) type Transport = InterceptedService<ServerChannel, Bearer>;

/// The header with an administrator's secret.
pub(super) const ADMIN: &str = "reversi-admin";

/// The tokens that calls carry: the player's and the administrator's. Without a player the first is missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Bearer {
    pub(super) player: Option<MetadataValue<Ascii>>,
    pub(super) admin: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        for (header, token) in [("authorization", &self.player), (ADMIN, &self.admin)] {
            token.iter().for_each(|token| drop(request.metadata_mut().insert(header, token.clone())));
        }
        Ok(request)
    }
}

/// Reads from a server: rooms, games and results. Of [`Client::reader`](super::Client::reader) without a player; a
/// [`Session`](super::Session) reads as its player, who may see more. Clones share the connection.
///
/// All calls fail with [`ClientError::Refused`] and a reason, or with a broken connection.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(super) bearer: Bearer,
    pub(super) servers: Arc<Servers>,
}

impl Reader {
    pub(super) fn transport(&self) -> Transport {
        InterceptedService::new(self.servers.channel(), self.bearer.clone())
    }

    pub(super) fn rooms(&self) -> RoomServiceClient<Transport> {
        RoomServiceClient::new(self.transport())
    }

    pub(super) fn lobby(&self) -> LobbyServiceClient<Transport> {
        LobbyServiceClient::new(self.transport())
    }

    pub(super) fn records(&self) -> RecordServiceClient<Transport> {
        RecordServiceClient::new(self.transport())
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
        let updates = self.lobby().watch_rooms(request).await?;
        Ok(Incoming::with_heartbeats(updates, HEARTBEAT, ListUpdate::parse))
    }

    /// A page of the players who are online; `page` is [`Page::next`] of the last page. Refused with `BAD_PAGE_TOKEN`.
    pub async fn list_players(
        &self,
        filter: PlayerFilter,
        page: Option<String>,
    ) -> Result<Page<OnlinePlayer>, ClientError> {
        let kind = filter.kind.map(i32::from).unwrap_or_default();
        let wire = v1::PlayerFilter { kind, free: filter.free, available: filter.available };
        let page_token = page.unwrap_or_default();
        let request = v1::ListPlayersRequest { filter: Some(wire), page_size: 0, page_token };
        let answer = self.lobby().list_players(request).await?.into_inner();
        Ok(Page::new(parse::all(answer.players)?, answer.next_page_token))
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

    /// A snapshot of the room, then its events; see [`Room::apply`].
    pub async fn watch(&self, room: &RoomId) -> Result<Incoming<RoomUpdate>, ClientError> {
        self.watch_with(room, "", "", None).await
    }

    /// Like [`Reader::watch`], with a join code and password if needed (else empty), resuming after event `after_seq`.
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
        let updates = self.rooms().watch_room(request).await?;
        Ok(Incoming::with_heartbeats(updates, PROMPT_HEARTBEAT, RoomUpdate::parse))
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

    /// The results of the player who has this name now, or else who had it last, and the other players with stored
    /// games who had it earlier. Refused with `PLAYER_NOT_FOUND`.
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
