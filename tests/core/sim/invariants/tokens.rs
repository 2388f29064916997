//! A token is valid from the answer to the log-in until a log-out is requested, across restarts. After an acknowledged
//! log-out it stays invalid.

use std::collections::BTreeSet;

use super::{Verdict, ensure};
use crate::sim::{
    evidence::Evidence,
    moment::{Deed, Moment, Outcome, What},
};

pub(super) fn check(evidence: &Evidence) -> Verdict {
    let (mut holds, mut gave_up, mut out) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for Moment { what, .. } in &evidence.moments {
        match what {
            What::Answered { call, outcome: Outcome::In(_) } => {
                let who = evidence.call(*call).0;
                holds.insert(who);
                gave_up.remove(&who);
                out.remove(&who);
            }
            What::Asked { who, deed: Deed::LogOut, .. } => {
                gave_up.insert(*who);
            }
            What::Answered { call, outcome: Outcome::Out } => {
                out.insert(evidence.call(*call).0);
            }
            What::Returned { who, good: false } => {
                let expected = !holds.contains(who) || gave_up.contains(who) || evidence.forgetful;
                ensure(expected, || format!("the token of p{who} is lost"))?;
            }
            What::Returned { who, good: true } => {
                ensure(!out.contains(who), || format!("p{who} has logged out, and is let in"))?;
            }
            _ => {}
        }
    }
    Ok(())
}
