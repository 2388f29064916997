//! The messages of the links: `From` writes them, and `read` reads any bytes of another node without panic.

pub(super) mod ask;
mod error;
mod feed;
mod list;
mod notice;
mod reply;
#[cfg(test)]
mod tests;

use crate::{
    proto::cluster,
    room::{GameId, JoinCode, PlayerId, RoomId, Seq, stored::StoredError},
    rules::Square,
    runtime::{Assignment, NodeId, Shard},
};

/// The highest sequence number accepted, far below overflow.
const LAST_SEQ: u64 = 1 << 62;

fn required<T>(value: Option<T>, what: &'static str) -> Result<T, StoredError> {
    value.ok_or(StoredError::Malformed(what))
}

fn narrow<T: TryFrom<u32>>(number: u32, what: &'static str) -> Result<T, StoredError> {
    required(T::try_from(number).ok(), what)
}

fn read_player(bits: u64) -> Result<PlayerId, StoredError> {
    required(PlayerId::from_bits(bits), "player")
}

fn read_room(bits: u64) -> Result<RoomId, StoredError> {
    required(RoomId::from_bits(bits), "room")
}

fn read_code(bits: u64) -> Result<JoinCode, StoredError> {
    required(JoinCode::from_bits(bits), "join code")
}

fn read_seq(number: u64) -> Result<Seq, StoredError> {
    required((number <= LAST_SEQ).then_some(Seq(number)), "sequence number")
}

fn read_square(index: u32) -> Result<Square, StoredError> {
    required(Square::new(narrow(index, "square")?), "square")
}

impl From<GameId> for cluster::GameId {
    fn from(game: GameId) -> Self {
        Self { room: game.room.bits(), number: game.number }
    }
}

impl cluster::GameId {
    fn read(self) -> Result<GameId, StoredError> {
        Ok(GameId { room: read_room(self.room)?, number: self.number })
    }
}

impl From<Assignment> for cluster::Ownership {
    fn from(Assignment { shard, node, version }: Assignment) -> Self {
        Self { shard: shard.number().into(), node: node.0, version }
    }
}

impl From<Option<Assignment>> for cluster::Elsewhere {
    fn from(known: Option<Assignment>) -> Self {
        Self { known: known.map(Into::into) }
    }
}

impl cluster::Ownership {
    fn read(self) -> Result<Assignment, StoredError> {
        let shard = required(Shard::new(narrow(self.shard, "shard")?), "shard")?;
        Ok(Assignment { shard, node: NodeId(self.node), version: self.version })
    }
}

impl cluster::Elsewhere {
    fn read(self) -> Result<Option<Assignment>, StoredError> {
        self.known.map(cluster::Ownership::read).transpose()
    }
}
