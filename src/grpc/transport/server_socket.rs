//! The socket of a server, TCP or UNIX, and the connections to it.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

#[cfg(not(unix))]
use tokio::net::TcpStream as UnixStream;
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::{
    io::Interest,
    net::{UnixListener, UnixStream},
};
use tokio_util::either::Either;

/// A bound socket. Clones accept from the same queue of connections.
#[derive(Clone, Debug)]
pub enum ServerSocket {
    /// TCP.
    Tcp(Arc<TcpListener>),
    /// A UNIX socket, for programs on the same machine.
    #[cfg(unix)]
    Unix(Arc<UnixListener>),
}

/// A connection before TLS.
pub(crate) type ClientStream = Either<TcpStream, UnixStream>;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerAddress {
    Ip(IpAddr),
    /// A program on this machine.
    Unix,
}

impl ServerSocket {
    pub(crate) async fn accept(&self) -> io::Result<(ClientStream, PeerAddress)> {
        Ok(match self {
            Self::Tcp(socket) => {
                let (stream, address) = socket.accept().await?;
                (Either::Left(stream), PeerAddress::Ip(address.ip()))
            }
            #[cfg(unix)]
            Self::Unix(socket) => (Either::Right(socket.accept().await?.0), PeerAddress::Unix),
        })
    }
}

impl From<TcpListener> for ServerSocket {
    fn from(socket: TcpListener) -> Self {
        Self::Tcp(Arc::new(socket))
    }
}

#[cfg(unix)]
impl From<UnixListener> for ServerSocket {
    fn from(socket: UnixListener) -> Self {
        Self::Unix(Arc::new(socket))
    }
}

impl PeerAddress {
    /// Its IP address; loopback for a UNIX socket.
    pub(crate) fn ip(self) -> IpAddr {
        match self {
            Self::Ip(address) => address,
            Self::Unix => Ipv4Addr::LOCALHOST.into(),
        }
    }
}

/// Waits for bytes and copies the first ones without removing them. Returns their number; 0 at the end of the stream.
pub(crate) async fn peek(stream: &ClientStream, buffer: &mut [u8]) -> io::Result<usize> {
    match stream {
        Either::Left(stream) => stream.peek(buffer).await,
        #[cfg(unix)]
        Either::Right(stream) => {
            use rustix::net::{RecvFlags, recv};
            stream.async_io(Interest::READABLE, || Ok(recv(stream, &mut *buffer, RecvFlags::PEEK)?.0)).await
        }
        #[cfg(not(unix))]
        Either::Right(stream) => stream.peek(buffer).await,
    }
}

/// Sends small messages immediately.
pub(crate) fn set_nodelay(stream: &ClientStream) {
    if let Either::Left(stream) = stream {
        // A socket without this option works, too.
        let _ = stream.set_nodelay(true);
    }
}
