//! The stream of one node's rows of the list of rooms.

use futures_util::stream;
use tokio_stream::Stream;
use tonic::{Status, Streaming};

use crate::{
    proto::cluster::ListResponse,
    runtime::{LobbyWatch, PeerList},
};

/// Sends the rows of this node. A node that reads slowly gets the changes later, or all rows again: at most one message
/// is in memory.
pub(super) fn send_list(watch: LobbyWatch) -> impl Stream<Item = Result<ListResponse, Status>> + Send {
    stream::unfold(watch, async |mut watch| {
        let update = watch.next().await;
        Some((Ok(update.into()), watch))
    })
}

/// Puts the rows of the other node into `list`, until the stream ends. Rows that this node cannot read, as of another
/// version, are left out; any other message that cannot be read is an error.
pub(super) async fn receive_list(list: PeerList, mut responses: Streaming<ListResponse>) -> Result<(), Status> {
    let mut has_warned = false;
    while let Some(response) = responses.message().await? {
        let read = response.read();
        let (update, unreadable) =
            read.map_err(|error| Status::data_loss(format!("the node's list of rooms cannot be read: {error}")))?;
        if let Some(error) = unreadable
            && !has_warned
        {
            tracing::warn!(%error, node = %list.node(), "rooms of another node cannot be read, and are not listed");
            has_warned = true;
        }
        list.update(update);
    }
    Ok(())
}
