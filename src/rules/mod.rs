//! The rules layer.
