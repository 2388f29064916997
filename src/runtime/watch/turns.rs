//! The stream of one player's turns and other notices.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use super::open_stream::OpenStream;
use crate::{
    room::{GameId, PlayerId, RoomId, TurnRequest},
    runtime::{
        outcome::{RoomError, StreamEnd},
        player::{inbox::InboxReader, notice::Notice, player::Player},
        room::{host::RoomHost, message::Message, registry::MAILBOX_TIMEOUT},
        server_metrics::StreamKind,
    },
};

/// The stream of one player's notices.
pub struct Turns {
    inbox: InboxReader,
    begun: BegunTurns,
    /// The replies of rooms that were asked to send an open turn again. Dropping one cancels the request.
    _reminders: Vec<oneshot::Receiver<()>>,
}

impl Turns {
    /// Opens the stream and ends an older one. Open turns are sent first.
    pub(crate) async fn open(host: &RoomHost, player: &Arc<Player>) -> Result<Self, RoomError> {
        let mut stream = OpenStream::new(host, player, StreamKind::Turns)?;
        let (inbox, superseded) = {
            // So that the stream with the highest number is the one that is open.
            let mut told = player.streams.told();
            if player.is_replaced() {
                return Err(RoomError::TokenReplaced);
            }
            stream.begin_turns();
            let opened = player.streams.inbox.open(Box::new(stream));
            // Other nodes answer with the open turns at once, which an inbox without a reader does not keep.
            host.context.players.tell_streams(player, &mut told);
            // Before a stream of a new token can open.
            if let Some(end) = player.stream_end() {
                player.streams.inbox.close(end);
            }
            opened
        };
        drop(superseded);
        host.context.players.supersede_older_turns(player);
        let mut reminders: Vec<_> = player.seats().into_iter().map(|room| remind(host, player, room)).collect();
        let patience = Instant::now() + MAILBOX_TIMEOUT;
        for reminder in &mut reminders {
            // The turns of a very busy room arrive later.
            let _ = timeout_at(patience, reminder).await;
        }
        player.streams.inbox.deliver_missed(&inbox);
        Ok(Self { inbox, begun: BegunTurns::default(), _reminders: reminders })
    }

    /// The next notice. Cancel safe.
    ///
    /// # Errors
    /// Why the stream has ended.
    pub async fn next(&mut self) -> Result<Notice, StreamEnd> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`Turns::next`], for a future that also polls other sources.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Notice, StreamEnd>> {
        loop {
            match self.inbox.poll_next(context.waker()) {
                Poll::Ready(Ok(Notice::TurnRequested(turn))) if !self.begun.is_new(&turn, Instant::now()) => {}
                other => return other,
            }
        }
    }
}

/// The turns that began while a stream was being opened, for which its reminders ask again. A player that chooses at random
/// would answer both, with two moves.
struct BegunTurns {
    until: Instant,
    turns: Vec<(GameId, u16)>,
}

impl Default for BegunTurns {
    fn default() -> Self {
        Self { until: Instant::now() + MAILBOX_TIMEOUT, turns: Vec::new() }
    }
}

impl BegunTurns {
    /// False for a repeat of a turn that has begun since the stream was opened. Later repeats are of turns that the store
    /// has lost.
    fn is_new(&mut self, turn: &TurnRequest, now: Instant) -> bool {
        let asked = (turn.game, turn.ply);
        if now > self.until {
            self.turns = Vec::new();
            return true;
        }
        if !turn.is_repeat {
            self.turns.push(asked);
            return true;
        }
        let known = self.turns.iter().position(|begun| *begun == asked);
        known.map(|known| self.turns.swap_remove(known)).is_none()
    }
}

/// Asks a room to send the player's open turn again. Dropping the receiver cancels the request.
fn remind(host: &RoomHost, player: &Arc<Player>, room: RoomId) -> oneshot::Receiver<()> {
    let (reply, answer) = oneshot::channel();
    let (this, player) = (host.clone(), player.id());
    host.context.lifecycle.spawn(async move { send_reminder(&this, player, room, reply).await });
    answer
}

/// Sends a new stream of turns on another node what it has missed: the open turns of this node's rooms, and the notices
/// that were kept here.
pub(crate) fn remind_at_peer(host: &RoomHost, player: &Arc<Player>) {
    for room in player.seats() {
        let (this, player) = (host.clone(), player.id());
        host.context.lifecycle.spawn(async move {
            // Kept until the reminder is sent.
            let (reply, _answer) = oneshot::channel();
            send_reminder(&this, player, room, reply).await;
        });
    }
    for notice in player.streams.inbox.take_missed() {
        host.context.players.deliver(player, notice);
    }
}

async fn send_reminder(host: &RoomHost, player: PlayerId, room: RoomId, mut reply: oneshot::Sender<()>) {
    let Ok(handle) = host.room(room).await else { return };
    let permit = tokio::select! {
        biased;
        permit = handle.reserve() => permit,
        () = reply.closed() => None,
        () = host.context.lifecycle.stop.cancelled() => None,
    };
    if let Some(permit) = permit {
        permit.send(Box::new(Message::Remind(player, reply)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use bytes::Bytes;
    use tokio::sync::mpsc;

    use super::*;
    use crate::{
        room::{Clocks, DisplayName, PlayerKind, Seq, Timestamp},
        rules::{ByColor, Position},
        runtime::{
            Audience, Node, NodeId, Parts, Peers, Runtime,
            cluster::peers::{Ask, FeedItem, LinkError, News, Reply},
        },
        store::{BoxFuture, MemoryStore, Store},
    };

    const PEER: NodeId = NodeId(2);

    /// A peer that answers the news of a stream of turns with a turn, before the teller goes on.
    #[derive(Default)]
    struct FastPeer(OnceLock<Node>);

    impl Peers for FastPeer {
        fn ask(&self, _: NodeId, _: Ask) -> BoxFuture<'_, Result<Reply, LinkError>> {
            Box::pin(std::future::ready(Err(LinkError::Down)))
        }

        fn follow(&self, _: NodeId, _: RoomId, _: Audience, _: Option<Seq>) -> mpsc::Receiver<FeedItem> {
            mpsc::channel(1).1
        }

        fn tell(&self, _: NodeId, news: News) {
            let (News::Streams(streams), Some(node)) = (news, self.0.get()) else { return };
            for (player, _) in streams.into_iter().filter(|(_, streams)| streams.turns.is_some()) {
                node.receive_news(PEER, News::Notice(player, Notice::TurnRequested(Box::new(turn(7, true)))));
            }
        }

        fn linked(&self) -> Vec<NodeId> {
            vec![PEER]
        }
    }

    #[tokio::test]
    async fn a_turn_of_another_node_is_received_however_soon_it_is_sent() {
        let peer = Arc::new(FastPeer::default());
        let parts = Parts::new(Store::of(MemoryStore::default()), |_, _| Bytes::new());
        let cluster = Some((NodeId(1), Arc::clone(&peer) as Arc<dyn Peers>));
        let runtime = Runtime::start(Parts { cluster, ..parts }).await.unwrap();
        peer.0.set(runtime.node()).ok().unwrap();
        let name = DisplayName::parse("Ada").unwrap();
        let (ada, _) = runtime.sessions.log_in(name, PlayerKind::Human, 0, None, None).await.unwrap();
        let mut turns = runtime.streams.turns(&ada).await.unwrap();
        let ready = turns.poll_next(&mut Context::from_waker(std::task::Waker::noop()));
        assert!(matches!(&ready, Poll::Ready(Ok(Notice::TurnRequested(turn))) if turn.ply == 7), "{ready:?}");
    }

    fn turn(ply: u16, is_repeat: bool) -> TurnRequest {
        let clocks = Clocks { totals: ByColor::default(), left: MAILBOX_TIMEOUT, deadline: Timestamp(0) };
        let game = GameId { room: RoomId::from_random(1), number: 1 };
        TurnRequest { game, ply, position: Position::START, last_move: None, clocks, is_repeat }
    }

    #[test]
    fn a_turn_that_begins_while_the_stream_is_opened_is_sent_once() {
        let (mut begun, now) = (BegunTurns::default(), Instant::now());
        let seen = [turn(0, true), turn(1, false), turn(1, true), turn(1, true), turn(2, false), turn(3, true)];
        assert_eq!(seen.map(|turn| begun.is_new(&turn, now)), [true, true, false, true, true, true]);
        begun.is_new(&turn(4, false), now);
        assert!(begun.is_new(&turn(4, true), begun.until + MAILBOX_TIMEOUT), "the store has lost the move");
    }
}
