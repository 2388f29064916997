//! One room as a pure value: properties on random histories, scenarios, and its stored form.
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod exercise;
mod fixtures;
mod ggf;
mod properties;
mod scenarios;
mod stored_form;
mod stored_samples;
