//! Authentication and limits of calls, by the headers alone: the body of a refused call is not read.

use std::{
    collections::HashSet,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, HeaderValue, Request, Response};
use tonic::{Code, Status, body::Body};
use tower::Service;

use super::{
    caller::Role,
    permit_body::with_permit,
    play_rights, refusals,
    request_id::{self, catch_panic},
};
use crate::{
    grpc::{status, transport::connection::Peer},
    proto::POOL,
    runtime::{AddressPermit, BearerToken, CallPermit, ClientAddress, Player, Resource, Runtime, Token},
};

/// The path prefix of the methods that need a player.
const FOR_PLAYERS: &str = "/reversi.v1.";

/// The paths of the methods of these services.
static METHODS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let methods = POOL.services().flat_map(|service| service.methods().collect::<Vec<_>>());
    methods.map(|method| format!("/{}/{}", method.parent_service().full_name(), method.name())).collect()
});

/// The header with a player's token.
const TOKEN: &str = "authorization";

/// The header with an administrator's token.
const ADMIN_TOKEN: &str = "reversi-admin";

/// The one method of these services that needs no player: it creates one.
const LOG_IN: &str = "/reversi.v1.SessionService/LogIn";

/// The method by which bots ask again and again whether the opponent has gone.
const CLAIM_GAME: &str = "/reversi.v1.GameService/ClaimGame";

/// The methods that only read. They need no token: without one, the caller is the visitor of its address.
const FOR_VISITORS: [&str; 20] = [
    "/reversi.v1.LobbyService/GetServerInfo",
    "/reversi.v1.LobbyService/ListRooms",
    "/reversi.v1.LobbyService/WatchRooms",
    "/reversi.v1.LobbyService/ListPlayers",
    "/reversi.v1.RoomService/GetRoom",
    "/reversi.v1.RoomService/WatchRoom",
    "/reversi.v1.RecordService/ListGames",
    "/reversi.v1.RecordService/GetGame",
    "/reversi.v1.RecordService/ExportGames",
    "/reversi.v1.RecordService/GetPlayerStats",
    "/reversi.v1.RecordService/GetAiStats",
    "/reversi.v1.RecordService/ListRatings",
    "/reversi.v1.RecordService/ExplorePosition",
    "/reversi.v1.AnalysisService/AnalyzePosition",
    "/reversi.v1.AnalysisService/AnalyzeGame",
    "/reversi.v1.TournamentService/ListTournaments",
    "/reversi.v1.TournamentService/GetTournament",
    "/reversi.v1.TournamentService/WatchTournament",
    "/reversi.v1.TournamentService/ListMeetings",
    "/reversi.v1.TournamentService/ExportTournament",
];

/// How long the refusal of a call beyond a limit, or while out of service, waits at least, in milliseconds; at most
/// twice as long. A client that repeats refused calls at once then costs little: each of its streams makes at most four calls a second. The time is
/// drawn at random, so that the answers to calls that came together do not delay a turn together.
const REFUSAL_DELAY_MS: u64 = 250;

/// A service that admits calls within the limits of player and address, and adds the player and role as extensions.
#[derive(Clone)]
pub(crate) struct Auth<S> {
    pub(crate) inner: S,
    pub(crate) guard: Guard,
}

#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) runtime: Runtime,
}

/// Counts an admitted call until it is dropped.
struct AdmittedCall {
    /// None if the method needs no player.
    _player: Option<CallPermit>,
    _address: Option<AddressPermit>,
}

/// Who makes a call.
enum Caller {
    Known(Arc<Player>),
    /// A player who may have logged in at another node.
    Bearer(BearerToken),
}

impl Guard {
    /// Waits only where the player of a token is looked up in the store. `known` is set to the player, also of a refused
    /// call.
    async fn admit(
        &self,
        request: &mut Request<Body>,
        known: &mut Option<Arc<Player>>,
    ) -> Result<AdmittedCall, Status> {
        let address = Peer::address(request.extensions()).cloned();
        let path = request.uri().path();
        if path.starts_with(FOR_PLAYERS) && !self.runtime.is_in_service() {
            return Err(status::out_of_service());
        }
        // Others have no methods, which is answered without a token, too.
        let needs_player = path != LOG_IN && METHODS.contains(path);
        let caller = match needs_player.then(|| self.caller(path, request.headers(), address.as_ref())) {
            None => None,
            Some(Ok(caller)) => Some(caller),
            Some(Err(refusal)) => {
                count(address.as_ref())?;
                return Err(refusal);
            }
        };
        let mut taken = None;
        let player = match caller {
            None => {
                count(address.as_ref())?;
                if path == LOG_IN && request.headers().contains_key(ADMIN_TOKEN) {
                    // A client that has the wrong secret learns it before it has a name.
                    let role = self.role(&self.runtime.players().visitor(address.as_ref()), request.headers())?;
                    request.extensions_mut().insert(role);
                } else if path == LOG_IN {
                    self.runtime.players().bans.check(None, address.as_ref()).run()?;
                }
                None
            }
            Some(Caller::Known(player)) => Some(player),
            Some(Caller::Bearer(token)) => {
                // Before the store is asked, and while it is, so that made-up tokens are bounded.
                count(address.as_ref())?;
                taken = address.as_ref().map(acquire_call).transpose()?;
                let found = Box::pin(self.runtime.sessions.bearer(&token)).await.map_err(Status::from)?;
                Some(found.ok_or_else(status::token_invalid)?)
            }
        };
        known.clone_from(&player);
        if let Some(player) = &player {
            self.admit_player(request, player, address.as_ref())?;
        }
        if taken.is_none() {
            taken = address.as_ref().map(acquire_call).transpose()?;
        }
        let call = player.map(|player| player.begin_call().ok_or_else(status::too_many_calls));
        Ok(AdmittedCall { _player: call.transpose()?, _address: taken })
    }

    /// Counts a call of a player, and adds the player and the role to the request.
    fn admit_player(
        &self,
        request: &mut Request<Body>,
        player: &Arc<Player>,
        address: Option<&Arc<ClientAddress>>,
    ) -> Result<(), Status> {
        let bans = self.runtime.players().bans.check(Some(player), address);
        if let Err(banned) = bans.run() {
            // Not as a call of the player, who counts as absent.
            count(address)?;
            if !matches!(self.role(player, request.headers()), Ok(Role::Admin)) {
                return Err(banned.into());
            }
        }
        address.iter().for_each(|address| player.set_home(address));
        player.admit()?;
        if let Ok(BearerToken::Play(_)) = bearer_token(request.headers()) {
            let method = request.uri().path().strip_prefix(FOR_PLAYERS).unwrap_or_default();
            play_rights::check(method, request.headers().contains_key(ADMIN_TOKEN))?;
        }
        // After the rate limit, which bounds guesses of the administrator's token.
        let role = self.role(player, request.headers())?;
        if role == Role::Player {
            request.extensions_mut().insert(bans);
        }
        request.extensions_mut().insert((Arc::clone(player), role));
        Ok(())
    }

    /// A call that only reads asks whether something is there, so that NOT_FOUND is one of its answers; a claim asks
    /// whether the opponent has gone.
    fn note_refusal(&self, player: &Player, path: &'static str, refusal: &Status) {
        let is_answer = match refusal.code() {
            Code::NotFound => FOR_VISITORS.contains(&path),
            Code::FailedPrecondition => path == CLAIM_GAME,
            _ => false,
        };
        if let (Some(method), false) = (path.strip_prefix(FOR_PLAYERS), is_answer) {
            refusals::note(player, self.runtime.clock().now(), method, refusal, request_id::game());
        }
    }

    fn refusal_delay(&self) -> Duration {
        Duration::from_millis(REFUSAL_DELAY_MS + self.runtime.rooms.random.bits() % REFUSAL_DELAY_MS)
    }

    /// The player of the token; without a token, for methods that need none, the visitor of the address.
    fn caller(&self, path: &str, headers: &HeaderMap, address: Option<&Arc<ClientAddress>>) -> Result<Caller, Status> {
        let claims_nothing = ![TOKEN, ADMIN_TOKEN].iter().any(|header| headers.contains_key(*header));
        if claims_nothing && FOR_VISITORS.contains(&path) {
            return Ok(Caller::Known(self.runtime.players().visitor(address)));
        }
        self.bearer(headers)
    }

    /// The player of the token. Wrong tokens need no limit: tokens have 256 random bits, and a check costs only hashes.
    fn bearer(&self, headers: &HeaderMap) -> Result<Caller, Status> {
        let token = bearer_token(headers)?;
        match self.runtime.players().bearer(&token) {
            Some(player) => Ok(Caller::Known(player)),
            None if self.runtime.sessions.knows_all_tokens() => Err(status::token_invalid()),
            None => Ok(Caller::Bearer(token)),
        }
    }

    /// The role of a request: administrator if it has the administrator's token.
    fn role(&self, player: &Player, headers: &HeaderMap) -> Result<Role, Status> {
        let Some(header) = single(headers, ADMIN_TOKEN)? else { return Ok(Role::Player) };
        let token: Option<Token> = header.to_str().ok().and_then(|text| text.trim().parse().ok());
        let right = token.is_some_and(|token| self.runtime.players().is_admin(&token));
        self.runtime.rooms.judge_secret(player, right)?;
        if right { Ok(Role::Admin) } else { Err(status::token_invalid()) }
    }
}

/// The token of a request.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Result<BearerToken, Status> {
    let header = single(headers, TOKEN)?.ok_or_else(status::token_missing)?;
    let (scheme, token) = header.to_str().ok().and_then(|text| text.split_once(' ')).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(status::token_missing());
    }
    token.trim().parse().map_err(|_| status::token_invalid())
}

/// A header that may be given once: of two, a proxy and this server could each believe another one.
fn single<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a HeaderValue>, Status> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(status::header_repeated(name)),
    }
}

/// Counts a call of the client's address until the result is dropped.
fn acquire_call(address: &Arc<ClientAddress>) -> Result<AddressPermit, Status> {
    address.acquire(Resource::Calls).ok_or_else(status::too_many_calls)
}

/// Counts a request without a player at the client's address.
fn count(address: Option<&Arc<ClientAddress>>) -> Result<(), Status> {
    Ok(address.map_or(Ok(()), |address| address.admit())?)
}

impl<S> Service<Request<Body>> for Auth<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let guard = self.guard.clone();
        // The clone may not be ready; the polled service is.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(catch_panic(async move {
            let (path, mut player) = (METHODS.get(request.uri().path()).map_or("", String::as_str), None);
            let (response, is_out_of_service) = match guard.admit(&mut request, &mut player).await {
                Ok(permit) => (inner.call(request).await?.map(|body| with_permit(body, permit)), false),
                Err(refusal) => (refusal.into_http(), !guard.runtime.is_in_service()),
            };
            let refusal = Status::from_header_map(response.headers());
            if let (Some(player), Some(refusal)) = (&player, &refusal) {
                guard.note_refusal(player, path, refusal);
            }
            if is_out_of_service || refusal.is_some_and(|status| status.code() == Code::ResourceExhausted) {
                tokio::time::sleep(guard.refusal_delay()).await;
            }
            Ok(response)
        }))
    }
}
