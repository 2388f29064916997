//! Which node has which rooms, as far as this node knows.

use crate::store::{Assignment, Shard};

/// The node of each shard, as far as it is known.
pub(crate) struct ShardNodes(Box<[Option<Assignment>]>);

impl Default for ShardNodes {
    fn default() -> Self {
        Self(vec![None; Shard::COUNT.into()].into())
    }
}

impl ShardNodes {
    pub(crate) fn get(&self, shard: Shard) -> Option<Assignment> {
        self.0[usize::from(shard.number())]
    }

    /// Records an assignment, unless a newer one is known. Returns whether it is new.
    pub(crate) fn learn(&mut self, new: Assignment) -> bool {
        let known = &mut self.0[usize::from(new.shard.number())];
        let is_newer = known.is_none_or(|known| known.version < new.version);
        if is_newer {
            *known = Some(new);
        }
        is_newer
    }

    /// One of the owned shards that are `wanted`, chosen by `random`. `None` if there is none.
    pub(crate) fn any_shard(&self, random: u64, wanted: impl Fn(&Assignment) -> bool) -> Option<Shard> {
        let owned = || self.0.iter().flatten().filter(|owned| wanted(owned));
        let count = u64::try_from(owned().count()).ok()?;
        let index = random.checked_rem(count)?;
        owned().nth(usize::try_from(index).ok()?).map(|owned| owned.shard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NodeId;

    #[test]
    fn of_two_assignments_the_one_with_the_higher_version_counts() {
        let [shard, other] = [7, 9].map(|number| Shard::new(number).unwrap());
        let owned = |node, version| Assignment { shard, node: NodeId(node), version };
        let mut nodes = ShardNodes::default();
        assert!(nodes.learn(owned(1, 1)) && nodes.learn(owned(2, 3)));
        assert!(!nodes.learn(owned(1, 2)) && !nodes.learn(owned(3, 3)));
        assert_eq!((nodes.get(shard), nodes.get(other)), (Some(owned(2, 3)), None));
        assert_eq!(nodes.any_shard(5, |_| true), Some(shard));
        assert_eq!(nodes.any_shard(5, |owned| owned.node == NodeId(1)), None);
    }
}
