//! What an AI reports about its search.

use crate::rules::Square;

/// What an AI thought when it chose a move, for those who watch. The players of the game see nothing of it while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thought {
    /// By how many hundredths of a disc black is expected to be ahead at the end; none where the AI does not count in discs.
    pub evaluation: Option<i16>,
    /// Plies looked ahead.
    pub depth: u8,
    /// Positions visited or games played out.
    pub nodes: u64,
    /// The principal variation: the move, and what is expected to follow it, passes left out. At most [`Thought::LINE`].
    pub line: Box<[Square]>,
}

impl Thought {
    /// More than this nobody reads, and a room is to stay small.
    pub const LINE: usize = 12;
}
