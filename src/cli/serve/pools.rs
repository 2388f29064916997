//! The option `--pool`.

use std::str::FromStr;

use crate::{
    cli::{UsageError, connect::terms::TotalTime},
    room::{Opponents, TimeControl},
    runtime::Pool,
};

/// A pool, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PoolOption(Option<Pool>);

impl PoolOption {
    fn pool(&self) -> Option<Pool> {
        self.0.clone()
    }
}

/// The pools of these options. `none` is not for one beside others.
pub(super) fn pools(options: &[PoolOption]) -> Result<Vec<Pool>, UsageError> {
    let pools: Vec<_> = options.iter().filter_map(PoolOption::pool).collect();
    if !pools.is_empty() && pools.len() < options.len() {
        return Err(UsageError("`--pool none` is for a server without pools, and another --pool is given".to_owned()));
    }
    Ok(pools)
}

impl FromStr for PoolOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let mut parts = text.split(':');
        let clock = parts.next().unwrap_or_default();
        let time: TotalTime = clock.parse()?;
        let mut pool = Pool {
            name: clock.to_owned(),
            time: TimeControl { per_move: None, total: Some(time.total), increment: time.increment },
            admits: Opponents { people: false, ..Opponents::default() },
            rated: true,
        };
        for part in parts {
            match part {
                "bots" => (pool.admits.people, pool.admits.bots) = (false, true),
                "people" => (pool.admits.people, pool.admits.bots) = (true, false),
                "all" => (pool.admits.people, pool.admits.bots) = (true, true),
                "rated" => pool.rated = true,
                "unrated" => pool.rated = false,
                other => return Err(format!("`{other}` is none of bots, people, all, rated and unrated")),
            }
        }
        Ok(Self(Some(pool)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_a_clock_and_who_may_join() {
        let pool = |text: &str| text.parse::<PoolOption>().map(|option| option.0);
        let Ok(Some(bots)) = pool("60+1") else { panic!("a pool") };
        assert_eq!((bots.admits.people, bots.admits.bots, bots.rated, bots.name.as_str()), (false, true, true, "60+1"));
        let Ok(Some(all)) = pool("180+2:all:unrated") else { panic!("a pool") };
        assert_eq!((all.admits.people, all.admits.bots, all.rated), (true, true, false));
        assert_eq!(pool("none"), Ok(None));
        let of = |texts: &[&str]| {
            pools(&texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>()).ok().map(|pools| pools.len())
        };
        assert_eq!((of(&["none"]), of(&["60+1", "180+2"]), of(&["none", "60+1"])), (Some(0), Some(2), None));
        assert!(pool("60+1:cats").unwrap_err().contains("`cats`") && pool("soon").is_err());
    }
}
