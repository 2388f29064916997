//! One connection: a deadline for its first request, small reads of HTTP/1.1, and the write buffer.

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use http::Extensions;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::yield_now,
    time::{Instant, Sleep, sleep_until},
};
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tonic::transport::server::Connected;

use super::{connection_limit::ConnectionPermit, server_socket::ClientStream, write_buffer::WriteBuffer};
use crate::runtime::ClientAddress;

/// The first bytes of every HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Maximum size of one read of HTTP/1.1 in bytes: the transport parses an incomplete head again after each read.
const MAX_HTTP1_READ: usize = 16 * 1024;

/// An open connection. Reads fail after the deadline unless the preface of HTTP/2 or the head of a request was complete
/// before; tonic has no such deadline, and idle connections could use up the limit. Reads of HTTP/1.1 are small and
/// yield in between: otherwise the transport reads as long as there is data, and all other tasks of the thread wait.
pub(crate) struct Connection {
    socket: WriteBuffer<Socket>,
    /// None after the first request head or the preface is complete.
    opening: Option<FirstRequest>,
    is_http1: bool,
    has_read: bool,
    permit: ConnectionPermit,
}

pub(crate) type Socket = Either<ClientStream, Box<TlsStream<ClientStream>>>;

impl Connection {
    pub(crate) fn new(socket: Socket, permit: ConnectionPermit, deadline: Instant) -> Self {
        let opening = FirstRequest { start: RequestStart::default(), deadline: Box::pin(sleep_until(deadline)) };
        let socket = WriteBuffer::new(socket);
        Self { socket, opening: Some(opening), is_http1: false, has_read: false, permit }
    }

    /// Reads; with HTTP/1.1 at most one part, and the next only after other tasks have run.
    fn read_a_part(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let socket = Pin::new(&mut self.socket);
        if !self.is_http1 {
            return socket.poll_read(cx, buffer);
        }
        // A plain wake would run this task before the tasks whose messages have just arrived.
        if std::mem::take(&mut self.has_read) && pin!(yield_now()).poll(cx).is_pending() {
            return Poll::Pending;
        }
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(MAX_HTTP1_READ.min(buffer.remaining())));
        let read = socket.poll_read(cx, &mut part);
        let length = part.filled().len();
        self.has_read = length > 0;
        buffer.advance(length);
        read
    }

    fn socket(self: Pin<&mut Self>) -> Pin<&mut WriteBuffer<Socket>> {
        Pin::new(&mut self.get_mut().socket)
    }
}

/// The client's end of a connection, an extension of every request.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) address: Arc<ClientAddress>,
    /// When the connection was opened.
    pub(crate) since: Instant,
    /// Whether it is a trusted proxy, whose requests name their clients.
    pub(crate) is_proxy: bool,
}

impl Peer {
    pub(crate) fn address(extensions: &Extensions) -> Option<&Arc<ClientAddress>> {
        extensions.get::<Self>().map(|peer| &peer.address)
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        let ConnectionPermit { address, .. } = &self.permit;
        Peer { address: Arc::clone(address), since: Instant::now(), is_proxy: self.permit.is_of_proxy() }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = this.read_a_part(cx, buffer);
        if let Some(opening) = &mut this.opening {
            let is_complete = opening.start.is_complete(&buffer.filled()[before..]);
            this.is_http1 = opening.start.is_http1;
            if is_complete {
                this.opening = None;
            } else if opening.deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.socket().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.socket().poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket().poll_shutdown(cx)
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
    /// Whether the preface or the head is complete with these bytes.
    fn is_complete(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| self.ends_with(byte))
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
    use super::*;

    /// The number of bytes after which `bytes` is complete.
    fn complete(bytes: &[u8]) -> Option<usize> {
        let mut start = RequestStart::default();
        bytes.iter().position(|&byte| start.is_complete(&[byte])).map(|index| index + 1)
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
    }
}
