//! A cable that can be held and cut, or lose its old connections without a word: forwards connections to an address.

use std::{pin::pin, sync::Arc};

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
    /// The number of silences so far. A connection is forwarded until the next one.
    silences: watch::Sender<u32>,
    /// What came while it was held.
    held: Arc<watch::Sender<Vec<u8>>>,
    _forwards: JoinSet<()>,
}

impl Cable {
    pub(crate) async fn to(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (state, silences) = (watch::Sender::new(State::Open), watch::Sender::new(0));
        let held = Arc::<watch::Sender<Vec<u8>>>::default();
        let mut forwards = JoinSet::new();
        let own = listener.local_addr().unwrap().to_string();
        forwards.spawn(forward(listener, address, state.subscribe(), silences.subscribe(), Arc::clone(&held)));
        Self { address: own, state, silences, held, _forwards: forwards }
    }

    pub(crate) fn open(&self) {
        self.state.send_replace(State::Open);
    }

    pub(crate) fn hold(&self) {
        self.state.send_replace(State::Held);
    }

    /// Forwards nothing more of the connections, and does not end them; serves new ones.
    pub(crate) fn silence(&self) {
        self.silences.send_modify(|silences| *silences += 1);
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
    silences: watch::Receiver<u32>,
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
        let (mut silences, connected) = (silences.clone(), *silences.borrow());
        connections.spawn(async move {
            let mut copied = pin!(async {
                tokio::select! {
                    () = copy(near_read, far_write, state.clone(), &held) => {}
                    () = copy(far_read, near_write, state.clone(), &held) => {}
                }
            });
            let is_silent = tokio::select! {
                biased;
                _ = cut.wait_for(|state| *state == State::Cut) => false,
                _ = silences.wait_for(|silences| *silences > connected) => true,
                () = &mut copied => false,
            };
            if is_silent {
                // Its sockets stay open.
                std::future::pending().await
            }
        });
    }
}

async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    state: watch::Receiver<State>,
    held: &watch::Sender<Vec<u8>>,
) {
    let (mut buffer, mut pending) = (vec![0; 16 * 1024], Vec::new());
    let mut opening = state.clone();
    loop {
        tokio::select! {
            read = from.read(&mut buffer) => {
                let Ok(count @ 1..) = read else { return };
                if *state.borrow() == State::Held {
                    held.send_modify(|held| held.extend_from_slice(&buffer[..count]));
                }
                pending.extend_from_slice(&buffer[..count]);
            }
            is_gone = async { opening.wait_for(|state| *state == State::Open).await.is_err() }, if !pending.is_empty() => {
                if is_gone || to.write_all(&pending).await.is_err() {
                    return;
                }
                pending.clear();
            }
        }
    }
}
