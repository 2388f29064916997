//! The protocols of engines.

use std::fmt;

use super::{
    error::EngineFault,
    process::{EngineProcess, Wait},
    time::MoveTime,
};
use crate::rules::{Square, Transcript};

/// The protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Protocol {
    /// Version 2 of NBoard's.
    Nboard,
    /// The Go Text Protocol.
    Gtp,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nboard => "the NBoard protocol",
            Self::Gtp => "GTP",
        })
    }
}

/// A protocol, with its state in one program.
pub(super) trait ProtocolClient: fmt::Debug + Send {
    /// Checks that the program answers in the protocol.
    fn handshake(&mut self, process: &EngineProcess, wait: Wait<'_>) -> Result<(), EngineFault>;

    /// The engine's move in the last position of `game`.
    fn choose(
        &mut self,
        process: &EngineProcess,
        game: &Transcript,
        time: MoveTime,
        wait: Wait<'_>,
    ) -> Result<Square, EngineFault>;
}
