//! Finished games: lists, exports and statistics.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::{
    FutureExt as _,
    stream::{self, BoxStream},
};
use tokio::time::timeout;
use tonic::{Request, Response, Status};

use super::{
    Services,
    game_record::{json_line, participant, record, summary, transcript},
    page_token::{Listing, MAX_RANK},
    record_filter,
    session::stats,
};
use crate::{
    grpc::{
        layer::caller::{Reply, caller, game_id, open},
        status,
    },
    proto::{EncodedMessage, convert, generated_services::record_service_server::RecordService, v1},
    room::{AiSeat, DisplayName, GameRecord, Rejection, ggf},
    rules::{Position, opening_names},
    runtime::{
        Contestant, Exploration, ExploredMove, GameFilter, GameKey, GamePage, OpenStream, Player, RankingPage,
        RequestCost, RoomError, Runtime, StreamEnd, TooFast,
    },
    tournament::Phase,
};

/// Number of games that an export reads from the archive at a time.
const EXPORT_STEP: usize = 100;

#[tonic::async_trait]
impl RecordService for Services {
    async fn list_games(&self, request: Request<v1::ListGamesRequest>) -> Reply<v1::ListGamesResponse> {
        let (player, wire) = open(request)?;
        let wire_filter = wire.filter.unwrap_or_default();
        let listing = Listing::new("ListGames", &wire_filter);
        let filter = self.read_filter(wire_filter, &player).await?;
        let size = convert::read_page_size(wire.page_size)?;
        let after = listing.read(&wire.page_token)?;
        player.charge(page_cost(&filter, size))?;
        let GamePage { games, next } = self.runtime.games.page(filter, after, size).await?;
        Ok(Response::new(v1::ListGamesResponse {
            games: games.iter().map(|game| summary(game)).collect(),
            next_page_token: next.map(|(ended, game)| listing.write(ended, game)).unwrap_or_default(),
        }))
    }

    async fn get_game(&self, request: Request<v1::GetGameRequest>) -> Reply<v1::GetGameResponse> {
        let player = caller(&request)?;
        player.charge(RequestCost::Games(1))?;
        let id = game_id(&request.into_inner().game_id)?;
        let game = self.runtime.games.get(&player, id).await?;
        Ok(Response::new(v1::GetGameResponse { game: Some(record(&game)) }))
    }

    type ExportGamesStream = BoxStream<'static, Result<EncodedMessage, Status>>;

    async fn export_games(&self, request: Request<v1::ExportGamesRequest>) -> Reply<Self::ExportGamesStream> {
        let (player, wire) = open(request)?;
        let write: fn(&GameRecord) -> String = match v1::ExportFormat::try_from(wire.format) {
            Ok(v1::ExportFormat::Unspecified | v1::ExportFormat::Transcript) => transcript,
            Ok(v1::ExportFormat::Ggf) => ggf::write,
            Ok(v1::ExportFormat::Json) => json_line,
            Err(_) => {
                return Err(convert::Malformed::argument("format", "must be a known format").into());
            }
        };
        let filter = self.read_filter(wire.filter.unwrap_or_default(), &player).await?;
        let export = Export::new(&self.runtime, player, filter)?;
        Ok(Response::new(Box::pin(stream::unfold(export, move |mut export| async move {
            let line =
                |game: Arc<GameRecord>| v1::ExportGamesResponse { game_id: game.id.to_string(), line: write(&game) };
            let line = export.next().await?.map(|game| EncodedMessage::new(&line(game)));
            Some((line, export))
        }))))
    }

    async fn get_player_stats(&self, request: Request<v1::GetPlayerStatsRequest>) -> Reply<v1::GetPlayerStatsResponse> {
        caller(&request)?.charge(RequestCost::LookUp)?;
        let wire = request.into_inner();
        let not_found = || Status::from(RoomError::PlayerNotFound);
        let (profile, earlier) = if wire.player_id.is_empty() {
            // A stored name need not satisfy the rules for new ones.
            let name = DisplayName::parse(&wire.display_name).or_else(|_| DisplayName::from_stored(&wire.display_name));
            let name = name.map_err(|_| not_found())?;
            let mut named = self.runtime.games.players_named(&name).await?;
            (if named.is_empty() { None } else { Some(named.remove(0)) }, named)
        } else {
            let id = wire.player_id.parse().map_err(|_| not_found())?;
            (self.runtime.games.player(id).await?, Vec::new())
        };
        let profile = profile.ok_or_else(not_found)?;
        let totals = self.runtime.games.player_stats(Contestant::Player(profile.id)).await?;
        Ok(Response::new(v1::GetPlayerStatsResponse {
            player: Some(convert::player(&profile)),
            stats: Some(stats(&totals)),
            logged_in: self.runtime.players().get(profile.id).is_some(),
            earlier: earlier.iter().map(convert::player).collect(),
        }))
    }

    async fn get_ai_stats(&self, request: Request<v1::GetAiStatsRequest>) -> Reply<v1::GetAiStatsResponse> {
        caller(&request)?.charge(RequestCost::LookUp)?;
        let v1::GetAiStatsRequest { kind, level } = request.into_inner();
        let spec = convert::read_ai("ai", v1::AiSeat { kind, level, seed: 0 })?;
        let AiSeat { kind, level, .. } = self.runtime.rooms.ai_seat(&spec)?;
        let who = Contestant::Ai { kind: Arc::clone(&kind), level };
        let totals = self.runtime.games.player_stats(who).await?;
        Ok(Response::new(v1::GetAiStatsResponse {
            kind: kind.to_string(),
            level: level.into(),
            stats: Some(stats(&totals)),
        }))
    }

    async fn list_ratings(&self, request: Request<v1::ListRatingsRequest>) -> Reply<v1::ListRatingsResponse> {
        let (player, wire) = open(request)?;
        let filter = record_filter::read_ranking(&wire)?;
        let size = convert::read_page_size(wire.page_size)?;
        let v1::ListRatingsRequest { kind, provisional, page_token, .. } = wire;
        let of_filter = v1::ListRatingsRequest { kind, provisional, ..Default::default() };
        let listing = Listing::new("ListRatings", &of_filter);
        let (last, after) = listing.read_rank(&page_token)?.unzip();
        let last = last.unwrap_or(0);
        player.charge(RequestCost::SearchedGames(size))?;
        let RankingPage { ranked, next } = self.runtime.games.ranking(filter, after, size).await?;
        let participants = ranked.iter().zip(last + 1..).map(|(ranked, rank)| v1::RankedParticipant {
            rank: convert::count(rank),
            participant: Some(participant(&ranked.participant)),
            stats: Some(stats(&ranked.stats)),
        });
        let last = last + ranked.len();
        let next = next.filter(|_| last < MAX_RANK).map(|key| listing.write_rank(last, &key));
        Ok(Response::new(v1::ListRatingsResponse {
            participants: participants.collect(),
            next_page_token: next.unwrap_or_default(),
        }))
    }

    async fn explore_position(
        &self,
        request: Request<v1::ExplorePositionRequest>,
    ) -> Reply<v1::ExplorePositionResponse> {
        let (player, wire) = open(request)?;
        let filter = record_filter::read_explorer(&wire)?;
        let position = record_filter::read_position(wire.subject)?;
        if position.is_over() {
            return Err(status::refused(Rejection::GameOver));
        }
        player.charge(RequestCost::SearchedGames(1))?;
        let Exploration { moves, recent, best } = self.runtime.games.explore(&player, position, filter).await?;
        let summaries = |games: &[Arc<GameRecord>]| games.iter().map(|game| summary(game)).collect();
        Ok(Response::new(v1::ExplorePositionResponse {
            position: Some(convert::position(position)),
            opening: opening_names::of_position(position).unwrap_or_default().to_owned(),
            moves: moves.iter().map(|explored| explored_move(position, explored)).collect(),
            recent: summaries(&recent),
            best: summaries(&best),
        }))
    }
}

/// The time after the end of a tournament in which its last games end.
const LAST_GAMES: Duration = Duration::from_secs(60 * 60);

impl Services {
    /// The filter of a request. All games of a tournament end between its creation and its end, so that few others are
    /// passed over.
    pub(super) async fn read_filter(&self, wire: v1::GameFilter, viewer: &Player) -> Result<GameFilter, Status> {
        let filter = record_filter::read_games(wire, viewer.id(), self.runtime.clock().now())?;
        let Some(id) = filter.tournament else { return Ok(filter) };
        let tournament = self.runtime.tournaments.get(id).await?;
        let last = matches!(tournament.phase(), Phase::Ended(_)).then(|| tournament.changed().after(LAST_GAMES));
        Ok(GameFilter {
            ended_from: filter.ended_from.max(Some(tournament.created())),
            ended_before: filter.ended_before.into_iter().chain(last).min(),
            ..filter
        })
    }
}

/// The games that match a filter, newest first.
pub(super) struct Export {
    runtime: Runtime,
    player: Arc<Player>,
    filter: GameFilter,
    open: OpenStream,
    /// Whether the export has ended early.
    ended: bool,
    /// The key after which the next page starts; none after the last page.
    next: Option<Option<GameKey>>,
    step: VecDeque<Arc<GameRecord>>,
}

impl Export {
    pub(super) fn new(runtime: &Runtime, player: Arc<Player>, filter: GameFilter) -> Result<Self, RoomError> {
        let open = runtime.streams.export(&player)?;
        let runtime = runtime.clone();
        Ok(Self { runtime, player, filter, open, ended: false, next: Some(None), step: VecDeque::new() })
    }

    /// The next game, or the error that ends the export early.
    pub(super) async fn next(&mut self) -> Option<Result<Arc<GameRecord>, Status>> {
        if self.ended {
            return None;
        }
        if let Some(end) = self.open.ended().now_or_never() {
            return self.cut_short(end_status(end));
        }
        while self.step.is_empty() {
            let after = self.next?;
            // Above the rate, an export is delayed, not refused.
            while let Err(TooFast { retry_after }) = self.player.charge(page_cost(&self.filter, EXPORT_STEP)) {
                if let Ok(end) = timeout(retry_after, self.open.ended()).await {
                    return self.cut_short(end_status(end));
                }
            }
            match self.runtime.games.page(self.filter, after, EXPORT_STEP).await {
                Ok(page) => (self.step, self.next) = (page.games.into(), page.next.map(Some)),
                Err(error) => return self.cut_short(error.into()),
            }
        }
        self.step.pop_front().map(Ok)
    }

    fn cut_short(&mut self, why: Status) -> Option<Result<Arc<GameRecord>, Status>> {
        self.ended = true;
        Some(Err(why))
    }
}

/// The status of an export that ends early.
fn end_status(end: StreamEnd) -> Status {
    match end {
        StreamEnd::LoggedOut => status::token_invalid(),
        _ => RoomError::Draining.into(),
    }
}

fn page_cost(filter: &GameFilter, games: usize) -> RequestCost {
    // A page of the viewer's own games is read directly; with other filters many games may have to be skipped.
    let is_own = filter.player == Some(filter.viewer) && filter.room.is_none();
    if is_own { RequestCost::Games(games) } else { RequestCost::SearchedGames(games) }
}

fn explored_move(position: Position, explored: &ExploredMove) -> v1::ExploredMove {
    let ExploredMove { squares, results, rating } = explored;
    let after = squares.iter().next().map(|square| position.play_unchecked(square).after_forced_pass().0);
    v1::ExploredMove {
        squares: convert::squares(*squares),
        games: convert::count(results.played()),
        won: convert::count(results.won),
        drawn: convert::count(results.drawn),
        lost: convert::count(results.lost),
        average_rating: rating.unwrap_or_default().into(),
        opening: after.and_then(opening_names::of_position).unwrap_or_default().to_owned(),
    }
}
