//! What nodes send each other, and the trait of the links between them.

use std::{future::ready, sync::Arc};

use tokio::sync::mpsc;

use crate::{
    room::{Command, Creation, Event, Issuer, PlayerId, Room, RoomId, Seq},
    runtime::{
        outcome::{Accepted, RoomError},
        player::notice::Notice,
        room::message::{Audience, Snapshot},
    },
    store::{Assignment, BoxFuture, NodeId},
    tournament,
};

/// The links from this node to the others. An implementation calls the `Node` of the other process.
///
/// Two nodes have a link in each direction, and either may work without the other. Every queue has a bound. When a link
/// breaks, its feeds end and its queued news are lost. The implementation calls `Node::linked` on the node from which a
/// new link starts, `Node::linked_by` on the other one, and `Node::unlinked` on the other one when the link has ended.
pub trait Peers: Send + Sync + 'static {
    /// Asks a node and waits for its answer. If the future is dropped, the request may or may not have been executed.
    fn ask(&self, node: NodeId, ask: Ask) -> BoxFuture<'_, Result<Reply, LinkError>>;

    /// Follows a room of a node, from its current state, or from the event after `after` on. The feed ends without
    /// [`FeedItem::Ended`] when the link breaks or the feed is read too slowly.
    fn follow(&self, node: NodeId, room: RoomId, audience: Audience, after: Option<Seq>) -> mpsc::Receiver<FeedItem>;

    /// Sends news to a node. They arrive in order. If the queue is full, the link is closed.
    fn tell(&self, node: NodeId, news: News);

    /// The nodes to which there is a link.
    fn linked(&self) -> Vec<NodeId>;
}

/// No other nodes, and so no links.
pub(crate) struct NoPeers;

impl Peers for NoPeers {
    fn ask(&self, _: NodeId, _: Ask) -> BoxFuture<'_, Result<Reply, LinkError>> {
        Box::pin(ready(Err(LinkError::Down)))
    }

    fn follow(&self, _: NodeId, _: RoomId, _: Audience, _: Option<Seq>) -> mpsc::Receiver<FeedItem> {
        mpsc::channel(1).1
    }

    fn tell(&self, _: NodeId, _: News) {}

    fn linked(&self) -> Vec<NodeId> {
        Vec::new()
    }
}

/// A request about a room or a tournament, for its serving node.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The room, or the id of the tournament as that of a room: both have the same shard.
    pub room: RoomId,
    /// What is asked.
    pub what: Question,
}

/// What is asked of a room.
#[derive(Clone, Debug)]
pub enum Question {
    /// Execute a command of a player or an administrator.
    Command(Issuer, Command),
    /// The current state.
    Snapshot,
    /// Create the room, and execute the owner's first command.
    Create(Box<Creation>, Option<Command>),
    /// Execute a command of a player, or of an administrator, in the tournament with the id of the room.
    Tournament(Option<PlayerId>, Box<tournament::Command>),
}

impl Ask {
    /// True if asking twice has the same effect as asking once: a snapshot has none, a move names its ply, and a new
    /// room its id.
    pub(crate) fn is_repeatable(&self) -> bool {
        matches!(self.what, Question::Snapshot | Question::Create(..) | Question::Command(_, Command::Play { .. }))
    }
}

/// The answer of a node.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The command was executed.
    Accepted(Accepted),
    /// The state of the room, which may just have been created.
    Snapshot(Snapshot),
    /// The request was refused.
    Refused(RoomError),
    /// Nothing was done, because the room is not on this node. Contains its node if it is known.
    Moved(Option<Assignment>),
}

impl Reply {
    /// What a command or a creation has done. [`RoomError::Unreachable`] if this is not the reply to one.
    pub(crate) fn accepted(self) -> Result<Accepted, RoomError> {
        match self {
            Self::Accepted(accepted) => Ok(accepted),
            Self::Refused(error) => Err(error),
            // Not the reply to a command.
            Self::Snapshot(_) | Self::Moved(_) => Err(RoomError::Unreachable),
        }
    }

    /// The state of an existing or a new room.
    pub(crate) fn snapshot(self) -> Result<Snapshot, RoomError> {
        match self {
            Self::Snapshot(snapshot) => Ok(snapshot),
            Self::Refused(error) => Err(error),
            // Not what was asked for.
            Self::Accepted(_) | Self::Moved(_) => Err(RoomError::Unreachable),
        }
    }

    pub(crate) fn is_by_serving_node(&self) -> bool {
        !matches!(self, Self::Moved(_))
    }
}

/// Why a node has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Nothing was sent: there is no link now.
    Down,
    /// Nothing was sent: too many requests wait for this node.
    Full,
    /// The link broke, and the request may have been executed.
    Lost,
}

/// An item of a feed. The first one is a state, unless the serving node still has all events after the requested one.
#[derive(Clone, Debug)]
pub enum FeedItem {
    /// The state of the room.
    Base(Arc<Room>),
    /// Its next event.
    Event(Arc<Event>),
    /// The node ends the feed.
    Ended(FeedEnd),
}

/// Why a node ends a feed.
#[derive(Clone, Debug)]
pub enum FeedEnd {
    /// The room is not on this node. Contains its node if it is known.
    Moved(Option<Assignment>),
    /// The room cannot be followed.
    Refused(RoomError),
    /// The database has lost events of the room that were sent.
    RolledBack,
}

/// Maximum number of players in one [`News::Streams`]. Large enough for a new link's queue to hold the news of all
/// players.
pub const MAX_STREAMS: usize = 4_096;

/// What one node tells another.
#[derive(Clone, Debug)]
pub enum News {
    /// The open streams of at most [`MAX_STREAMS`] players on the sending node: those that have changed, or all after a
    /// link was opened. An empty one follows after all.
    Streams(Vec<(PlayerId, PlayerStreams)>),
    /// A notice of a room on the sending node, for a player whose stream of turns is on the receiving node.
    Notice(PlayerId, Notice),
    /// What is stored of the player has changed: its token, or what it has set.
    Account(PlayerId),
    /// The player has logged out.
    LoggedOut(PlayerId),
    /// The bans in the store have changed.
    Bans,
    /// The sending node has given shards to the receiving one.
    ShardsGiven,
    /// The sending node serves these shards now.
    ShardsServed(Vec<Assignment>),
    /// The sending node can be reached.
    Heartbeat {
        /// When it was sent, by the sender's clock.
        sent: i64,
        /// When the newest one that the sender has received was sent, by the receiver's clock.
        received: Option<i64>,
    },
}

/// The open streams of a player on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerStreams {
    /// True if any stream is open.
    pub present: bool,
    /// The number of the stream of turns, if one is open. A higher number is newer.
    pub turns: Option<i64>,
}
