//! Rooms, events, scores and analyses as lines of text. Nothing here reads input.

pub(super) mod analysis;
pub(super) mod date;
pub(super) mod duration;
pub(super) mod host_event;
pub(super) mod json;
pub(super) mod number_error;
pub(super) mod printable;
pub(super) mod room_event;
pub(super) mod series_score;
pub(super) mod table;
pub(super) mod tournament;
