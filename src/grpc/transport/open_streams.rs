//! Connections over streams that are already open, such as those in memory.

use std::{io, net::Ipv4Addr, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch::Receiver,
    time::Instant,
};
use tokio_stream::{Stream, StreamExt as _, pending};

use super::{
    connection::{Connection, Http1Input},
    connection_limit::ConnectionLimit,
    http2::Http2,
    listener::note_too_many,
    period_offset::PeriodOffsets,
    server_socket::PeerAddress,
};
use crate::runtime::Limits;

/// `streams` as connections of the loopback address. Those beyond the limits on open connections are dropped. The
/// result never ends: at its end the transport would end all connections.
pub(crate) fn open_streams<S: AsyncRead + AsyncWrite + Unpin>(
    streams: impl Stream<Item = S>,
    connections: Arc<ConnectionLimit>,
    limits: Limits,
    offsets: PeriodOffsets,
    in_service: Receiver<bool>,
) -> impl Stream<Item = io::Result<Connection<S>>> {
    let peer = PeerAddress::Ip(Ipv4Addr::LOCALHOST.into());
    let connections = streams.filter_map(move |stream| {
        let Some(permit) = connections.admit().and_then(|slot| slot.of_client(peer.ip())) else {
            note_too_many(peer);
            return None;
        };
        let inputs = (Http1Input::new(&limits), Http2::new(&limits, offsets.next(), in_service.clone()));
        Some(Ok(Connection::new(stream, peer, permit, Instant::now() + limits.opening, inputs)))
    });
    connections.chain(pending())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        sync::watch,
        time::timeout,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn streams_are_connections_within_the_limits() {
        let limits = Limits { connections_per_address: 1, ..Limits::default() };
        let connections = ConnectionLimit::new(limits);
        let ((mut first, one), (mut second, other)) = (duplex(64), duplex(64));
        let streams = tokio_stream::iter([one, other]);
        let mut opened = pin!(open_streams(
            streams,
            Arc::clone(&connections),
            limits,
            PeriodOffsets::new(0),
            watch::channel(true).1
        ));
        let mut connection = opened.next().await.unwrap().unwrap();
        let waits = timeout(limits.opening / 2, opened.next()).await;
        assert!(waits.is_err(), "the second is beyond the limit, and the server waits for others");
        assert_eq!((second.read(&mut [0]).await.unwrap(), connections.count()), (0, 1));
        first.write_all(b"PRI").await.unwrap();
        let mut received = [0; 4];
        assert_eq!(connection.read(&mut received).await.unwrap(), 3);
        let error = connection.read(&mut received).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "no preface");
        drop(connection);
        assert_eq!(connections.count(), 0);
    }
}
