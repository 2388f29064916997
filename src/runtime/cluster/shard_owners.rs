//! Which node owns which rooms, as far as this node knows.

use crate::store::{Ownership, Shard};

/// The owner of each shard, as far as it is known.
pub(crate) struct ShardOwners(Box<[Option<Ownership>]>);

impl Default for ShardOwners {
    fn default() -> Self {
        Self(vec![None; Shard::COUNT.into()].into())
    }
}

impl ShardOwners {
    pub(crate) fn get(&self, shard: Shard) -> Option<Ownership> {
        self.0[usize::from(shard.number())]
    }

    /// Records an owner, unless a newer one is known. Returns whether it is new.
    pub(crate) fn learn(&mut self, new: Ownership) -> bool {
        let known = &mut self.0[usize::from(new.shard.number())];
        let is_newer = known.is_none_or(|known| known.version < new.version);
        if is_newer {
            *known = Some(new);
        }
        is_newer
    }

    /// One of the owned shards that are `wanted`, chosen by `random`. `None` if there is none.
    pub(crate) fn any_shard(&self, random: u64, wanted: impl Fn(&Ownership) -> bool) -> Option<Shard> {
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
    fn of_two_owners_the_one_with_the_higher_version_counts() {
        let [shard, other] = [7, 9].map(|number| Shard::new(number).unwrap());
        let owned = |node, version| Ownership { shard, node: NodeId(node), version };
        let mut owners = ShardOwners::default();
        assert!(owners.learn(owned(1, 1)) && owners.learn(owned(2, 3)));
        assert!(!owners.learn(owned(1, 2)) && !owners.learn(owned(3, 3)));
        assert_eq!((owners.get(shard), owners.get(other)), (Some(owned(2, 3)), None));
        assert_eq!(owners.any_shard(5, |_| true), Some(shard));
        assert_eq!(owners.any_shard(5, |owned| owned.node == NodeId(1)), None);
    }
}
