//! A link to a server that can be held and cut.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use reversi_store::PostgresStore;
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
    sync::watch,
    task::JoinSet,
};

use super::server::{Database, url};

/// The socket of a server in its folder.
pub(super) const SOCKET: &str = ".s.PGSQL.5432";

/// What is held of which connections.
#[derive(Clone, Copy, Default)]
struct Held {
    requests: bool,
    answers: bool,
    /// The connections with smaller numbers.
    below: usize,
    /// Of the other connections, requests or answers with this text.
    containing: Option<&'static str>,
    point: Option<Point>,
}

/// A moment in a transaction: when one of its requests has come, or when it has been passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Before(usize),
    After(usize),
}

impl Held {
    fn holds_request(&self, chunk: &[u8], number: usize, sent: usize) -> bool {
        self.point == Some(Point::Before(sent)) || self.requests && self.holds(chunk, number)
    }

    fn holds_answer(&self, chunk: &[u8], number: usize, sent: usize) -> bool {
        let is_of_point = matches!(self.point, Some(Point::After(request)) if request <= sent);
        is_of_point || self.answers && self.holds(chunk, number)
    }

    fn holds(&self, chunk: &[u8], number: usize) -> bool {
        number < self.below || self.containing.is_some_and(|text| contains(chunk, text))
    }
}

fn contains(chunk: &[u8], text: &str) -> bool {
    chunk.windows(text.len()).any(|part| part == text.as_bytes())
}

/// What goes from one end to the other passes through here.
pub(crate) struct Proxy {
    folder: TempDir,
    held: watch::Sender<Held>,
    /// How often connections were cut.
    cuts: watch::Sender<usize>,
    connections: Arc<AtomicUsize>,
    /// Chunks that were held.
    stopped: watch::Receiver<usize>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(crate) fn of(database: &Database) -> Self {
        let folder = TempDir::with_prefix("proxy").unwrap();
        let listener = UnixListener::bind(folder.path().join(SOCKET)).unwrap();
        let server = database.server.folder().join(SOCKET);
        let (held, cuts) = (watch::Sender::new(Held::default()), watch::Sender::new(0));
        let (stops, stopped) = watch::channel(0);
        let connections = Arc::new(AtomicUsize::new(0));
        let link = (held.clone(), cuts.clone(), stops, Arc::clone(&connections));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (held, cuts, stops, connections) = link;
            let mut open = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let number = connections.fetch_add(1, Ordering::Relaxed);
                // As if the server had refused it.
                let Ok(server) = UnixStream::connect(&server).await else { continue };
                let (mut held, mut cut) = (held.subscribe(), cuts.subscribe());
                let (mut holding, stops, more) = (held.clone(), stops.clone(), stops.clone());
                open.spawn(async move {
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = server.into_split();
                    cut.mark_unchanged();
                    // The requests of the last transaction; 0 if there was none.
                    let sent = AtomicUsize::new(0);
                    let count = |chunk: &[u8]| match sent.load(Ordering::Relaxed) {
                        _ if contains(chunk, "BEGIN") => sent.store(1, Ordering::Relaxed),
                        0 => {}
                        sent_before => sent.store(sent_before + 1, Ordering::Relaxed),
                    };
                    let sent = || sent.load(Ordering::Relaxed);
                    let holds_request = |held: &Held, chunk: &[u8]| held.holds_request(chunk, number, sent());
                    let holds_answer = |held: &Held, chunk: &[u8]| held.holds_answer(chunk, number, sent());
                    tokio::select! {
                        biased;
                        _ = cut.changed() => {}
                        () = pass(from_client, to_server, &stops, &mut held, count, holds_request) => {}
                        () = pass(from_server, to_client, &more, &mut holding, |_| {}, holds_answer) => {}
                    }
                });
            }
        });
        Self { folder, held, cuts, connections, stopped, _tasks: tasks }
    }

    /// Opens a store whose connections pass through this proxy.
    pub(crate) async fn open(&self, database: &Database, patience: std::time::Duration) -> PostgresStore {
        PostgresStore::open(&self.url(database), patience).await.expect("the store is opened")
    }

    /// The URL of a database through this proxy.
    pub(crate) fn url(&self, database: &Database) -> String {
        url(&[self.folder.path()], &database.schema)
    }

    /// Holds what the present connections send.
    pub(crate) fn hold_requests(&self) {
        self.held.send_replace(Held {
            requests: true,
            below: self.connections.load(Ordering::Relaxed),
            ..Held::default()
        });
    }

    /// Holds what the present connections send, and requests of later ones with this text.
    pub(crate) fn hold_requests_with(&self, text: &'static str) {
        let below = self.connections.load(Ordering::Relaxed);
        self.held.send_replace(Held { requests: true, below, containing: Some(text), ..Held::default() });
    }

    /// Holds requests with this text.
    #[allow(dead_code, reason = "used by tests/store only")]
    pub(crate) fn hold_only_requests_with(&self, text: &'static str) {
        self.held.send_replace(Held { requests: true, containing: Some(text), ..Held::default() });
    }

    /// Holds answers with this text.
    #[allow(dead_code, reason = "used by tests/store only")]
    pub(crate) fn hold_answers_with(&self, text: &'static str) {
        self.held.send_replace(Held { answers: true, containing: Some(text), ..Held::default() });
    }

    /// Holds what the present connections send, and later ones.
    pub(crate) fn hold_all_requests(&self) {
        self.held.send_replace(Held { requests: true, below: usize::MAX, ..Held::default() });
    }

    /// Holds a connection at a point of its transaction.
    #[allow(dead_code, reason = "not used by tests/server")]
    pub(crate) fn hold_at(&mut self, point: Point) {
        // Of what was held before.
        self.stopped.mark_unchanged();
        self.held.send_replace(Held { point: Some(point), ..Held::default() });
    }

    /// Holds what both send, also of later connections.
    #[allow(dead_code, reason = "used by tests/server")]
    pub(crate) fn hold(&self) {
        self.held.send_replace(Held { requests: true, answers: true, below: usize::MAX, ..Held::default() });
    }

    /// Holds what the server answers to the present connections, and to later ones.
    pub(crate) fn hold_answers(&self) {
        self.held.send_replace(Held { answers: true, below: usize::MAX, ..Held::default() });
    }

    pub(crate) fn release(&self) {
        self.held.send_replace(Held::default());
    }

    /// Closes all connections, with what is held of them.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Waits until something is held.
    pub(crate) async fn stopped(&mut self) {
        self.stopped.changed().await.unwrap();
    }
}

/// Passes on what comes, unless it is held.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    stops: &watch::Sender<usize>,
    held: &mut watch::Receiver<Held>,
    count: impl Fn(&[u8]),
    is_held: impl Fn(&Held, &[u8]) -> bool,
) {
    let mut chunk = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut chunk).await {
        count(&chunk[..length]);
        if is_held(&held.borrow(), &chunk[..length]) {
            stops.send_modify(|stops| *stops += 1);
        }
        let passed = held.wait_for(|held| !is_held(held, &chunk[..length])).await.is_ok();
        if !passed || to.write_all(&chunk[..length]).await.is_err() {
            return;
        }
    }
}
