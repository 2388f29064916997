//! One room as a pure value: properties on random histories, scenarios, and its stored form.

mod apply;
mod exercise;
mod ggf;
mod properties;
pub(crate) mod random_history;
mod scenarios;
pub(crate) mod script;
mod stored_form;
mod stored_samples;
pub(crate) mod test_room;
