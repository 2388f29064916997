//! Replies.

use std::sync::Arc;

use super::{read_seq, required};
use crate::{
    proto::cluster::{self, exchange_response::Reply as Replied},
    room::stored::StoredError,
    runtime::{Accepted, Reply, Snapshot},
};

impl From<Reply> for Replied {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Accepted(Accepted { seq, changed, game }) => {
                Self::Accepted(cluster::Accepted { seq: seq.0, changed, game: game.map(Into::into) })
            }
            Reply::Snapshot(Snapshot { room, watchers }) => {
                Self::Snapshot(cluster::Snapshot { room: Some(Box::new((&*room).into())), watchers })
            }
            Reply::Refused(error) => Self::Refused(error.into()),
            Reply::Moved(known) => Self::Elsewhere(known.into()),
        }
    }
}

impl cluster::ExchangeResponse {
    pub(crate) fn read(self) -> Result<Reply, StoredError> {
        Ok(match required(self.reply, "reply")? {
            Replied::Accepted(cluster::Accepted { seq, changed, game }) => {
                let game = game.map(cluster::GameId::read).transpose()?;
                Reply::Accepted(Accepted { seq: read_seq(seq)?, changed, game })
            }
            Replied::Snapshot(cluster::Snapshot { room, watchers }) => {
                Reply::Snapshot(Snapshot { room: Arc::new(required(room, "room")?.read()?), watchers })
            }
            Replied::Refused(error) => Reply::Refused(error.read()?),
            Replied::Elsewhere(elsewhere) => Reply::Moved(elsewhere.read()?),
        })
    }
}
