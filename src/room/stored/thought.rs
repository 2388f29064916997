//! Stored search reports of AI seats.

use super::{
    StoredError, checked,
    codec::{narrow, read_squares, squares},
};
use crate::room::thought::Thought;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StoredThought {
    #[prost(sint32, optional, tag = "1")]
    evaluation: Option<i32>,
    #[prost(uint32, tag = "2")]
    depth: u32,
    #[prost(uint64, tag = "3")]
    nodes: u64,
    /// A byte for each square.
    #[prost(bytes = "vec", tag = "4")]
    line: Vec<u8>,
}

impl From<&Thought> for StoredThought {
    fn from(thought: &Thought) -> Self {
        Self {
            evaluation: thought.evaluation.map(Into::into),
            depth: thought.depth.into(),
            nodes: thought.nodes,
            line: squares(&thought.line),
        }
    }
}

impl StoredThought {
    pub(super) fn read(self) -> Result<Thought, StoredError> {
        let short = self.line.len() <= Thought::LINE;
        let line = checked(self.line, short, "line of a thought")?;
        let evaluation = self.evaluation.map(i16::try_from).transpose();
        Ok(Thought {
            evaluation: evaluation.map_err(|_| StoredError::Malformed("evaluation"))?,
            depth: narrow(self.depth, "depth")?,
            nodes: self.nodes,
            line: read_squares(&line)?.into(),
        })
    }
}
