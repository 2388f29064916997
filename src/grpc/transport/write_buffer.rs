//! Buffers writes to a connection until other tasks have run. Otherwise fifty streams with a message at once would make
//! fifty system calls, packets and wakes of the client. With the buffer a move takes 0.1 system calls instead of 0.8;
//! without it a server makes 0.62 to 0.86 of the moves a second (`benches/README.md`).

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

use crate::runtime::WakeGate;

/// Capacity of the buffer in bytes.
const CAPACITY: usize = 16 * 1024;

/// A write after a silence of this length is probably not followed by others at once.
const SILENCE: Duration = Duration::from_millis(1);

/// Buffers all writes but the first after a silence, and that one too if others followed the first one after the
/// previous silence. A flush sends the buffer once the other tasks of the thread have run. Until then it returns ready,
/// so that the transport continues, and wakes the task, which must flush again, as transports do at each wake.
pub(super) struct WriteBuffer<W> {
    socket: W,
    /// Grows to less than twice the capacity, and is freed by the first write after a silence.
    buffer: Vec<u8>,
    /// Number of bytes of the buffer that are already sent.
    sent: usize,
    /// Ready when the other tasks have run. Each of their messages also wakes this task.
    gate: WakeGate,
    /// True if the task has yielded for this buffer.
    has_yielded: bool,
    last_write: Option<Instant>,
    /// True if more writes followed the first one after the last silence.
    in_burst: bool,
}

impl<W: AsyncWrite + Unpin> WriteBuffer<W> {
    pub(super) fn new(socket: W) -> Self {
        let (buffer, gate) = (Vec::new(), WakeGate::default());
        Self { socket, buffer, sent: 0, gate, has_yielded: false, last_write: None, in_burst: false }
    }

    /// Writes a short frame of the server's own after all earlier writes, without waiting.
    pub(super) fn append(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.poll_send(cx)?.is_ready() {
            // What is left is sent by the transport's next flush.
            let _ = Pin::new(&mut self.socket).poll_flush(cx)?;
        }
        Ok(())
    }

    /// Waits until the other tasks have run.
    fn poll_yield(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { gate, has_yielded, .. } = self;
        gate.poll(cx, |cx| {
            *has_yielded = !*has_yielded;
            if *has_yielded { pin!(yield_now()).poll(cx) } else { Poll::Ready(()) }
        })
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.buffer.len() {
            let sent = ready!(Pin::new(&mut self.socket).poll_write(cx, &self.buffer[self.sent..]))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        self.buffer.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncRead + Unpin> AsyncRead for WriteBuffer<W> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_read(cx, buffer)
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for WriteBuffer<W> {
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
        let after_silence = this.last_write.replace(now).is_none_or(|last| now.duration_since(last) > SILENCE);
        let is_first = after_silence && this.buffer.is_empty();
        let was_in_burst = std::mem::replace(&mut this.in_burst, !is_first);
        if is_first {
            this.buffer = Vec::new();
            if !was_in_burst {
                return Pin::new(&mut this.socket).poll_write_vectored(cx, parts);
            }
        }
        if this.buffer.len() >= CAPACITY {
            ready!(this.poll_send(cx))?;
        }
        let before = this.buffer.len();
        for part in parts {
            let taken = part.len().min(CAPACITY - this.buffer.len());
            this.buffer.extend_from_slice(&part[..taken]);
        }
        Poll::Ready(Ok(this.buffer.len() - before))
    }

    /// True: otherwise transports would first copy the parts into one buffer.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.buffer.is_empty() {
            if this.poll_yield(cx).is_pending() {
                return Poll::Ready(Ok(()));
            }
            ready!(this.poll_send(cx))?;
        }
        Pin::new(&mut this.socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_send(cx))?;
        Pin::new(&mut this.socket).poll_shutdown(cx)
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

    /// Records each write. Accepts up to `takes` bytes of each write, and returns pending if `takes` is 0.
    #[derive(Clone, Default)]
    struct Recorder {
        written: Arc<Mutex<Vec<Vec<u8>>>>,
        takes: Arc<Mutex<Vec<usize>>>,
    }

    impl AsyncWrite for Recorder {
        fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let taken = match self.takes.lock().unwrap().pop() {
                Some(0) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                max => bytes.len().min(max.unwrap_or(usize::MAX)),
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

    /// Yields until all other tasks are idle.
    async fn all_idle() {
        for _ in 0..100 {
            yield_now().await;
        }
    }

    /// Yields to all tasks that are ready.
    async fn yield_once() {
        let mut stepped = false;
        let step = |cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut stepped, true) { Poll::Ready(()) } else { Poll::Pending }
        };
        poll_fn(step).await;
    }

    #[tokio::test(start_paused = true)]
    async fn simultaneous_writes_are_sent_together() {
        let (recorder, tasks) = (Recorder::default(), TaskTracker::new());
        let (say, mut written) = mpsc::channel(16);
        let mut buffer = WriteBuffer::new(recorder.clone());
        say.try_send(0).unwrap();
        // As the transport does: writes everything, then flushes.
        let connection = tasks.spawn(poll_fn(move |cx| {
            while let Poll::Ready(byte) = written.poll_recv(cx) {
                let Some(byte) = byte else { return Poll::Ready(()) };
                assert!(Pin::new(&mut buffer).poll_write(cx, &[byte]).is_ready());
            }
            let _ = Pin::new(&mut buffer).poll_flush(cx);
            Poll::Pending
        }));
        let others = say.clone();
        tasks.spawn(async move {
            for byte in 1..10 {
                others.try_send(byte).unwrap();
                yield_once().await;
            }
        });
        for byte in 10..12 {
            all_idle().await;
            say.try_send(byte).unwrap();
        }
        all_idle().await;
        drop(say);
        connection.await.unwrap();
        let first = vec![0];
        assert_eq!(*recorder.written.lock().unwrap(), [first, (1..10).collect(), vec![10], vec![11]]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_after_a_silence_is_not_buffered() {
        let recorder = Recorder::default();
        let mut buffer = WriteBuffer::new(recorder.clone());
        for (written, silence, sent) in [("a", 0, "a"), ("b", 0, "a"), ("c", 2, "a"), ("d", 2, "a")] {
            advance(Duration::from_millis(silence)).await;
            buffer.write_all(written.as_bytes()).await.unwrap();
            assert_eq!(recorder.written.lock().unwrap().concat(), sent.as_bytes(), "{written}: not in order");
        }
        buffer.shutdown().await.unwrap();
        let mut buffer = WriteBuffer::new(recorder.clone());
        for written in ["e", "f"] {
            advance(2 * SILENCE).await;
            buffer.write_all(written.as_bytes()).await.unwrap();
        }
        assert_eq!(recorder.written.lock().unwrap().concat(), b"abcdef");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_burst_the_first_write_is_buffered_too() {
        let recorder = Recorder::default();
        let written = || recorder.written.lock().unwrap().iter().map(|part| part.len()).collect::<Vec<_>>();
        let mut buffer = WriteBuffer::new(recorder.clone());
        for (words, at_once, in_the_end) in [
            (2, vec![1], vec![1, 1]),
            (2, vec![1, 1], vec![1, 1, 2]),
            (1, vec![1, 1, 2], vec![1, 1, 2, 1]),
            (1, vec![1, 1, 2, 1, 1], vec![1, 1, 2, 1, 1]),
        ] {
            advance(2 * SILENCE).await;
            for _ in 0..words {
                buffer.write_all(b"a").await.unwrap();
            }
            assert_eq!(written(), at_once);
            flush(&mut buffer, || written() == in_the_end).await;
        }
    }

    /// Flushes at each wake, as transports do, until `is_done`.
    async fn flush(buffer: &mut WriteBuffer<impl AsyncWrite + Unpin>, is_done: impl Fn() -> bool) {
        let flushes = poll_fn(|cx| {
            let flushed = Pin::new(&mut *buffer).poll_flush(cx);
            assert!(!matches!(flushed, Poll::Ready(Err(_))));
            if is_done() { Poll::Ready(()) } else { Poll::Pending }
        });
        timeout(Duration::from_secs(1), flushes).await.expect("the flushes complete");
    }

    #[tokio::test(start_paused = true)]
    async fn a_late_reader_gets_everything() {
        let (near, mut far) = duplex(64);
        let mut buffer = WriteBuffer::new(near);
        let written: Vec<_> = (0_u8..=255).cycle().take(CAPACITY).collect();
        buffer.write_all(&written).await.unwrap();
        // Woken for other reasons while the reader does not read.
        for _ in 0..5 {
            buffer.flush().await.unwrap();
            let _ = timeout(Duration::from_millis(1), poll_fn(|cx| Pin::new(&mut buffer).poll_flush(cx))).await;
        }
        let reader = TaskTracker::new().spawn(async move {
            let mut received = Vec::new();
            far.read_to_end(&mut received).await.unwrap();
            received
        });
        timeout(Duration::from_secs(1), buffer.shutdown()).await.expect("the flushes complete").unwrap();
        assert_eq!(reader.await.unwrap(), written);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_flush_completes(
            written in proptest::collection::vec((0..3 * CAPACITY, any::<bool>(), any::<bool>(), any::<bool>()), 1..20),
            takes in proptest::collection::vec(prop_oneof![Just(0), 1_usize..64, Just(CAPACITY)], 0..40),
        ) {
            let recorder = Recorder::default();
            *recorder.takes.lock().unwrap() = takes;
            let mut buffer = WriteBuffer::new(recorder.clone());
            let mut bytes = (0_u8..=255).cycle();
            let mut all = Vec::new();
            let clock = runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            clock.block_on(async {
                for (length, in_parts, flushes, is_silent) in written {
                    if is_silent {
                        advance(2 * SILENCE).await;
                    }
                    let part: Vec<_> = bytes.by_ref().take(length).collect();
                    all.extend_from_slice(&part);
                    if in_parts {
                        let (one, other) = part.split_at(length / 3);
                        buffer.write_all_buf(&mut Buf::chain(one, other)).await.unwrap();
                    } else {
                        buffer.write_all(&part).await.unwrap();
                    }
                    if flushes {
                        flush(&mut buffer, || recorder.written.lock().unwrap().concat() == all).await;
                    }
                }
                buffer.shutdown().await.unwrap();
            });
            prop_assert_eq!(recorder.written.lock().unwrap().concat(), all);
        }
    }
}
