//! What holds in every world, one law a file. Each looks at a world that is over, and says what contradicts it.

mod acknowledged;
mod archive;
mod clocks;
mod credits;
mod dense;
mod durable;
mod ends;
mod legal;
mod quotas;
mod refusals;
mod rest;
mod stored;
mod tokens;
mod turns;

use crate::sim::evidence::Evidence;

pub(crate) type Verdict = Result<(), String>;

pub(crate) type Law = fn(&Evidence) -> Verdict;

/// Every law and its name.
pub(crate) const ALL: [(&str, Law); 14] = [
    ("acknowledged", acknowledged::check),
    ("archive", archive::check),
    ("clocks", clocks::check),
    ("credits", credits::check),
    ("dense", dense::check),
    ("durable", durable::check),
    ("ends", ends::check),
    ("legal", legal::check),
    ("quotas", quotas::check),
    ("refusals", refusals::check),
    ("rest", rest::check),
    ("stored", stored::check),
    ("tokens", tokens::check),
    ("turns", turns::check),
];

/// A verdict on one thing that must hold.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}
