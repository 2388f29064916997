//! The invariants of all worlds, one a file. Each checks a finished world and reports the first violation.

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

/// All invariants with their names.
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

/// An error with the text of `otherwise` unless the condition holds.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}
