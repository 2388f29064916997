//! The room layer.
