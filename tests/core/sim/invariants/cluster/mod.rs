//! The invariants of clusters only.

mod absences;
mod codes;
mod credited_once;
mod executed_once;
mod held;
mod matched;
mod one_writer;
mod watchers_catch_up;

use super::Check;

/// All of them with their names.
pub(crate) const ALL: [(&str, Check); 8] = [
    ("absences", absences::check),
    ("codes", codes::check),
    ("credited_once", credited_once::check),
    ("executed_once", executed_once::check),
    ("held", held::check),
    ("matched", matched::check),
    ("one_writer", one_writer::check),
    ("watchers_catch_up", watchers_catch_up::check),
];
