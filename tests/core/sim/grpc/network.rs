//! A server on connections in memory, which clients can cut.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use reversi::{grpc, runtime::Runtime};
use tokio::{
    io::{DuplexStream, copy_bidirectional, duplex},
    sync::{Mutex as TokioMutex, mpsc},
    task::JoinHandle,
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Maximum number of connections that the server has not accepted.
const BACKLOG: usize = 64;

/// A gRPC server. Its tasks end with their tokio runtime.
pub(crate) struct GrpcServer {
    network: Network,
    shutdown: CancellationToken,
    /// Whether it stopped in time.
    served: TokioMutex<JoinHandle<bool>>,
}

impl GrpcServer {
    pub(crate) fn start(runtime: Runtime) -> Self {
        let (accept, connections) = mpsc::channel(BACKLOG);
        let network = Network { accept, cables: TaskTracker::new() };
        let shutdown = CancellationToken::new();
        let serve = grpc::serve_streams(runtime, ReceiverStream::new(connections), shutdown.clone());
        let served = network.cables.spawn(async { serve.await.expect("no error of the transport") });
        Self { network, shutdown, served: TokioMutex::new(served) }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// Cancelled when the server begins to stop.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Stops the server. Returns whether it did in time.
    pub(crate) async fn stop(&self) -> bool {
        self.shutdown.cancel();
        (&mut *self.served.lock().await).await.unwrap_or(false)
    }
}

#[derive(Clone)]
pub(crate) struct Network {
    accept: mpsc::Sender<DuplexStream>,
    cables: TaskTracker,
}

impl Network {
    /// A new connection to the server, with buffers of this many bytes.
    pub(crate) fn connect(&self, buffer: usize, cable: &Cable) -> io::Result<DuplexStream> {
        let ((near, mut client_end), (mut server_end, far)) = (duplex(buffer), duplex(buffer));
        self.accept.try_send(far).map_err(io::Error::other)?;
        let cut = cable.renew();
        self.cables.spawn(async move {
            tokio::select! {
                biased;
                () = cut.cancelled() => {}
                _ = copy_bidirectional(&mut client_end, &mut server_end) => {}
            }
        });
        Ok(near)
    }
}

/// The current connection of a client.
#[derive(Clone, Default)]
pub(crate) struct Cable(Arc<Mutex<CancellationToken>>);

impl Cable {
    /// Cuts the connection at both ends, with all bytes that are under way.
    pub(crate) fn cut(&self) {
        self.current().cancel();
    }

    fn renew(&self) -> CancellationToken {
        let cut = CancellationToken::new();
        *self.current() = cut.clone();
        cut
    }

    fn current(&self) -> MutexGuard<'_, CancellationToken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
