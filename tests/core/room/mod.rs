//! One room as a pure value: laws on random histories, stories, and its stored form.

mod apply;
mod exercise;
mod ggf;
mod laws;
pub(crate) mod script;
mod stored_form;
mod stored_samples;
mod stories;
pub(crate) mod test_room;
pub(crate) mod trace;
