//! Nodes, and the shards of rooms and tournaments that they own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    iter::repeat_n,
};

use reversi_room::{RoomId, TournamentId};

/// The id of a node of a cluster, from 1, never used again. A process that was declared dead goes on with a new id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub i64);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A part of all rooms and tournaments that one node serves: those with the same highest 12 bits of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

/// The bits of an id below its shard.
const ID_BITS: u32 = 48;

impl Shard {
    /// The number of shards.
    pub const COUNT: u16 = 1 << 12;

    /// The shard of a room.
    #[must_use]
    pub fn of(room: RoomId) -> Self {
        Self::of_bits(room.bits())
    }

    /// The shard of a tournament.
    #[must_use]
    pub fn of_tournament(tournament: TournamentId) -> Self {
        Self::of_bits(tournament.bits())
    }

    fn of_bits(id: u64) -> Self {
        Self(u16::try_from(id >> ID_BITS).unwrap_or(u16::MAX))
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
        RoomId::from_random(self.id(random))
    }

    /// The id of a tournament of this shard, with the low 48 bits of `random`.
    #[must_use]
    pub fn tournament(self, random: u64) -> TournamentId {
        TournamentId::from_random(self.id(random))
    }

    fn id(self, random: u64) -> u64 {
        u64::from(self.0) << ID_BITS | random & ((1 << ID_BITS) - 1)
    }

    /// The last id before those of the shard, if there is one.
    #[must_use]
    pub fn before(self) -> Option<RoomId> {
        RoomId::from_bits((u64::from(self.0) << ID_BITS).checked_sub(1)?)
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

/// The number of shards that each of `takers` should have at most.
#[must_use]
pub fn share(takers: usize) -> usize {
    usize::from(Shard::COUNT).div_ceil(takers.max(1))
}

/// The shards that a node has beyond its share, and which of the `takers` are to have them: its latest ones in
/// `oldest_first`. When servers are restarted one after the other, each so gets back what it had, and a room moves twice.
/// A node that is not one of the takers has no share, but keeps its shards if there are no takers.
#[must_use]
pub fn surplus(me: NodeId, takers: &BTreeSet<NodeId>, oldest_first: &[Assignment]) -> BTreeMap<Shard, NodeId> {
    let share = share(takers.len());
    let of = |node| oldest_first.iter().filter(move |owned| owned.node == node).map(|owned| owned.shard);
    let others = takers.iter().filter(|node| **node != me);
    let places = others.flat_map(|node| repeat_n(*node, share.saturating_sub(of(*node).count())));
    of(me).skip(if takers.contains(&me) { share } else { 0 }).zip(places).collect()
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
            prop_assert_eq!(Shard::of_tournament(shard.tournament(random)), shard);
            prop_assert!(shard.before().is_none_or(|before| before < room && Shard::of(before).0 + 1 == number));
            prop_assert!(Shard::new(number + 1).is_none_or(|next| next.before() >= Some(room)));
        }
    }

    #[test]
    fn what_a_node_has_beyond_its_share_goes_to_those_that_have_less() {
        let [a, b, c] = [1, 2, 3].map(NodeId);
        // Of four shards the first two have b, the others a; the rest has c.
        let node = |number| {
            if number >= 4 * (4_096 / 12) {
                c
            } else if number % 4 < 2 {
                b
            } else {
                a
            }
        };
        let assignments: Vec<_> =
            Shard::all().map(|shard| Assignment { shard, node: node(shard.0), version: 1 }).collect();
        let has = |node| assignments.iter().filter(|owned| owned.node == node).count();
        let given = |me, takers: &[NodeId]| surplus(me, &takers.iter().copied().collect(), &assignments);
        let to = |given: &BTreeMap<_, _>, node| given.values().filter(|next| **next == node).count();

        let drained = given(c, &[a, b]);
        assert_eq!((drained.len(), to(&drained, a), to(&drained, b)), (has(c), 2_048 - has(a), 2_048 - has(b)));
        let balanced = given(c, &[a, b, c]);
        assert_eq!((balanced.len(), to(&balanced, c)), (has(c) - 1_366, 0));
        assert!(given(a, &[a, b, c]).is_empty(), "it has less than its share");
        assert!(given(c, &[]).is_empty(), "no other takes them");
    }

    #[test]
    fn a_shard_moves_twice_while_one_node_after_the_other_is_restarted() {
        let mut nodes = [1, 2, 3].map(NodeId);
        let mut oldest_first: Vec<_> =
            Shard::all().map(|shard| Assignment { shard, node: nodes[usize::from(shard.0 % 3)], version: 1 }).collect();
        let give = |oldest_first: &mut Vec<Assignment>, me, takers: &[NodeId]| {
            let given = surplus(me, &takers.iter().copied().collect(), oldest_first);
            let (mut moved, mut rest) = (Vec::new(), Vec::new());
            for mut owned in oldest_first.drain(..) {
                match given.get(&owned.shard) {
                    Some(next) => {
                        (owned.node, owned.version) = (*next, owned.version + 1);
                        moved.push(owned);
                    }
                    None => rest.push(owned),
                }
            }
            *oldest_first = [rest, moved].concat();
        };
        for restarted in 0..3 {
            let drained = nodes[restarted];
            let others: Vec<_> = nodes.into_iter().filter(|node| *node != drained).collect();
            give(&mut oldest_first, drained, &others);
            nodes[restarted] = NodeId(drained.0 + 3);
            others.iter().for_each(|node| give(&mut oldest_first, *node, &nodes));
        }
        // The shares of three nodes differ by one.
        let moved_more = oldest_first.iter().filter(|owned| owned.version > 3).count();
        assert!(moved_more <= 2, "{moved_more}");
    }

    #[test]
    fn a_number_beyond_the_last_is_no_shard() {
        assert!(Shard::new(Shard::COUNT).is_none());
    }
}
