//! Logging in and out.

use std::{cmp::Reverse, sync::Arc, time::Duration};

use tonic::{Request, Response, Status};

use super::{Services, availability::availability, page_token::Listing};
use crate::{
    grpc::{
        layer::{
            auth::bearer_token,
            caller::{Reply, Role, caller, caller_with_role, open},
        },
        status,
        transport::connection::Peer,
    },
    proto::{
        convert::{self, Malformed, WireEnum as _, count},
        generated_services::session_service_server::SessionService,
        v1::{self, ban::Subject, player_problem::Kind},
    },
    room::{BanReason, DisplayName, PlayerId, Rejection, RoomId},
    runtime::{
        Ban, BanSubject, Contestant, Player, PlayerStats, Problem, ProblemKind, Rating, RequestCost, Results,
        RoomError, Runtime, Token,
    },
};

/// 100 years, within what clients can read as a time.
const LONGEST_BAN: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

#[tonic::async_trait]
impl SessionService for Services {
    async fn log_in(&self, request: Request<v1::LogInRequest>) -> Reply<v1::LogInResponse> {
        let address = Peer::address(request.extensions()).cloned();
        // Others at its address, or behind its proxy, cannot keep an administrator out.
        let is_admin = request.extensions().get() == Some(&Role::Admin);
        if let Some(address) = address.as_ref().filter(|_| !is_admin) {
            address.admit_log_in()?;
        }
        let wire = request.into_inner();
        let name = convert::read_display_name(&wire.display_name)?;
        let kind = convert::read_player_kind(wire.kind)?;
        let seats = convert::read_seat_count(wire.seats)?;
        // For bans of networks.
        let ip = address.as_ref().map_or_else(|| "unknown".to_owned(), |address| address.prefix().to_string());
        let engine_version = convert::read_engine_version(&wire.engine_version, kind)?;
        let (player, token) = self.runtime.sessions.log_in(name, kind, seats, engine_version, address).await?;
        tracing::info!(player = %player.id(), name = %player.name, address = ip, "logged in");
        Ok(Response::new(v1::LogInResponse {
            player: Some(convert::player(&player.profile())),
            token: token.reveal(),
            play_token: token.play_token().reveal(),
        }))
    }

    async fn log_out(&self, request: Request<v1::LogOutRequest>) -> Reply<v1::LogOutResponse> {
        let (player, role) = caller_with_role(&request)?;
        let v1::LogOutRequest { player_id, give_up_name } = request.into_inner();
        match (player_id.as_str(), role) {
            ("", _) => self.runtime.sessions.log_out(&player, give_up_name).await?,
            (own, _) if own == player.id().to_string() => self.runtime.sessions.log_out(&player, give_up_name).await?,
            (_, Role::Player) => return Err(status::refused(Rejection::NotAdmin)),
            (other, Role::Admin) => {
                let other: PlayerId = other.parse().map_err(|_| RoomError::PlayerNotFound)?;
                self.runtime.sessions.log_out_as_admin(other, give_up_name).await?;
                tracing::info!(player = %other, by = %player.id(), "logged out by an administrator");
            }
        }
        Ok(Response::new(v1::LogOutResponse {}))
    }

    async fn claim_name(&self, request: Request<v1::ClaimNameRequest>) -> Reply<v1::ClaimNameResponse> {
        let player = caller(&request)?;
        player.charge(RequestCost::LookUp)?;
        let results = self.runtime.games.player_stats(Contestant::Player(player.id())).await?;
        if results.total().played() == 0 {
            return Err(status::refused(Rejection::WrongPhase("finish a game first; then the name can be claimed")));
        }
        self.runtime.sessions.claim_name(&player).await?;
        tracing::info!(player = %player.id(), name = %player.name, "claimed the name");
        Ok(Response::new(v1::ClaimNameResponse {}))
    }

    async fn replace_token(&self, request: Request<v1::ReplaceTokenRequest>) -> Reply<v1::ReplaceTokenResponse> {
        let (player, wire) = open(request)?;
        player.charge(RequestCost::LookUp)?;
        let token: Option<Token> = wire.new_token.parse().ok().filter(Token::looks_random);
        let token =
            token.filter(|token| self.runtime.players().bearer(token).is_none_or(|other| other.id() == player.id()));
        let token = token.ok_or_else(|| {
            Malformed::argument("new_token", "must be 64 hexadecimal digits from a secure random generator")
        })?;
        self.runtime.sessions.replace_token(&player, &token).await?;
        tracing::info!(player = %player.id(), "replaced the token");
        Ok(Response::new(v1::ReplaceTokenResponse { play_token: token.play_token().reveal() }))
    }

    async fn set_engine_version(
        &self,
        request: Request<v1::SetEngineVersionRequest>,
    ) -> Reply<v1::SetEngineVersionResponse> {
        let (player, wire) = open(request)?;
        let engine_version = convert::read_engine_version(&wire.engine_version, player.kind)?;
        self.runtime.sessions.set_engine_version(&player, engine_version).await?;
        Ok(Response::new(v1::SetEngineVersionResponse {}))
    }

    async fn get_me(&self, request: Request<v1::GetMeRequest>) -> Reply<v1::GetMeResponse> {
        let player = caller(&request)?;
        let token = bearer_token(request.metadata().as_ref())?;
        player.charge(RequestCost::LookUp)?;
        let held = self.runtime.rooms.places_of(&player).await?;
        let seats: Vec<_> = held.iter().filter(|held| held.seated).map(|held| held.room).collect();
        player.charge(RequestCost::Snapshots(2 * seats.len()))?;
        let games = self.runtime.rooms.games_in(&seats).await;
        let totals = self.runtime.games.player_stats(Contestant::Player(player.id())).await;
        let limits = self.runtime.limits();
        Ok(Response::new(v1::GetMeResponse {
            player: Some(convert::player(&player.profile())),
            room_ids: held.iter().map(|held| held.room.to_string()).collect(),
            seats: held_seats(&self.runtime, &player, &seats).await,
            game_ids: games.iter().map(ToString::to_string).collect(),
            stats: Some(stats(&totals?)),
            seat_limit: player.seat_limit.into(),
            room_limit: count(limits.rooms_per_player),
            claimed: player.is_claimed(),
            availability: player.availability().map(availability),
            turns_open: self.runtime.players().is_reading_turns(player.id()),
            problems: player.problems().into_iter().map(problem).collect(),
            play_token: player.play_token_of(&token).map(|token| token.reveal()).unwrap_or_default(),
        }))
    }

    async fn add_ban(&self, request: Request<v1::AddBanRequest>) -> Reply<v1::AddBanResponse> {
        let (admin, v1::AddBanRequest { ban, duration }) = open_as_admin(request)?;
        let ban = ban.unwrap_or_default();
        let subject = read_ban_subject(ban.subject)?;
        let reason = Some(ban.reason).filter(|reason| !reason.is_empty());
        let reason = reason.map(|reason| BanReason::parse(&reason)).transpose();
        let reason = reason.map_err(|error| Malformed::argument("ban.reason", error.to_string()))?;
        let since = self.runtime.clock().now();
        let duration = duration.map(|duration| convert::read_duration("duration", duration)).transpose()?;
        if duration.is_some_and(|duration| !(Duration::from_secs(1)..=LONGEST_BAN).contains(&duration)) {
            return Err(Malformed::argument("duration", "must be a second to 100 years, or left out").into());
        }
        let ban = Ban { subject, reason, since, until: duration.map(|duration| since.after(duration)) };
        if !self.runtime.sessions.add_ban(ban.clone()).await? {
            return Err(status::too_many_bans());
        }
        tracing::info!(subject = %ban.subject, until = ?ban.until, by = %admin.id(), "banned");
        Ok(Response::new(v1::AddBanResponse { ban: Some(wire_ban(&ban)) }))
    }

    async fn list_bans(&self, request: Request<v1::ListBansRequest>) -> Reply<v1::ListBansResponse> {
        let (_, wire) = open_as_admin(request)?;
        let listing = Listing::new("ListBans", &());
        let (size, after) = (convert::read_page_size(wire.page_size)?, listing.read::<String>(&wire.page_token)?);
        let mut bans = self.runtime.sessions.bans().await?;
        if let Some((since, subject)) = after {
            let last = (Reverse(since), subject);
            bans.retain(|ban| (Reverse(ban.since), ban.subject.to_string()) > last);
        }
        let next = bans.get(..size).filter(|page| page.len() < bans.len()).and_then(|page| page.last());
        Ok(Response::new(v1::ListBansResponse {
            next_page_token: next.map(|last| listing.write(last.since, &last.subject)).unwrap_or_default(),
            bans: bans.iter().take(size).map(wire_ban).collect(),
        }))
    }

    async fn remove_ban(&self, request: Request<v1::RemoveBanRequest>) -> Reply<v1::RemoveBanResponse> {
        let (admin, wire) = open_as_admin(request)?;
        let subject = read_ban_subject(wire.ban.unwrap_or_default().subject)?;
        let bans = self.runtime.sessions.remove_bans(subject).await?;
        for ban in &bans {
            tracing::info!(subject = %ban.subject, by = %admin.id(), "no longer banned");
        }
        Ok(Response::new(v1::RemoveBanResponse { bans: bans.iter().map(wire_ban).collect() }))
    }
}

fn problem(problem: Problem) -> v1::PlayerProblem {
    let Problem { at, kind, message, game, count: times } = problem;
    let (kind, method) = match kind {
        ProblemKind::Refused { reason, method } => {
            (Kind::Refused(status::reason_of(reason).unwrap_or_default().into()), method)
        }
        ProblemKind::Lost(reason) => (Kind::Lost(reason.wire().into()), ""),
    };
    v1::PlayerProblem {
        at: Some(convert::timestamp(at)),
        kind: Some(kind),
        method: method.to_owned(),
        message,
        game_id: game.map(|game| game.to_string()).unwrap_or_default(),
        count: count(times),
    }
}

fn open_as_admin<T>(request: Request<T>) -> Result<(Arc<Player>, T), Status> {
    let (admin, role) = caller_with_role(&request)?;
    if role != Role::Admin {
        return Err(status::refused(Rejection::NotAdmin));
    }
    admin.charge(RequestCost::LookUp)?;
    Ok((admin, request.into_inner()))
}

fn read_ban_subject(wire: Option<Subject>) -> Result<BanSubject, Malformed> {
    let subject = match wire {
        Some(Subject::Name(name)) => DisplayName::parse(&name).map(BanSubject::Name).map_err(|error| error.to_string()),
        Some(Subject::Network(network)) => BanSubject::parse_network(&network).map_err(|error| error.to_string()),
        None => Err("must have a name or a network".to_owned()),
    };
    subject.map_err(|problem| Malformed::argument("ban.subject", problem))
}

fn wire_ban(ban: &Ban) -> v1::Ban {
    let subject = match &ban.subject {
        BanSubject::Name(name) => Subject::Name(name.to_string()),
        BanSubject::Network(network) => Subject::Network(network.to_string()),
    };
    v1::Ban {
        subject: Some(subject),
        reason: ban.reason.as_ref().map(ToString::to_string).unwrap_or_default(),
        since: Some(convert::timestamp(ban.since)),
        until: ban.until.map(convert::timestamp),
    }
}

async fn held_seats(runtime: &Runtime, player: &Player, rooms: &[RoomId]) -> Vec<v1::HeldSeat> {
    let mut held = Vec::new();
    for &room in rooms {
        let seat = match runtime.rooms.current(player, room, &Default::default()).await {
            Ok(snapshot) => snapshot.room.seat_of(player.id()),
            Err(_) => None,
        };
        if let Some(seat) = seat {
            held.push(v1::HeldSeat { room_id: room.to_string(), seat: convert::seat_number(seat) });
        }
    }
    held
}

/// The results of a contestant in all games, as a message.
pub(crate) fn stats(stats: &PlayerStats) -> v1::PlayerStats {
    let total = stats.total();
    v1::PlayerStats {
        played: count(total.played()),
        won: count(total.won),
        drawn: count(total.drawn),
        lost: count(total.lost),
        against_humans: Some(score(stats.humans)),
        against_bots: Some(score(stats.bots)),
        against_ais: Some(score(stats.ais)),
        rating: stats.rating.map(rating),
    }
}

fn score(results: Results) -> v1::Score {
    v1::Score { won: count(results.won), drawn: count(results.drawn), lost: count(results.lost) }
}

fn rating(rating: Rating) -> v1::Rating {
    v1::Rating {
        value: rating.value,
        deviation: rating.deviation,
        games: count(rating.games),
        provisional: rating.is_provisional(),
    }
}
