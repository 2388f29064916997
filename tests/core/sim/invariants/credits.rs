//! Each room is credited for the downtime between two servers once for each start.

use std::collections::BTreeMap;

use reversi::room::Fact;

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Moment, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let (mut given, mut starts) = (BTreeMap::new(), 1);
    for Moment { what, .. } in &evidence.moments {
        match what {
            What::Began { .. } => {
                given.clear();
                starts = 1;
            }
            // A failed start is tried again.
            What::Started(false) => starts += 1,
            What::Wrote { room, events } => {
                let credits = events.iter().filter(|event| matches!(event.fact, Fact::ClockCredited { .. })).count();
                let given = given.entry(*room).or_insert(0);
                *given += credits;
                ensure(*given <= starts, || format!("{room} was given time back {given} times in {starts} starts"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
