//! A cable that can be held and cut: forwards connections to an address.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinSet,
};

use super::in_process::within;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Held,
    Cut,
}

pub(crate) struct Cable {
    pub(crate) address: String,
    state: watch::Sender<State>,
    /// What came while it was held.
    held: Arc<watch::Sender<Vec<u8>>>,
    _forwards: JoinSet<()>,
}

impl Cable {
    pub(crate) async fn to(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (state, held) = (watch::Sender::new(State::Open), Arc::<watch::Sender<Vec<u8>>>::default());
        let mut forwards = JoinSet::new();
        let own = listener.local_addr().unwrap().to_string();
        forwards.spawn(forward(listener, address, state.subscribe(), Arc::clone(&held)));
        Self { address: own, state, held, _forwards: forwards }
    }

    pub(crate) fn open(&self) {
        self.state.send_replace(State::Open);
    }

    pub(crate) fn hold(&self) {
        self.state.send_replace(State::Held);
    }

    /// Ends the connections, and refuses others.
    pub(crate) fn cut(&self) {
        self.state.send_replace(State::Cut);
    }

    /// Waits until bytes have come while it was held.
    pub(crate) async fn holds(&self, bytes: &[u8]) {
        let mut held = self.held.subscribe();
        within(held.wait_for(|held| held.windows(bytes.len()).any(|part| part == bytes))).await.unwrap();
    }
}

async fn forward(
    listener: TcpListener,
    address: String,
    state: watch::Receiver<State>,
    held: Arc<watch::Sender<Vec<u8>>>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (near, _) = listener.accept().await.unwrap();
        if *state.borrow() == State::Cut {
            continue;
        }
        // As if the server had refused it.
        let Ok(far) = TcpStream::connect(&address).await else { continue };
        let ((near_read, near_write), (far_read, far_write)) = (near.into_split(), far.into_split());
        let (mut cut, state, held) = (state.clone(), state.clone(), Arc::clone(&held));
        connections.spawn(async move {
            tokio::select! {
                _ = cut.wait_for(|state| *state == State::Cut) => {}
                () = copy(near_read, far_write, state.clone(), &held) => {}
                () = copy(far_read, near_write, state.clone(), &held) => {}
            }
        });
    }
}

async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
    held: &watch::Sender<Vec<u8>>,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(1..) = from.read(&mut buffer).await.inspect(|read| buffer.truncate(*read)) {
        if *state.borrow() == State::Held {
            held.send_modify(|held| held.extend_from_slice(&buffer));
        }
        if state.wait_for(|state| *state == State::Open).await.is_err() || to.write_all(&buffer).await.is_err() {
            return;
        }
        buffer.resize(16 * 1024, 0);
    }
}
