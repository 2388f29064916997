//! The server's random numbers. Only this file draws unseeded ones.
#![expect(clippy::disallowed_methods, reason = "only this file draws unseeded random numbers")]

use std::sync::{Arc, Mutex, PoisonError};

use rand::{Rng, RngExt as _};
use rand_pcg::Pcg64;

use crate::ai;

/// The source of ids and secrets.
#[derive(Clone, Debug, Default)]
pub struct RandomSource(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    /// The system's cryptographic generator.
    #[default]
    System,
    /// A seeded generator, for simulations.
    Seeded(Arc<Mutex<Pcg64>>),
}

impl RandomSource {
    /// A source that repeats for the same seed: for tests and simulations, never for a reachable server.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(Mutex::new(ai::seeded_rng(seed)))))
    }

    pub(crate) fn bits(&self) -> u64 {
        self.draw(|generator| generator.random())
    }

    pub(crate) fn secret(&self) -> [u8; 32] {
        self.draw(|generator| generator.random())
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut dyn Rng) -> T) -> T {
        match &self.0 {
            Source::System => draw(&mut rand::rng()),
            Source::Seeded(generator) => draw(&mut *generator.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
