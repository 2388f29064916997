//! Writes other than appends. Each may be executed again after its connection was lost.

use reversi_room::{PlayerId, RoomId, Timestamp};
use tokio_postgres::Error;

use crate::{
    ban::Ban,
    player_store::{PlaceRequest, StoredPlayer},
    postgres::{
        cluster::{fence::Fence, shard},
        members, players, schema,
        session::Session,
        transfer, waiting,
    },
    shard::{Assignment, NodeId},
    transfer::Restored,
};

pub(in crate::postgres) enum Change {
    /// Changes nothing. Its outcome shows that all earlier writes are complete.
    Nothing,
    /// The node lives, and perhaps all clocks in its shards are credited.
    MarkAlive {
        now: Timestamp,
        is_credited: bool,
    },
    /// The clocks of these shards are credited.
    NoteCredited(Vec<Assignment>),
    /// Gives shards to other nodes. They were last served at this time.
    HandOver(Vec<(Assignment, NodeId)>, Timestamp),
    /// Takes the list of waiting rooms, and counts 1 if no other node has it.
    TakeWaiting,
    ReturnWaiting {
        gone: Vec<RoomId>,
        new: Vec<RoomId>,
    },
    AddWaiting(Vec<RoomId>),
    PutPlayer(StoredPlayer),
    /// Replaces what has changed of a player with the token of the second value, and counts the player.
    Account(Box<(StoredPlayer, StoredPlayer)>),
    RemovePlayer(PlayerId),
    /// Removes a player, unless seen after this time, and counts the player.
    RemoveIdle(PlayerId, Timestamp),
    RecordSeen(Vec<(PlayerId, Timestamp)>),
    /// Also removes bans that have ended.
    PutBan(Ban, Timestamp),
    /// Counts [`members::DONE`], [`members::REFUSED`] or [`members::BUSY`].
    ReservePlace(PlaceRequest),
    ReleasePlace(u64),
    /// Writes what another store had.
    Restore(Restored),
    /// Records whether the tables have only a part of what is copied into them.
    SetUnfinished(bool),
}

impl Change {
    /// True for a change on behalf of players, of which there may be many.
    pub(in crate::postgres) fn is_of_players(&self) -> bool {
        !matches!(self, Self::Nothing | Self::MarkAlive { .. } | Self::NoteCredited(_) | Self::HandOver(..))
    }

    /// Executes it within a transaction. Returns what it counts.
    pub(in crate::postgres) async fn execute(&self, session: &Session, fence: Fence) -> Result<usize, Error> {
        match self {
            Self::Nothing => Ok(0),
            Self::MarkAlive { now, is_credited } => fence.mark_alive(session, *now, *is_credited).await.map(|()| 0),
            Self::NoteCredited(shards) => shard::note_credited(session, fence, shards).await.map(|()| 0),
            Self::HandOver(shards, since) => shard::hand_over(session, fence, shards, *since).await.map(|()| 0),
            Self::TakeWaiting => waiting::take(session, fence.node).await,
            Self::ReturnWaiting { gone, new } => waiting::give_back(session, fence.node, gone, new).await.map(|()| 0),
            Self::AddWaiting(rooms) => waiting::add(session, rooms).await.map(|()| 0),
            Self::PutPlayer(player) => players::put(session, player).await,
            Self::Account(both) => players::change_account(session, &both.0, &both.1).await,
            Self::RemovePlayer(player) => players::remove(session, *player).await.map(|()| 0),
            Self::RemoveIdle(player, seen) => players::remove_idle(session, *player, *seen).await,
            Self::RecordSeen(seen) => players::record_seen(session, seen).await.map(|()| 0),
            Self::PutBan(ban, now) => players::put_ban(session, ban, *now).await.map(|()| 0),
            Self::ReservePlace(place) => members::reserve(session, place).await,
            Self::ReleasePlace(number) => members::release(session, *number).await.map(|()| 0),
            Self::Restore(restored) => transfer::restore(session, fence, restored).await.map(|()| 0),
            Self::SetUnfinished(is_unfinished) => schema::set_unfinished(session, *is_unfinished).await.map(|()| 0),
        }
    }
}
