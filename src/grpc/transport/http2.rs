//! What the server adds to the transport's HTTP/2: the limit on control frames, the keepalive, and a GOAWAY while it is
//! out of service.
//!
//! ```text
//!   client ── received frames ──▶ ControlFrameLimit, Keepalive ──▶ transport
//!   client ◀── GOAWAY, PING between two frames ◀── sent frames ◀── transport
//! ```

use std::{
    io,
    task::{Context, Poll},
};

use tokio::{io::AsyncWrite, sync::watch::Receiver};

use super::{
    control_frames::ControlFrameLimit,
    frames::{FrameHeads, GOAWAY},
    keepalive::{Keepalive, PING_FRAME},
    period_offset::PeriodOffset,
    write_buffer::WriteBuffer,
};
use crate::runtime::Limits;

/// A GOAWAY with the code ENHANCE_YOUR_CALM. Its last stream is the highest possible one: any request may have had an
/// effect, so clients must not repeat one by themselves.
const ENHANCE_YOUR_CALM: [u8; 17] = [0, 0, 8, GOAWAY, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 11];

/// A GOAWAY without an error: the client makes its next calls over another connection, which a load balancer sends to
/// another server. Calls that are open go on.
const CALL_ELSEWHERE: [u8; 17] = [0, 0, 8, GOAWAY, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0];

pub(super) struct Http2 {
    received: FrameHeads,
    sent: FrameHeads,
    control_frames: ControlFrameLimit,
    keepalive: Keepalive,
    /// True if the transport has sent a GOAWAY. After that, one with a higher last stream is an error of the protocol.
    is_ending: bool,
    /// Whether the server serves clients.
    in_service: Receiver<bool>,
}

/// Why the server closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    ControlFrames,
    UnansweredPing,
    /// Of HTTP/1.1 only: the transport itself limits the heads of HTTP/2.
    LongRequest,
}

impl Http2 {
    pub(super) fn new(limits: &Limits, offset: PeriodOffset, mut in_service: Receiver<bool>) -> Self {
        in_service.mark_changed();
        Self {
            received: FrameHeads::default(),
            sent: FrameHeads::default(),
            control_frames: ControlFrameLimit::new(limits),
            keepalive: Keepalive::new(limits, offset),
            is_ending: false,
            in_service,
        }
    }

    pub(super) fn offset(&self) -> PeriodOffset {
        self.keepalive.offset
    }

    /// Counts the frames in the client's bytes after the preface. Fails if they exceed the limit on control frames.
    pub(super) fn receive(&mut self, mut bytes: &[u8]) -> Result<(), Fault> {
        while let Some(frame) = self.received.next(&mut bytes) {
            self.keepalive.received(frame);
            if !self.control_frames.admit(frame) {
                return Err(Fault::ControlFrames);
            }
        }
        Ok(())
    }

    /// Counts the frames in the transport's bytes.
    pub(super) fn send(&mut self, mut bytes: &[u8]) {
        while let Some(frame) = self.sent.next(&mut bytes) {
            self.control_frames.sent(frame);
            self.is_ending |= frame.kind == GOAWAY;
        }
    }

    /// Ready when the client has not answered a ping in time. Polled while the socket cannot read or write.
    pub(super) fn poll_dead(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        self.keepalive.poll_dead(cx).map(|()| Fault::UnansweredPing)
    }

    /// Sends a ping if one is due and the last frame is complete.
    pub(super) fn ping<W: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        socket: &mut WriteBuffer<W>,
    ) -> io::Result<()> {
        if !self.keepalive.is_due || !self.sent.is_between_frames() {
            return Ok(());
        }
        self.keepalive.is_due = false;
        socket.append(cx, &PING_FRAME)
    }

    /// Sends [`CALL_ELSEWHERE`] if the server has gone out of service, once the transport has sent a frame, unless that has
    /// ended the connection.
    pub(super) fn send_elsewhere<W: AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        socket: &mut WriteBuffer<W>,
    ) -> io::Result<()> {
        // Looks at a counter only, as this is called with each message.
        if !self.in_service.has_changed().unwrap_or(false) || !self.sent.is_between_frames() {
            return Ok(());
        }
        if *self.in_service.borrow_and_update() || self.is_ending { Ok(()) } else { socket.append(cx, &CALL_ELSEWHERE) }
    }

    /// The cost of the open streams, in control frames.
    pub(super) fn cost_of_streams(&self) -> usize {
        self.control_frames.cost_of_streams()
    }

    /// Sends [`ENHANCE_YOUR_CALM`] if the last frame is complete and was not the end of the connection.
    pub(super) fn say_goodbye<W: AsyncWrite + Unpin>(&self, cx: &mut Context<'_>, socket: &mut WriteBuffer<W>) {
        if self.sent.is_between_frames() && !self.is_ending {
            // The connection is closed in any case.
            let _ = socket.append(cx, &ENHANCE_YOUR_CALM);
        }
    }
}

impl Fault {
    /// The name in metrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ControlFrames => "control_frames",
            Self::UnansweredPing => "unanswered_ping",
            Self::LongRequest => "long_request",
        }
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::ControlFrames => Self::new(io::ErrorKind::QuotaExceeded, "too many control frames"),
            Fault::LongRequest => Self::new(io::ErrorKind::QuotaExceeded, "the request is too long"),
            Fault::UnansweredPing => Self::new(io::ErrorKind::TimedOut, "the client did not answer a ping"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::{
        io::{AsyncReadExt as _, duplex},
        sync::watch,
        time::timeout,
    };

    use super::*;
    use crate::grpc::transport::frames::DATA;

    #[tokio::test(start_paused = true)]
    async fn the_servers_own_frames_are_sent_between_two_of_the_transport() {
        let limits = Limits::default();
        let (in_service, receiver) = watch::channel(true);
        let mut http2 = Http2::new(&limits, PeriodOffset::starting_now(), receiver);
        assert!(timeout(limits.keepalive, poll_fn(|cx| http2.poll_dead(cx))).await.is_err(), "a ping is due");
        let (near, mut far) = duplex(1_024);
        let mut socket = WriteBuffer::new(near);
        in_service.send_replace(false);
        for (part, are_sent) in [(&[0, 0, 2, DATA, 0, 0, 0, 0, 1, 7][..], false), (&[7], true)] {
            http2.send(part);
            poll_fn(|cx| {
                http2.ping(cx, &mut socket).unwrap();
                http2.send_elsewhere(cx, &mut socket).unwrap();
                http2.say_goodbye(cx, &mut socket);
                Poll::Ready(())
            })
            .await;
            assert_eq!(http2.keepalive.is_due, !are_sent);
        }
        drop(socket);
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.unwrap();
        assert_eq!(sent, [&PING_FRAME[..], &CALL_ELSEWHERE, &ENHANCE_YOUR_CALM].concat());
    }

    #[tokio::test]
    async fn after_the_transport_has_ended_a_connection_no_other_end_is_sent() {
        let (in_service, receiver) = watch::channel(true);
        let mut http2 = Http2::new(&Limits::default(), PeriodOffset::starting_now(), receiver);
        let (near, mut far) = duplex(1_024);
        let mut socket = WriteBuffer::new(near);
        http2.send(&[0, 0, 8, GOAWAY, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0]);
        in_service.send_replace(false);
        poll_fn(|cx| {
            http2.send_elsewhere(cx, &mut socket).unwrap();
            http2.say_goodbye(cx, &mut socket);
            Poll::Ready(())
        })
        .await;
        drop(socket);
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.unwrap();
        assert!(sent.is_empty(), "{sent:?}");
    }
}
