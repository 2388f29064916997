//! What nodes send each other, and the trait of the links between them.

use std::{future::ready, sync::Arc};

use tokio::sync::mpsc;

use crate::{
    room::{Command, Creation, Event, Issuer, PlayerId, Room, RoomId, Seq},
    runtime::{
        outcome::{Accepted, RoomError},
        player::notice::Notice,
        room::message::Snapshot,
    },
    store::{BoxFuture, NodeId, Ownership},
};

/// The links from this node to the others. An implementation calls the `Node` of the other process.
///
/// A pair of nodes has a link in each direction, and either may be up without the other. Every queue has a bound. A link that
/// breaks ends its feeds and loses what was told. `Node::linked` is called at the node from which there is a new link,
/// `Node::linked_by` at the other one, and `Node::unlinked` there when it has ended.
pub trait Peers: Send + Sync + 'static {
    /// Asks a node, and waits for its answer. Dropping the future leaves the outcome unknown.
    fn ask(&self, node: NodeId, ask: Ask) -> BoxFuture<'_, Result<Reply, LinkError>>;

    /// Follows a room of a node, from its current state, or from the event after `after` on. The feed ends without
    /// [`FeedItem::Ended`] when the link breaks, or when it cannot keep up.
    fn follow(&self, node: NodeId, room: RoomId, after: Option<Seq>) -> mpsc::Receiver<FeedItem>;

    /// Tells a node. What is told to one node arrives in order; what cannot be queued breaks the link.
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

    fn follow(&self, _: NodeId, _: RoomId, _: Option<Seq>) -> mpsc::Receiver<FeedItem> {
        mpsc::channel(1).1
    }

    fn tell(&self, _: NodeId, _: News) {}

    fn linked(&self) -> Vec<NodeId> {
        Vec::new()
    }
}

/// A request about a room, for its owner.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The room.
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
    /// Create the room.
    Create(Box<Creation>),
}

impl Ask {
    /// Whether asking twice has the effect of asking once: a move names its ply, and a new room its id.
    pub(crate) fn is_repeatable(&self) -> bool {
        matches!(self.what, Question::Snapshot | Question::Create(_) | Question::Command(_, Command::Play { .. }))
    }
}

/// The answer of a node.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The command was executed, or the room created.
    Accepted(Accepted),
    /// The state.
    Snapshot(Snapshot),
    /// The request was refused.
    Refused(RoomError),
    /// Nothing was done, because the room is not on this node; with its owner, if it is known.
    Elsewhere(Option<Ownership>),
}

impl Reply {
    /// What a command has done.
    pub(crate) fn accepted(self) -> Result<Accepted, RoomError> {
        match self {
            Self::Accepted(accepted) => Ok(accepted),
            Self::Refused(error) => Err(error),
            // Not what was asked for.
            Self::Snapshot(_) | Self::Elsewhere(_) => Err(RoomError::Unreachable),
        }
    }

    pub(crate) fn is_of_owner(&self) -> bool {
        !matches!(self, Self::Elsewhere(_))
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Nothing was sent: there is no link now.
    Down,
    /// Nothing was sent: too many requests wait.
    Full,
    /// The link broke, and the request may have been executed.
    Lost,
}

/// An item of a feed. The first one is a state, unless the events after the requested one are known.
#[derive(Clone, Debug)]
pub enum FeedItem {
    /// The state of the room.
    Base(Arc<Room>),
    /// Its next event.
    Event(Arc<Event>),
    /// The node cannot go on.
    Ended(FeedEnd),
}

/// Why a node ends a feed.
#[derive(Clone, Debug)]
pub enum FeedEnd {
    /// The room is not on this node; with its owner, if it is known.
    Elsewhere(Option<Ownership>),
    /// The room cannot be followed.
    Refused(RoomError),
}

/// The most players of one [`News::Streams`], so that a new link's queue holds those of all players.
pub const MAX_STREAMS: usize = 4_096;

/// What one node tells another.
#[derive(Clone, Debug)]
pub enum News {
    /// The streams of players on the sending node have changed, or are told to a new link: at most [`MAX_STREAMS`].
    Streams(Vec<(PlayerId, PlayerStreams)>),
    /// A room of the sending node has a notice for a player whose stream of turns is on the receiving one.
    Notice(PlayerId, Notice),
    /// The player's token or claim has changed in the store.
    Account(PlayerId),
    /// The player has logged out.
    LoggedOut(PlayerId),
    /// The bans in the store have changed.
    Bans,
}

/// The open streams of a player on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerStreams {
    /// Whether any is open.
    pub present: bool,
    /// The number of the stream of turns, if one is open. Of two, the higher one is newer.
    pub turns: Option<i64>,
}
