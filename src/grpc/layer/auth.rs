//! Who is let in, judged by the headers of a call: of one who may not call nothing more is read.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{HeaderMap, Request, Response};
use tonic::{Status, body::Body};
use tower::{Layer, Service};

use super::{caller::Power, permit_body::counted, request_id::caught};
use crate::{
    grpc::{service::streaming, status, transport::connection::Peer},
    runtime::{Address, Call, Player, Runtime, Share, Taken, Token},
};

/// Where the methods of this server are, which are for players.
const OWN: &str = "/reversi.v1.";

/// Where an administrator's token stands.
const ADMIN: &str = "reversi-admin";

/// The one that makes a player of somebody.
const LOG_IN: &str = "/reversi.v1.SessionService/LogIn";

/// Lets calls in: those of players, and the few that are open to all, within the rates and as many at a time as may be.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) runtime: Runtime,
}

/// A service behind a gate. Where a method is for players, it finds with the request who calls, and by what power.
#[derive(Clone)]
pub(crate) struct Gated<S> {
    inner: S,
    gate: Gate,
}

/// A call that was let in, which counts as long as this is kept.
#[cfg_attr(test, derive(Default))]
pub(crate) struct Pass {
    /// Of a player, where one has to be somebody.
    _player: Option<Call>,
    _address: Option<Taken>,
}

impl Gate {
    fn admit(&self, request: &mut Request<Body>) -> Result<Pass, Status> {
        let address = Peer::address(request.extensions()).cloned();
        let player = match is_for_players(request.uri().path()).then(|| self.bearer(request.headers())) {
            None => None,
            Some(Ok(player)) => Some(player),
            Some(Err(refusal)) => {
                count(address.as_ref())?;
                return Err(refusal);
            }
        };
        match &player {
            None => count(address.as_ref())?,
            Some(player) => {
                address.iter().for_each(|address| player.comes_from(address));
                player.admit().map_err(status::too_fast)?;
                // Behind the rate, so that nobody guesses at an administrator's token fast.
                let power = self.power(player, request.headers())?;
                request.extensions_mut().insert((Arc::clone(player), power));
            }
        }
        let taken = address.map(|address| address.take(Share::Calls).ok_or_else(status::too_many_calls));
        let call = player.map(|player| player.begin_call().ok_or_else(status::too_many_calls));
        Ok(Pass { _player: call.transpose()?, _address: taken.transpose()? })
    }

    /// The player of a token.
    ///
    /// A bad token costs a hash and a look into a map, which is less than what its request has cost by then, and with
    /// 256 bits it will not be guessed.
    fn bearer(&self, headers: &HeaderMap) -> Result<Arc<Player>, Status> {
        let header = headers.get("authorization").ok_or_else(status::token_missing)?;
        let token = header.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
        let token: Token =
            token.ok_or_else(status::token_missing)?.trim().parse().map_err(|_| status::token_invalid())?;
        self.runtime.bearer(&token).ok_or_else(status::token_invalid)
    }

    /// What a player may, who perhaps is an administrator besides.
    fn power(&self, player: &Player, headers: &HeaderMap) -> Result<Power, Status> {
        let Some(header) = headers.get(ADMIN) else { return Ok(Power::Player) };
        let token: Option<Token> = header.to_str().ok().and_then(|text| text.trim().parse().ok());
        if token.is_some_and(|token| self.runtime.is_admin(&token)) {
            return Ok(Power::Admin);
        }
        // Anybody may send one as often as they like, and must not fill the log with it.
        tracing::debug!(player = %player.id(), "not an administrator's token");
        Err(status::token_invalid())
    }
}

/// Counts a request of nobody.
fn count(address: Option<&Arc<Address>>) -> Result<(), Status> {
    address.map_or(Ok(()), |address| address.admit()).map_err(status::too_fast)
}

fn is_for_players(path: &str) -> bool {
    path.starts_with(OWN) && path != LOG_IN
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { inner, gate: self.clone() }
    }
}

impl<S> Service<Request<Body>> for Gated<S>
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
        let (gate, copy) = (self.gate.clone(), self.inner.clone());
        // The one that is ready; its copy may not be.
        let mut inner = std::mem::replace(&mut self.inner, copy);
        Box::pin(caught(async move {
            let pass = match gate.admit(&mut request) {
                Ok(pass) => pass,
                Err(refusal) => return Ok(refusal.into_http()),
            };
            let mut answer = inner.call(request).await?;
            let stream = streaming::take(&mut answer);
            // Until it is read: a client may leave thousands of answers to the server.
            Ok(answer.map(|body| match stream {
                Some(open) => open(pass),
                None => counted(body, pass),
            }))
        }))
    }
}
