//! The search layer.
