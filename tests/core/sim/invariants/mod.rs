//! The invariants of all simulations, one per file. Each checks a finished simulation and reports the first violation.

mod acknowledged;
mod archive;
mod clocks;
pub(crate) mod cluster;
mod credits;
mod durable;
mod failures;
mod final_state;
mod folded;
mod game_ends;
mod legal_moves;
mod moves_answered;
mod quotas;
mod recovered;
mod request_ids;
mod stored_form;
mod streams_end;
mod tokens;
mod turn_requests;
mod watch_order;

use crate::sim::recorded_history::RecordedHistory;

pub(crate) type CheckResult = Result<(), String>;

pub(crate) type Check = fn(&RecordedHistory) -> CheckResult;

/// All invariants with their names.
pub(crate) const ALL: [(&str, Check); 20] = [
    ("acknowledged", acknowledged::check),
    ("archive", archive::check),
    ("clocks", clocks::check),
    ("credits", credits::check),
    ("watch_order", watch_order::check),
    ("durable", durable::check),
    ("failures", failures::check),
    ("folded", folded::check),
    ("game_ends", game_ends::check),
    ("legal_moves", legal_moves::check),
    ("moves_answered", moves_answered::check),
    ("quotas", quotas::check),
    ("recovered", recovered::check),
    ("refusals", legal_moves::check_refusals),
    ("request_ids", request_ids::check),
    ("final_state", final_state::check),
    ("stored_form", stored_form::check),
    ("streams_end", streams_end::check),
    ("tokens", tokens::check),
    ("turn_requests", turn_requests::check),
];

/// An error with the text of `otherwise` unless the condition holds.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> CheckResult {
    if holds { Ok(()) } else { Err(otherwise()) }
}
