//! Nodes, and the shards of rooms that they own.

use std::fmt;

use reversi_room::RoomId;

/// The id of a node of a cluster, from 1, never used again. A process that was declared dead goes on with a new id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub i64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A part of all rooms that one node serves: the rooms with the same highest 12 bits of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

/// The bits of a room's id below its shard.
const ROOM_BITS: u32 = 48;

impl Shard {
    /// The number of shards.
    pub const COUNT: u16 = 1 << 12;

    /// The shard of a room.
    #[must_use]
    pub fn of(room: RoomId) -> Self {
        Self(u16::try_from(room.bits() >> ROOM_BITS).unwrap_or(u16::MAX))
    }

    /// The shard with this number; none from [`Shard::COUNT`] on.
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        (number < Self::COUNT).then_some(Self(number))
    }

    /// All shards.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The number, below [`Shard::COUNT`].
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }

    /// The id of a room of this shard, with the low 48 bits of `random`.
    #[must_use]
    pub fn room(self, random: u64) -> RoomId {
        RoomId::from_random(u64::from(self.0) << ROOM_BITS | random & ((1 << ROOM_BITS) - 1))
    }

    /// The last id before those of the shard, if there is one.
    #[must_use]
    pub fn before(self) -> Option<RoomId> {
        RoomId::from_bits((u64::from(self.0) << ROOM_BITS).checked_sub(1)?)
    }
}

/// The node to which a shard is assigned. Each new assignment has a higher version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The shard.
    pub shard: Shard,
    /// The node, which may have ended since.
    pub node: NodeId,
    /// From 1.
    pub version: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_rooms_of_a_shard_are_between_their_bounds(random: u64, number in 0..Shard::COUNT) {
            let shard = Shard::new(number).unwrap();
            let room = shard.room(random);
            prop_assert_eq!(Shard::of(room), shard);
            prop_assert!(shard.before().is_none_or(|before| before < room && Shard::of(before).0 + 1 == number));
            prop_assert!(Shard::new(number + 1).is_none_or(|next| next.before() >= Some(room)));
        }
    }

    #[test]
    fn a_number_beyond_the_last_is_no_shard() {
        assert!(Shard::new(Shard::COUNT).is_none());
    }
}
