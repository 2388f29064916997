//! The command line's only source of randomness.
#![expect(clippy::disallowed_methods, reason = "seeds that no option gave have to come from somewhere")]

/// Random bits for generated names, arbitrary sides and seeds.
pub(super) fn random() -> u64 {
    rand::random()
}
