//! Listing and creating rooms.

use std::{cmp::Reverse, collections::VecDeque};

use tonic::{Request, Response, Status};

use super::{
    Services, availability,
    page_token::Listing,
    request_with_id,
    streaming::{End, HeartbeatSchedule, ResponseStream, Source, stream_of},
};
use crate::{
    ai::AiKind,
    grpc::layer::caller::{Reply, Role, caller, caller_with_role, open},
    proto::{
        EncodedMessage,
        convert::{self, WireEnum as _, count},
        generated_services::lobby_service_server::LobbyService,
        v1,
    },
    room::{ChatText, DisplayName, Phase, RoomName, Settings, Viewer, Visibility, Watching},
    rules::{ByColor, Color},
    runtime::{
        ArchiveSize, Census, Games, Limits, LobbyUpdate, NewRoom, Opponent, Player, RequestCost, Row, RowFilter,
        Runtime, Snapshot, WatchedLobby, limits_table, server_metrics,
    },
};

#[tonic::async_trait]
impl LobbyService for Services {
    async fn get_server_info(&self, request: Request<v1::GetServerInfoRequest>) -> Reply<v1::GetServerInfoResponse> {
        let (_, role) = caller_with_role(&request)?;
        let archive = match role {
            Role::Admin => Some(archive_size(self.runtime.games.archive_size().await?)),
            Role::Player => None,
        };
        let Census { players, rooms, games, ai, draining, .. } = self.runtime.census();
        Ok(Response::new(v1::GetServerInfoResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: server_metrics::COMMIT.to_owned(),
            ai_kinds: AiKind::ALL.into_iter().map(ai_kind).collect(),
            limits: Some(limits(&self.runtime.limits())),
            draining,
            players: count(players),
            rooms: count(rooms),
            games: count(games),
            connections: count(self.connections.count()),
            now: Some(convert::timestamp(self.runtime.clock().now())),
            ai_load: Some(v1::AiLoad {
                threads: count(ai.threads),
                waiting: count(ai.waiting),
                moves: ai.moves,
                cheaper_moves: ai.cheaper_moves,
            }),
            archive,
        }))
    }

    async fn list_rooms(&self, request: Request<v1::ListRoomsRequest>) -> Reply<v1::ListRoomsResponse> {
        let (player, wire) = open(request)?;
        let wire_filter = wire.filter.unwrap_or_default();
        let listing = Listing::new("ListRooms", &wire_filter);
        let filter = row_filter(wire_filter)?;
        let size = convert::read_page_size(wire.page_size)?;
        let after = listing.read(&wire.page_token)?.map(|(created, room)| (Reverse(created), room));
        let searched = if filter == RowFilter::default() { 0 } else { rooms_in_list(&self.runtime) };
        player.charge(RequestCost::Rooms { searched, returned: size })?;
        let rows = self.runtime.lobby.page(&filter, after, size).await;
        let full = rows.len() == size;
        let next = rows.last().filter(|_| full).map(|row| listing.write(row.created, row.id));
        Ok(Response::new(v1::ListRoomsResponse {
            rooms: summaries(&self.runtime.games, &rows).await,
            next_page_token: next.unwrap_or_default(),
        }))
    }

    type WatchRoomsStream = ResponseStream<v1::WatchRoomsResponse>;

    async fn watch_rooms(&self, request: Request<v1::WatchRoomsRequest>) -> Reply<Self::WatchRoomsStream> {
        let (player, schedule) = (caller(&request)?, HeartbeatSchedule::of(&request));
        let filter = row_filter(request.into_inner().filter.unwrap_or_default())?;
        let rooms = rooms_in_list(&self.runtime);
        let returned = rooms.min(self.runtime.lobby.most_watched());
        let searched = if filter == RowFilter::default() { 0 } else { rooms - returned };
        player.charge(RequestCost::Rooms { searched, returned })?;
        let watched = self.runtime.streams.lobby(&player, filter)?;
        let updates = RoomListUpdates { games: self.runtime.games.clone(), watched, ready: VecDeque::new() };
        Ok(ResponseStream::new(self.runtime.clock(), schedule, stream_of(updates)))
    }

    async fn create_room(&self, request: Request<v1::CreateRoomRequest>) -> Reply<v1::CreateRoomResponse> {
        let (player, mut wire) = open(request)?;
        // It does not count for the request id, as a fast hash of it would be stored.
        let password = std::mem::take(&mut wire.password);
        let request = request_with_id(&player, &wire.request_id, "CreateRoom", &wire)?;
        let password = convert::read_password(&password)?;
        let mut settings = convert::read_new_settings(wire.settings, &player.name)?;
        let seats = convert::read_seats(wire.seats, player.id())?;
        if let Some(password) = password {
            settings.password = Some(self.runtime.rooms.hash_password(&player, password).await?);
        }
        let made = self.runtime.rooms.create(&player, NewRoom { settings, seats }, request).await;
        let room = room_of(&self.runtime, &player, &made?);
        Ok(Response::new(v1::CreateRoomResponse { room: Some(room) }))
    }

    async fn set_availability(
        &self,
        request: Request<v1::SetAvailabilityRequest>,
    ) -> Reply<v1::SetAvailabilityResponse> {
        let (player, wire) = open(request)?;
        let accepted = availability::read_availability(wire.availability.unwrap_or_default())?;
        self.runtime.sessions.set_availability(&player, accepted).await?;
        Ok(Response::new(v1::SetAvailabilityResponse {}))
    }

    async fn list_players(&self, request: Request<v1::ListPlayersRequest>) -> Reply<v1::ListPlayersResponse> {
        let (player, wire) = open(request)?;
        let wire_filter = wire.filter.unwrap_or_default();
        let listing = Listing::new("ListPlayers", &wire_filter);
        let filter = availability::read_player_filter(wire_filter)?;
        let size = convert::read_page_size(wire.page_size)?;
        let after = listing.read_id(&wire.page_token)?;
        let searched = self.runtime.census().players;
        player.charge(RequestCost::Rooms { searched, returned: size })?;
        let (online, next) = self.runtime.rooms.online(filter, after, size).await?;
        let mut players = Vec::with_capacity(online.len());
        for found in online {
            let rating = self.runtime.games.listed_rating(found.profile.id).await;
            players.push(v1::OnlinePlayer {
                player: Some(convert::player(&found.profile)),
                rating: rating.unwrap_or_default().into(),
                seats: count(found.seats),
                seat_limit: found.seat_limit.into(),
                availability: found.availability.map(availability::availability),
            });
        }
        let next_page_token = next.map(|id| listing.write_id(id)).unwrap_or_default();
        Ok(Response::new(v1::ListPlayersResponse { players, next_page_token }))
    }

    async fn quick_start(&self, request: Request<v1::QuickStartRequest>) -> Reply<v1::QuickStartResponse> {
        let (player, wire) = open(request)?;
        let side = convert::read_side_preference(wire.side)?;
        let request = request_with_id(&player, &wire.request_id, "QuickStart", &wire)?;
        let opponent = match wire.opponent {
            Some(v1::quick_start_request::Opponent::Ai(ai)) => Opponent::Ai(convert::read_ai("ai", ai)?),
            Some(v1::quick_start_request::Opponent::Anyone(anyone)) => match anyone.house_after {
                None => Opponent::Anyone,
                Some(after) => Opponent::AnyoneOrHouse(convert::read_duration("anyone.house_after", after)?),
            },
            None => {
                let malformed = convert::Malformed::argument("opponent", "must be an AI or anyone");
                return Err(malformed.into());
            }
        };
        let settings = wire.settings.map(|settings| convert::read_new_settings(Some(settings), &player.name));
        let settings = settings.transpose()?;
        if !matches!(opponent, Opponent::Ai(_))
            && settings.as_ref().is_some_and(|new| new.visibility == Visibility::Private)
        {
            return Err(
                convert::Malformed::setting("visibility", "must be public, so that others find the room").into()
            );
        }
        let started = self.runtime.rooms.quick_start(&player, opponent, side, settings, request).await;
        let room = room_of(&self.runtime, &player, &started?);
        Ok(Response::new(v1::QuickStartResponse { room: Some(room) }))
    }
}

/// A room as seen by `player`.
pub(crate) fn room_of(runtime: &Runtime, player: &Player, snapshot: &Snapshot) -> v1::Room {
    room_seen_by(runtime, Viewer::Player(player.id()), snapshot)
}

pub(crate) fn room_seen_by(runtime: &Runtime, viewer: Viewer, snapshot: &Snapshot) -> v1::Room {
    convert::room(snapshot.room.view(viewer), runtime.clock().now(), snapshot.watchers)
}

struct RoomListUpdates {
    games: Games,
    watched: WatchedLobby,
    /// Messages of the last update that are not sent yet.
    ready: VecDeque<v1::watch_rooms_response::Message>,
}

impl Source for RoomListUpdates {
    async fn next(&mut self) -> Result<EncodedMessage, End> {
        use v1::watch_rooms_response::Message;
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Ok(EncodedMessage::new(&v1::WatchRoomsResponse { message: Some(message) }));
            }
            match self.watched.next().await? {
                LobbyUpdate::Page { after: None, rows, .. } => {
                    let rooms = summaries(&self.games, &rows).await;
                    self.ready.push_back(Message::Snapshot(v1::RoomList { rooms }));
                }
                LobbyUpdate::Page { after: Some(_), rows, .. } => {
                    let rows = summaries(&self.games, &rows).await;
                    self.ready.extend(rows.into_iter().map(Message::Upserted));
                }
                LobbyUpdate::Changed { upserted, removed, .. } => {
                    let upserted = summaries(&self.games, &upserted).await;
                    self.ready.extend(upserted.into_iter().map(Message::Upserted));
                    self.ready.extend(removed.iter().map(|(_, room)| Message::Removed(room.to_string())));
                }
            }
        }
    }
}

/// The rows of the list, and the private rooms of this server.
fn rooms_in_list(runtime: &Runtime) -> usize {
    runtime.census().rooms.saturating_add(runtime.lobby.peer_rows())
}

fn row_filter(wire: v1::RoomFilter) -> Result<RowFilter, Status> {
    let text = convert::read_search_text(&wire.text)?;
    let tournament =
        (!wire.tournament_id.is_empty()).then(|| convert::read_id("filter.tournament_id", &wire.tournament_id));
    Ok(RowFilter {
        phase: Phase::read("filter.phase", wire.phase)?,
        open_seat: wire.open_seat,
        text: text.map(str::to_lowercase),
        tournament: tournament.transpose()?,
    })
}

async fn summaries(games: &Games, rows: &[Row]) -> Vec<v1::RoomSummary> {
    let mut summaries = Vec::with_capacity(rows.len());
    for row in rows {
        let mut ratings = ByColor::default();
        for side in Color::ALL {
            if let Some(player) = row.seats[side].occupant.player() {
                ratings[side] = games.listed_rating(player).await;
            }
        }
        summaries.push(summary(row, ratings));
    }
    summaries
}

fn summary(row: &Row, ratings: ByColor<Option<u16>>) -> v1::RoomSummary {
    let seats: Vec<_> =
        Color::ALL.into_iter().map(|side| convert::lone_seat(&row.seats[side], row.present[side])).collect();
    let taken = Color::ALL.into_iter().filter(|&side| row.seats[side].occupant.can_play()).count();
    let discs = |side| row.board.map_or(0, |board| board.count(side));
    // No password was checked, so rooms with a password show no board.
    let board = row.board.filter(|_| row.watching == Watching::Everyone && !row.has_password);
    let shown = |side| board.map_or(0, |board| board.discs(side).0);
    let last_move = board.and(row.last_move);
    let (turn, clocks) = row.clocks.filter(|_| board.is_some()).unzip();
    v1::RoomSummary {
        room_id: row.id.to_string(),
        name: row.name.to_string(),
        owner_name: row.owner.as_ref().map(ToString::to_string).unwrap_or_default(),
        phase: row.phase.wire().into(),
        seats,
        seats_taken: count(taken),
        has_password: row.has_password,
        watching: row.watching.wire().into(),
        watchers: count(row.watchers),
        ply: row.ply.into(),
        black_discs: discs(Color::Black).into(),
        white_discs: discs(Color::White).into(),
        created_at: Some(convert::timestamp(row.created)),
        black: shown(Color::Black),
        white: shown(Color::White),
        last_move: last_move.map(|square| square.to_string()).unwrap_or_default(),
        move_limit: row.time.per_move.map(convert::duration),
        total_time: row.time.total.map(convert::duration),
        increment: (!row.time.increment.is_zero()).then(|| convert::duration(row.time.increment)),
        rated: row.rated,
        opponents: convert::opponents(row.opponents),
        finished: row.finished,
        black_rating: ratings.black.unwrap_or_default().into(),
        white_rating: ratings.white.unwrap_or_default().into(),
        meeting: row.meeting.map(convert::room_meeting),
        side_to_move: convert::side_or_none(turn).into(),
        clocks: clocks.as_ref().map(convert::clocks),
    }
}

fn ai_kind(kind: AiKind) -> v1::AiKind {
    let profile = kind.profile();
    v1::AiKind {
        kind: kind.to_string(),
        summary: profile.summary.to_owned(),
        levels: profile.levels.into(),
        default_level: profile.default_level.into(),
        strength: profile.strength.to_owned(),
        elo: profile
            .elo
            .iter()
            .map(|measured| v1::Elo { elo: measured.elo.into(), error: measured.error.into() })
            .collect(),
    }
}

fn archive_size(size: ArchiveSize) -> v1::ArchiveSize {
    let count = |count| i64::try_from(count).unwrap_or(i64::MAX);
    v1::ArchiveSize { games: count(size.games), bytes: count(size.bytes) }
}

/// The limits as reported by `GetServerInfo`: all rows of the table, and the lengths of texts and series.
fn limits(limits: &Limits) -> v1::Limits {
    macro_rules! on_wire {
        (Duration, $limit:expr) => {
            Some(convert::duration($limit))
        };
        (u64, $limit:expr) => {
            i64::try_from($limit).unwrap_or(i64::MAX)
        };
        ($count:ident, $limit:expr) => {
            count($limit)
        };
    }
    macro_rules! message {
        ($($name:ident: $type:ident = $default:expr, $unit:ident from $least:tt $(to $most:tt)?, $flag:literal:
            $help:literal, $reason:literal;)*) => {
            v1::Limits {
                $($name: on_wire!($type, limits.$name),)*
                log_ins_per_second: count(limits.log_ins_per_minute.div_ceil(60)),
                name_characters: on_wire!(usize, DisplayName::MAX),
                room_name_characters: on_wire!(usize, RoomName::MAX),
                chat_characters: on_wire!(usize, ChatText::MAX),
                games_per_series: Settings::MAX_GAMES.into(),
            }
        };
    }
    limits_table!(message)
}
