//! Rooms of other nodes, as far as this node watches them.

mod mirror;

pub(crate) use mirror::{catch_up, mirror};
