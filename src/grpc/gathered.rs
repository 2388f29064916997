//! What is written to a connection, gathered until everybody had their turn.
//!
//! Every message wakes the task of its connection, which runs next and writes: of fifty streams that have something to say
//! at the same moment, each would cost the system a call, the network a packet, and the other side a wake of its own.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::yield_now,
};

use crate::runtime::Bell;

/// The most bytes that wait.
const MOST: usize = 16 * 1024;

/// A stream of bytes. A flush waits until all tasks that are ready have run once, and then sends what has been written
/// till then.
pub(super) struct Gathered<W> {
    wire: W,
    /// Takes no memory while there is nothing.
    unsent: BytesMut,
    /// Rings when the others have had their turn. Each of their messages wakes the task, too.
    bell: Bell,
    /// Whether that is waited for.
    waits: bool,
}

impl<W: AsyncWrite + Unpin> Gathered<W> {
    pub(super) fn new(wire: W) -> Self {
        Self { wire, unsent: BytesMut::new(), bell: Bell::default(), waits: false }
    }

    /// Waits until the others have had their turn.
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { bell, waits, .. } = self;
        bell.poll(cx, |cx| {
            *waits = !*waits;
            if *waits { pin!(yield_now()).poll(cx) } else { Poll::Ready(()) }
        })
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            let sent = ready!(Pin::new(&mut self.wire).poll_write(cx, &self.unsent))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unsent.advance(sent);
        }
        self.unsent = BytesMut::new();
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncRead + Unpin> AsyncRead for Gathered<W> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().wire).poll_read(cx, buffer)
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Gathered<W> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.unsent.len() >= MOST {
            ready!(this.poll_send(cx))?;
        }
        let taken = bytes.len().min(MOST - this.unsent.len());
        this.unsent.extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.unsent.is_empty() {
            ready!(this.poll_turn(cx));
            ready!(this.poll_send(cx))?;
        }
        Pin::new(&mut this.wire).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(cx))?;
        Pin::new(&mut this.wire).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::poll_fn,
        sync::{Arc, Mutex},
    };

    use proptest::prelude::*;
    use tokio::{io::AsyncWriteExt as _, runtime, sync::mpsc};
    use tokio_util::task::TaskTracker;

    use super::*;

    /// Notes what is written at a time; takes as many bytes as it is told, and is busy where that is none.
    #[derive(Clone, Default)]
    struct Notes {
        written: Arc<Mutex<Vec<Vec<u8>>>>,
        takes: Arc<Mutex<Vec<usize>>>,
        flushed: Arc<Mutex<bool>>,
    }

    impl AsyncWrite for Notes {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let taken = match self.takes.lock().unwrap().pop() {
                Some(0) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                most => bytes.len().min(most.unwrap_or(usize::MAX)),
            };
            self.written.lock().unwrap().push(bytes[..taken].to_vec());
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            *self.flushed.lock().unwrap() = true;
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Goes behind all that are ready.
    async fn step_back() {
        let mut stepped = false;
        let step = |cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut stepped, true) { Poll::Ready(()) } else { Poll::Pending }
        };
        poll_fn(step).await;
    }

    #[tokio::test]
    async fn what_is_said_at_one_moment_is_sent_at_once() {
        let (notes, tasks) = (Notes::default(), TaskTracker::new());
        let (say, mut said) = mpsc::unbounded_channel();
        let mut wire = Gathered::new(notes.clone());
        say.send(0).unwrap();
        // As the transport does: all that there is, and a flush.
        let connection = tasks.spawn(poll_fn(move |cx| {
            while let Poll::Ready(byte) = said.poll_recv(cx) {
                let Some(byte) = byte else { return Poll::Ready(()) };
                assert!(Pin::new(&mut wire).poll_write(cx, &[byte]).is_ready());
            }
            let _ = Pin::new(&mut wire).poll_flush(cx);
            Poll::Pending
        }));
        let others = say.clone();
        tasks.spawn(async move {
            for byte in 1..10 {
                others.send(byte).unwrap();
                step_back().await;
            }
        });
        for byte in 10..12 {
            while !std::mem::take(&mut *notes.flushed.lock().unwrap()) {
                yield_now().await;
            }
            say.send(byte).unwrap();
        }
        while !std::mem::take(&mut *notes.flushed.lock().unwrap()) {
            yield_now().await;
        }
        drop(say);
        connection.await.unwrap();
        assert_eq!(*notes.written.lock().unwrap(), [(0..10).collect(), vec![10], vec![11]]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_waits_for_ever(
            said in proptest::collection::vec((0..3 * MOST, any::<bool>()), 1..20),
            takes in proptest::collection::vec(prop_oneof![Just(0), 1_usize..64, Just(MOST)], 0..40),
        ) {
            let notes = Notes::default();
            *notes.takes.lock().unwrap() = takes;
            let mut wire = Gathered::new(notes.clone());
            let mut bytes = (0_u8..=255).cycle();
            let mut all = Vec::new();
            runtime::Builder::new_current_thread().build().unwrap().block_on(async {
                for (length, flush) in said {
                    let part: Vec<_> = bytes.by_ref().take(length).collect();
                    all.extend_from_slice(&part);
                    wire.write_all(&part).await.unwrap();
                    if flush {
                        wire.flush().await.unwrap();
                        assert_eq!(notes.written.lock().unwrap().concat(), all);
                    }
                }
                wire.shutdown().await.unwrap();
            });
            prop_assert_eq!(notes.written.lock().unwrap().concat(), all);
        }
    }
}
