//! One connection: a deadline for its first request, small reads of HTTP/1.1, limits of HTTP/2, and the write buffer.

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::Extensions;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::yield_now,
    time::{Instant, Sleep, sleep_until},
};
use tonic::transport::server::Connected;

use super::{
    connection_limit::ConnectionPermit,
    http2::{Fault, Http2},
    period_offset::PeriodOffset,
    server_socket::PeerAddress,
    write_buffer::WriteBuffer,
};
use crate::runtime::{ClientAddress, Limits, server_metrics};

/// The first bytes of every HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The answer to a first request whose head is too long.
const HEAD_TOO_LONG: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// Maximum size of one read of HTTP/1.1 in bytes; other tasks run between two reads.
const MAX_HTTP1_READ: usize = 16 * 1024;

/// An open connection over a socket or another stream of bytes. Reads fail after the deadline unless the preface of
/// HTTP/2 or the head of a request was complete before; tonic has no such deadline, and idle connections could use up
/// the limit on connections. Reads of HTTP/1.1 are small and yield in between: otherwise the transport reads as long as
/// there is data, and all other tasks of the thread wait.
pub(crate) struct Connection<S> {
    socket: WriteBuffer<S>,
    /// None after the first request head or the preface is complete.
    opening: Option<FirstRequest>,
    is_http1: bool,
    has_read: bool,
    http1: Http1Input,
    http2: Http2,
    peer: PeerAddress,
    permit: ConnectionPermit,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) fn new(
        socket: S,
        peer: PeerAddress,
        permit: ConnectionPermit,
        deadline: Instant,
        (http1, http2): (Http1Input, Http2),
    ) -> Self {
        let opening = FirstRequest { start: RequestStart::default(), deadline: Box::pin(sleep_until(deadline)) };
        let socket = WriteBuffer::new(socket);
        Self { socket, opening: Some(opening), is_http1: false, has_read: false, http1, http2, peer, permit }
    }

    /// Reads. Of HTTP/1.1 it reads at most [`MAX_HTTP1_READ`] bytes, and more only after other tasks have run.
    fn read_a_part(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let socket = Pin::new(&mut self.socket);
        if !self.is_http1 {
            return socket.poll_read(cx, buffer);
        }
        if let Some(pause) = &mut self.http1.pause {
            ready!(pause.as_mut().poll(cx));
            self.http1.pause = None;
        }
        // A plain wake would run this task before the tasks whose messages have just arrived.
        if std::mem::take(&mut self.has_read) && pin!(yield_now()).poll(cx).is_pending() {
            return Poll::Pending;
        }
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(MAX_HTTP1_READ.min(buffer.remaining())));
        let read = socket.poll_read(cx, &mut part);
        let length = part.filled().len();
        self.has_read = length > 0;
        if self.has_read && self.http1.unanswered > 0 && !self.permit.is_of_proxy() {
            let turn = self.permit.address.http1_slot(Instant::now());
            self.http1.pause = (turn.start > Instant::now()).then(|| Box::pin(sleep_until(turn.start)));
            turn.mark_used();
        }
        buffer.advance(length);
        read
    }

    /// True after the preface of HTTP/2: all further bytes are frames.
    fn has_frames(&self) -> bool {
        self.opening.is_none() && !self.is_http1
    }

    /// Counts the frames in the first `written` bytes of `parts`, then runs [`Self::keep_alive`].
    fn follow_written(
        &mut self,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(1..)) = written {
            self.http1.unanswered = 0;
        }
        if self.has_frames()
            && let Poll::Ready(Ok(mut written)) = written
        {
            for part in parts {
                let taken = written.min(part.len());
                self.http2.send(&part[..taken]);
                written -= taken;
            }
            self.http2.send_elsewhere(cx, &mut self.socket)?;
        }
        self.keep_alive(cx, written)
    }

    /// Sends a ping if one is due. If `polled` is pending, fails when the client has not answered a ping in time.
    fn keep_alive<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if !self.has_frames() {
            return polled;
        }
        if polled.is_pending()
            && let Poll::Ready(fault) = self.http2.poll_dead(cx)
        {
            return Poll::Ready(Err(self.close(cx, fault)));
        }
        self.http2.ping(cx, &mut self.socket)?;
        polled
    }

    /// Tells the client the reason where possible. Returns the error that makes the transport close the connection.
    fn close(&mut self, cx: &mut Context<'_>, fault: Fault) -> io::Error {
        match fault {
            Fault::ControlFrames => {
                self.http2.say_goodbye(cx, &mut self.socket);
                // Delays the next connections of this address by one slot for every eight open streams.
                let slots = if self.permit.is_of_proxy() { 0 } else { self.http2.cost_of_streams() };
                (0..slots).for_each(|_| self.permit.address.opening_slot(Instant::now()).mark_used());
            }
            // The connection is closed in any case. Later requests may be read while an answer is written.
            Fault::LongRequest if self.opening.is_some() => drop(self.socket.append(cx, HEAD_TOO_LONG)),
            Fault::LongRequest | Fault::UnansweredPing => {}
        }
        server_metrics::connection_closed(fault.name());
        let error = io::Error::from(fault);
        tracing::debug!(%error, peer = ?self.peer, "connection closed");
        error
    }
}

/// The client's end of a connection, an extension of every request.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) address: Arc<ClientAddress>,
    pub(crate) offset: PeriodOffset,
    /// True for a trusted proxy, whose requests name their clients.
    pub(crate) is_proxy: bool,
}

impl Peer {
    pub(crate) fn address(extensions: &Extensions) -> Option<&Arc<ClientAddress>> {
        extensions.get::<Self>().map(|peer| &peer.address)
    }
}

impl<S> Connected for Connection<S> {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        let ConnectionPermit { address, .. } = &self.permit;
        Peer { address: Arc::clone(address), offset: self.http2.offset(), is_proxy: self.permit.is_of_proxy() }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Connection<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = this.read_a_part(cx, buffer);
        let mut received = &buffer.filled()[before..];
        this.http1.unanswered += received.len();
        let mut is_too_long = this.http1.unanswered > this.http1.most;
        if let Some(opening) = &mut this.opening {
            let length = opening.start.length(received);
            this.is_http1 = opening.start.is_http1;
            let after_head = length.map_or(0, |length| received.len() - length);
            is_too_long |= this.http1.unanswered - after_head > this.http1.most_of_head;
            if this.is_http1 && is_too_long {
                // Answered below, while it is still the first request.
            } else if let Some(length) = length {
                received = &received[length..];
                this.opening = None;
            } else if opening.deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        if this.is_http1 && is_too_long {
            buffer.set_filled(before);
            return Poll::Ready(Err(this.close(cx, Fault::LongRequest)));
        }
        if this.has_frames()
            && let Err(fault) = this.http2.receive(received)
        {
            buffer.set_filled(before);
            return Poll::Ready(Err(this.close(cx, fault)));
        }
        this.keep_alive(cx, read)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.socket).poll_write_vectored(cx, parts);
        this.follow_written(cx, parts, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.socket).poll_flush(cx);
        this.keep_alive(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut_down = Pin::new(&mut this.socket).poll_shutdown(cx);
        this.keep_alive(cx, shut_down)
    }
}

/// Limits what a client of HTTP/1.1 sends before an answer. The transport's limit, 400 KB of a head, is fixed.
pub(super) struct Http1Input {
    /// Bytes received since the last byte of an answer.
    unanswered: usize,
    /// Maximum bytes of the first head.
    most_of_head: usize,
    /// Maximum bytes of a head and a body, also one in base64.
    most: usize,
    /// The pause before the next read. Each read of a request after the first takes a slot as a request does, since the
    /// transport parses an incomplete head again after each read.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Http1Input {
    pub(super) fn new(limits: &Limits) -> Self {
        let most_of_head = usize::try_from(limits.header_bytes).unwrap_or(usize::MAX);
        let body = limits.message_bytes.saturating_mul(2);
        Self { unanswered: 0, most_of_head, most: most_of_head.saturating_add(body), pause: None }
    }
}

struct FirstRequest {
    start: RequestStart,
    deadline: Pin<Box<Sleep>>,
}

/// Detects the end of the HTTP/2 preface or of the first request head.
#[derive(Default)]
struct RequestStart {
    /// Number of bytes of the preface received so far.
    preface: usize,
    is_http1: bool,
    line_ended: bool,
}

impl RequestStart {
    /// The number of `bytes` up to the end of the preface or head; none if these do not complete it.
    fn length(&mut self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|&byte| self.ends_with(byte)).map(|last| last + 1)
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        if !self.is_http1 {
            if PREFACE[self.preface] == byte {
                self.preface += 1;
                return self.preface == PREFACE.len();
            }
            self.is_http1 = true;
        }
        // The head of a request ends with an empty line.
        match byte {
            b'\n' if self.line_ended => return true,
            b'\n' => self.line_ended = true,
            b'\r' => {}
            _ => self.line_ended = false,
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::{net::IpAddr, time::Duration};

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        sync::watch,
    };

    use super::*;
    use crate::grpc::transport::connection_limit::ConnectionLimit;

    #[tokio::test(start_paused = true)]
    async fn parts_of_a_request_take_slots_of_its_address() {
        let limits = Limits { http1_requests_per_second: 10, http1_request_burst: 5, ..Limits::default() };
        let connections = ConnectionLimit::new(limits);
        let peer = IpAddr::from([192, 0, 2, 1]);
        let head = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
        let time_of_head = async |part: usize| {
            let permit = connections.admit().unwrap().of_client(peer).unwrap();
            let inputs =
                (Http1Input::new(&limits), Http2::new(&limits, PeriodOffset::starting_now(), watch::channel(true).1));
            let (near, mut far) = duplex(part);
            let began = Instant::now();
            let deadline = began + Duration::from_secs(60);
            let mut connection = Connection::new(near, PeerAddress::Ip(peer), permit, deadline, inputs);
            let mut received = vec![0; head.len()];
            let (sent, read) = tokio::join!(far.write_all(head), connection.read_exact(&mut received));
            assert!(sent.is_ok() && read.is_ok() && received == head);
            began.elapsed().as_secs()
        };
        assert_eq!([time_of_head(1_000).await, time_of_head(1).await, time_of_head(1_000).await], [0, 1, 0]);
    }

    /// The number of bytes after which `bytes` is complete.
    fn complete(bytes: &[u8]) -> Option<usize> {
        let whole = RequestStart::default().length(bytes);
        let mut start = RequestStart::default();
        let in_parts = bytes.iter().position(|&byte| start.length(&[byte]).is_some()).map(|index| index + 1);
        assert_eq!(whole, in_parts);
        whole
    }

    #[test]
    fn a_connection_starts_with_the_preface_or_a_whole_head() {
        assert_eq!(complete(PREFACE), Some(PREFACE.len()));
        assert_eq!(complete(b"PRI * HTTP/2.0\r\n\r\nSM"), None, "half a preface");
        assert_eq!(complete(b"POST / HTTP/1.1\r\nhost: x\r\n\r\nbody"), Some(28));
        assert_eq!(complete(b"GET / HTTP/1.1\n\n"), Some(16));
        assert_eq!(complete(b"GET / HTTP/1.1\r\nhost: x\r\n"), None, "half a head");
        assert_eq!(complete(b"\x16\x03\x01\x02\x00"), None, "TLS");
        assert_eq!(complete(b""), None);
        assert_eq!(complete(&[PREFACE, b"frames"].concat()), Some(PREFACE.len()));
    }
}
