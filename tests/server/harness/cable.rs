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
    AnswersHeld,
    Cut,
}

impl State {
    fn lets_pass(self, is_answer: bool) -> bool {
        self == Self::Open || self == Self::AnswersHeld && !is_answer
    }
}

pub(crate) struct Cable {
    pub(crate) address: String,
    state: watch::Sender<State>,
    /// The number of silences so far. A connection is forwarded until the next one.
    silences: watch::Sender<u32>,
    /// What came while it was held.
    held: Arc<watch::Sender<Vec<u8>>>,
    /// After a request with these bytes answers are held.
    unanswered: watch::Sender<&'static [u8]>,
    _forwards: JoinSet<()>,
}

impl Cable {
    pub(crate) async fn to(address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (state, silences) = (watch::Sender::new(State::Open), watch::Sender::new(0));
        let held = Arc::<watch::Sender<Vec<u8>>>::default();
        let mut forwards = JoinSet::new();
        let own = listener.local_addr().unwrap().to_string();
        let unanswered = watch::Sender::default();
        let states = (state.clone(), unanswered.clone());
        forwards.spawn(forward(listener, address, states, silences.subscribe(), Arc::clone(&held)));
        Self { address: own, state, silences, held, unanswered, _forwards: forwards }
    }

    pub(crate) fn open(&self) {
        self.state.send_replace(State::Open);
    }

    pub(crate) fn hold(&self) {
        self.state.send_replace(State::Held);
    }

    /// Holds the answer to the next request with these bytes, and all later ones.
    pub(crate) fn hold_answers_to(&self, request: &'static [u8]) {
        self.unanswered.send_replace(request);
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
        within(held.wait_for(|held| contains(held, bytes))).await.unwrap();
    }
}

async fn forward(
    listener: TcpListener,
    address: String,
    (state, unanswered): (watch::Sender<State>, watch::Sender<&'static [u8]>),
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
        let (mut cut, held) = (state.subscribe(), Arc::clone(&held));
        let (requests, answers) = (state.subscribe(), state.subscribe());
        let (state, unanswered) = (state.clone(), unanswered.clone());
        let (mut silences, connected) = (silences.clone(), *silences.borrow());
        connections.spawn(async move {
            let mut copied = pin!(async {
                tokio::select! {
                    () = copy(near_read, far_write, requests, false, |bytes| {
                        note(&held, &state, bytes);
                        let wanted = *unanswered.borrow();
                        if !wanted.is_empty() && contains(bytes, wanted) {
                            unanswered.send_replace(&[]);
                            state.send_replace(State::AnswersHeld);
                        }
                    }) => {}
                    () = copy(far_read, near_write, answers, true, |bytes| note(&held, &state, bytes)) => {}
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

fn note(held: &watch::Sender<Vec<u8>>, state: &watch::Sender<State>, bytes: &[u8]) {
    if *state.borrow() == State::Held {
        held.send_modify(|held| held.extend_from_slice(bytes));
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|part| part == wanted)
}

async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
    is_answer: bool,
    note: impl Fn(&[u8]),
) {
    let (mut buffer, mut pending) = (vec![0; 16 * 1024], Vec::new());
    loop {
        tokio::select! {
            read = from.read(&mut buffer) => {
                let Ok(count @ 1..) = read else { return };
                note(&buffer[..count]);
                pending.extend_from_slice(&buffer[..count]);
            }
            is_gone = async { state.wait_for(|state| state.lets_pass(is_answer)).await.is_err() }, if !pending.is_empty() => {
                if is_gone || to.write_all(&pending).await.is_err() {
                    return;
                }
                pending.clear();
            }
        }
    }
}
