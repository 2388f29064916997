//! The ai layer.
