//! The client's address of a request that a trusted proxy forwards.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use tower::Service;

use crate::grpc::transport::{connection::Peer, connection_limit::ConnectionLimit, trusted_proxy::TrustedProxies};

/// A service whose requests through trusted proxies count at the addresses of their clients.
#[derive(Clone)]
pub(crate) struct ForwardedFor<S> {
    pub(crate) inner: S,
    pub(crate) proxies: TrustedProxies,
    pub(crate) connections: Arc<ConnectionLimit>,
}

impl<S, B> Service<http::Request<B>> for ForwardedFor<S>
where
    S: Service<http::Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: http::Request<B>) -> S::Future {
        let peer = request.extensions().get::<Peer>().filter(|peer| peer.is_proxy).cloned();
        if let Some(peer) = peer
            && let Some(client) = self.proxies.client(request.headers())
        {
            request.extensions_mut().insert(Peer { address: self.connections.address(client), ..peer });
        }
        self.inner.call(request)
    }
}
