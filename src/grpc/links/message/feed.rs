//! Feeds of rooms.

use std::sync::Arc;

use super::{read_room, read_seq, required};
use crate::{
    proto::cluster::{self, feed_end::End, follow_response::Item},
    room::{RoomId, Seq, stored::StoredError},
    runtime::{Audience, FeedEnd, FeedItem},
};

impl cluster::Followed {
    pub(crate) fn read(self) -> Result<(RoomId, Audience, Option<Seq>), StoredError> {
        let audience = if self.for_spectators { Audience::Delayed } else { Audience::Live };
        Ok((read_room(self.room)?, audience, self.after.map(read_seq).transpose()?))
    }
}

impl From<FeedItem> for Item {
    fn from(item: FeedItem) -> Self {
        match item {
            FeedItem::Base(room) => Self::Base(Box::new((&*room).into())),
            FeedItem::Event(event) => Self::Event((&*event).into()),
            FeedItem::Ended(end) => {
                let end = match end {
                    FeedEnd::Moved(known) => End::Elsewhere(known.into()),
                    FeedEnd::Refused(error) => End::Refused(error.into()),
                    FeedEnd::RolledBack => End::RolledBack(true),
                };
                Self::Ended(cluster::FeedEnd { end: Some(end) })
            }
        }
    }
}

impl Item {
    pub(crate) fn read(self) -> Result<FeedItem, StoredError> {
        Ok(match self {
            Self::Base(room) => FeedItem::Base(Arc::new(room.read()?)),
            Self::Event(event) => FeedItem::Event(Arc::new(event.read()?)),
            Self::Ended(ended) => FeedItem::Ended(match required(ended.end, "end of a feed")? {
                End::Elsewhere(elsewhere) => FeedEnd::Moved(elsewhere.read()?),
                End::Refused(error) => FeedEnd::Refused(error.read()?),
                End::RolledBack(_) => FeedEnd::RolledBack,
            }),
        })
    }
}
