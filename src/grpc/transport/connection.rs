//! A connection, which has so long to say what it wants.

use std::{
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use http::Extensions;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    task::yield_now,
    time::{Instant, Sleep, sleep_until},
};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::{connection_limit::Place, write_buffer::Gathered};
use crate::runtime::Address;

/// What every connection of HTTP/2 begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What is read of HTTP/1.1 at a time. A head that is not whole is looked through anew with every part of it.
const MOST_READ: usize = 16 * 1024;

/// An open connection. Reading fails from its deadline on, unless it has begun as HTTP does by then: with the preface of
/// HTTP/2, or with the whole head of a request. What comes after is the transport's to watch; but of HTTP/1.1 it gets little
/// at a time, since it goes on for as long as there is something to read, and all others wait.
pub(crate) struct Connection {
    wire: Gathered<Wire>,
    opening: Option<Opening>,
    is_old: bool,
    has_read: bool,
    place: Place,
}

/// What bytes go over.
pub(crate) enum Wire {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection {
    pub(crate) fn new(wire: Wire, place: Place, deadline: Instant) -> Self {
        let opening = Opening { heard: Heard::default(), deadline: Box::pin(sleep_until(deadline)) };
        Self { wire: Gathered::new(wire), opening: Some(opening), is_old: false, has_read: false, place }
    }

    /// Reads; of HTTP/1.1 one part, and no more before others had their turns.
    fn read_a_part(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wire = Pin::new(&mut self.wire);
        if !self.is_old {
            return wire.poll_read(cx, buffer);
        }
        // A mere wake would put it before those whose messages have just arrived.
        if std::mem::take(&mut self.has_read) && pin!(yield_now()).poll(cx).is_pending() {
            return Poll::Pending;
        }
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(MOST_READ.min(buffer.remaining())));
        let read = wire.poll_read(cx, &mut part);
        let length = part.filled().len();
        self.has_read = length > 0;
        buffer.advance(length);
        read
    }

    fn wire(self: Pin<&mut Self>) -> Pin<&mut Gathered<Wire>> {
        Pin::new(&mut self.get_mut().wire)
    }
}

/// Who is at the other end of a connection. A service finds this with every request.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) address: Arc<Address>,
    /// When the connection was opened.
    pub(crate) since: Instant,
}

impl Peer {
    /// The address from which a request comes, where that is known.
    pub(crate) fn address(extensions: &Extensions) -> Option<&Arc<Address>> {
        extensions.get::<Self>().map(|peer| &peer.address)
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        Peer { address: Arc::clone(self.place.address()), since: Instant::now() }
    }
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = this.read_a_part(cx, buffer);
        if let Some(opening) = &mut this.opening {
            let is_enough = opening.heard.is_enough(&buffer.filled()[before..]);
            this.is_old = opening.heard.is_preface_no_more;
            if is_enough {
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
        self.wire().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.wire().poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.wire.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().poll_shutdown(cx)
    }
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, parts),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

struct Opening {
    heard: Heard,
    deadline: Pin<Box<Sleep>>,
}

/// How far a connection has come in saying what it wants.
#[derive(Default)]
struct Heard {
    preface: usize,
    is_preface_no_more: bool,
    line_ended: bool,
}

impl Heard {
    /// Whether what it has said by now, these bytes with it, is enough.
    fn is_enough(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| self.ends_with(byte))
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        if !self.is_preface_no_more {
            if PREFACE[self.preface] == byte {
                self.preface += 1;
                return self.preface == PREFACE.len();
            }
            self.is_preface_no_more = true;
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

    /// The byte with which enough was said.
    fn enough(bytes: &[u8]) -> Option<usize> {
        let mut heard = Heard::default();
        bytes.iter().position(|&byte| heard.is_enough(&[byte])).map(|index| index + 1)
    }

    #[test]
    fn a_connection_begins_with_the_preface_or_a_head() {
        assert_eq!(enough(PREFACE), Some(PREFACE.len()));
        assert_eq!(enough(b"PRI * HTTP/2.0\r\n\r\nSM"), None, "half a preface");
        assert_eq!(enough(b"POST / HTTP/1.1\r\nhost: x\r\n\r\nbody"), Some(28));
        assert_eq!(enough(b"GET / HTTP/1.1\n\n"), Some(16));
        assert_eq!(enough(b"GET / HTTP/1.1\r\nhost: x\r\n"), None, "half a head");
        assert_eq!(enough(b"\x16\x03\x01\x02\x00"), None, "TLS where none is spoken");
        assert_eq!(enough(b""), None);
    }
}
