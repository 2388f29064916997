//! What is written to a connection, gathered until others had their turn.
//!
//! Every message wakes the task of its connection, which runs next and writes: of fifty streams that have something to say
//! at the same moment, each would cost the system a call, the network a packet, and the other side a wake of its own.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::yield_now,
    time::Instant,
};

use crate::runtime::Bell;

/// The most bytes that wait.
const MOST: usize = 16 * 1024;

/// Behind what was said so long ago, nothing else is likely to be said at the same moment.
const SILENCE: Duration = Duration::from_millis(1);

/// A stream of bytes. What is written after a silence goes straight through, unless behind the silence before it more was
/// written than that. Else what is flushed is sent when the thread has nothing else to do, or has done enough else: the
/// task is woken then, and must flush once more, as transports do at each wake. Till then a flush is ready, so that they
/// go on.
pub(crate) struct Gathered<W> {
    wire: W,
    /// Kept while the connection is busy, under twice the most that waits, and given back when something is written behind
    /// a silence.
    said: Vec<u8>,
    /// So many bytes of it are sent.
    sent: usize,
    /// Rings when the others have had their turn. Each of their messages wakes the task, too.
    bell: Bell,
    /// Whether that is waited for.
    waits: bool,
    /// When something was last to be written.
    spoke: Option<Instant>,
    /// Whether more than one thing was to be written behind the last silence.
    talks: bool,
}

impl<W: AsyncWrite + Unpin> Gathered<W> {
    pub(crate) fn new(wire: W) -> Self {
        Self { wire, said: Vec::new(), sent: 0, bell: Bell::default(), waits: false, spoke: None, talks: false }
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
        while self.sent < self.said.len() {
            let sent = ready!(Pin::new(&mut self.wire).poll_write(cx, &self.said[self.sent..]))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        self.said.clear();
        self.sent = 0;
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
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let now = Instant::now();
        let after_silence = this.spoke.replace(now).is_none_or(|spoke| now.duration_since(spoke) > SILENCE);
        let begins = after_silence && this.said.is_empty();
        let talked = std::mem::replace(&mut this.talks, !begins);
        if begins {
            this.said = Vec::new();
            if !talked {
                return Pin::new(&mut this.wire).poll_write_vectored(cx, parts);
            }
        }
        if this.said.len() >= MOST {
            ready!(this.poll_send(cx))?;
        }
        let before = this.said.len();
        for part in parts {
            let taken = part.len().min(MOST - this.said.len());
            this.said.extend_from_slice(&part[..taken]);
        }
        Poll::Ready(Ok(this.said.len() - before))
    }

    /// Otherwise transports put parts together in memory of their own first.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.said.is_empty() {
            if this.poll_turn(cx).is_pending() {
                return Poll::Ready(Ok(()));
            }
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

    use bytes::Buf;
    use proptest::prelude::*;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        runtime,
        sync::mpsc,
        time::{advance, timeout},
    };
    use tokio_util::task::TaskTracker;

    use super::*;

    /// Notes what is written at a time; takes as many bytes as it is told, and is busy where that is none.
    #[derive(Clone, Default)]
    struct Notes {
        written: Arc<Mutex<Vec<Vec<u8>>>>,
        takes: Arc<Mutex<Vec<usize>>>,
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
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Lasts until nobody has anything to do.
    async fn silence() {
        for _ in 0..100 {
            yield_now().await;
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

    #[tokio::test(start_paused = true)]
    async fn what_is_said_at_one_moment_is_sent_together() {
        let (notes, tasks) = (Notes::default(), TaskTracker::new());
        let (say, mut said) = mpsc::channel(16);
        let mut wire = Gathered::new(notes.clone());
        say.try_send(0).unwrap();
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
                others.try_send(byte).unwrap();
                step_back().await;
            }
        });
        for byte in 10..12 {
            silence().await;
            say.try_send(byte).unwrap();
        }
        silence().await;
        drop(say);
        connection.await.unwrap();
        let first = vec![0];
        assert_eq!(*notes.written.lock().unwrap(), [first, (1..10).collect(), vec![10], vec![11]]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_said_after_a_silence_waits_for_nothing() {
        let notes = Notes::default();
        let mut wire = Gathered::new(notes.clone());
        for (said, silence, sent) in [("a", 0, "a"), ("b", 0, "a"), ("c", 2, "a"), ("d", 2, "a")] {
            advance(Duration::from_millis(silence)).await;
            wire.write_all(said.as_bytes()).await.unwrap();
            assert_eq!(notes.written.lock().unwrap().concat(), sent.as_bytes(), "{said}: no order is broken");
        }
        wire.shutdown().await.unwrap();
        let mut wire = Gathered::new(notes.clone());
        for said in ["e", "f"] {
            advance(2 * SILENCE).await;
            wire.write_all(said.as_bytes()).await.unwrap();
        }
        assert_eq!(notes.written.lock().unwrap().concat(), b"abcdef");
    }

    #[tokio::test(start_paused = true)]
    async fn where_much_was_said_at_once_the_next_word_waits_for_others_too() {
        let notes = Notes::default();
        let written = || notes.written.lock().unwrap().iter().map(|part| part.len()).collect::<Vec<_>>();
        let mut wire = Gathered::new(notes.clone());
        for (words, at_once, in_the_end) in [
            (2, vec![1], vec![1, 1]),
            (2, vec![1, 1], vec![1, 1, 2]),
            (1, vec![1, 1, 2], vec![1, 1, 2, 1]),
            (1, vec![1, 1, 2, 1, 1], vec![1, 1, 2, 1, 1]),
        ] {
            advance(2 * SILENCE).await;
            for _ in 0..words {
                wire.write_all(b"a").await.unwrap();
            }
            assert_eq!(written(), at_once);
            flush(&mut wire, || written() == in_the_end).await;
        }
    }

    /// Flushes at each wake, as transports do, until it has come to pass.
    async fn flush(wire: &mut Gathered<impl AsyncWrite + Unpin>, is_done: impl Fn() -> bool) {
        let flushes = poll_fn(|cx| {
            let flushed = Pin::new(&mut *wire).poll_flush(cx);
            assert!(!matches!(flushed, Poll::Ready(Err(_))));
            if is_done() { Poll::Ready(()) } else { Poll::Pending }
        });
        timeout(Duration::from_secs(1), flushes).await.expect("it is woken");
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_comes_late_finds_all() {
        let (near, mut far) = duplex(64);
        let mut wire = Gathered::new(near);
        let said: Vec<_> = (0_u8..=255).cycle().take(MOST).collect();
        wire.write_all(&said).await.unwrap();
        // Woken for much else while nobody reads.
        for _ in 0..5 {
            wire.flush().await.unwrap();
            let _ = timeout(Duration::from_millis(1), poll_fn(|cx| Pin::new(&mut wire).poll_flush(cx))).await;
        }
        let reader = TaskTracker::new().spawn(async move {
            let mut heard = Vec::new();
            far.read_to_end(&mut heard).await.unwrap();
            heard
        });
        timeout(Duration::from_secs(1), wire.shutdown()).await.expect("it is woken").unwrap();
        assert_eq!(reader.await.unwrap(), said);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_waits_for_ever(
            said in proptest::collection::vec((0..3 * MOST, any::<bool>(), any::<bool>(), any::<bool>()), 1..20),
            takes in proptest::collection::vec(prop_oneof![Just(0), 1_usize..64, Just(MOST)], 0..40),
        ) {
            let notes = Notes::default();
            *notes.takes.lock().unwrap() = takes;
            let mut wire = Gathered::new(notes.clone());
            let mut bytes = (0_u8..=255).cycle();
            let mut all = Vec::new();
            let clock = runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            clock.block_on(async {
                for (length, in_parts, flushes, is_silent) in said {
                    if is_silent {
                        advance(2 * SILENCE).await;
                    }
                    let part: Vec<_> = bytes.by_ref().take(length).collect();
                    all.extend_from_slice(&part);
                    if in_parts {
                        let (one, other) = part.split_at(length / 3);
                        wire.write_all_buf(&mut Buf::chain(one, other)).await.unwrap();
                    } else {
                        wire.write_all(&part).await.unwrap();
                    }
                    if flushes {
                        flush(&mut wire, || notes.written.lock().unwrap().concat() == all).await;
                    }
                }
                wire.shutdown().await.unwrap();
            });
            prop_assert_eq!(notes.written.lock().unwrap().concat(), all);
        }
    }
}
