//! Search reports of AI seats.

use reversi_engine::rules::Square;

/// An AI's report on the search for a move. Hidden from the players of the game while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thought {
    /// Expected final disc difference for black, in hundredths of a disc; `None` if the AI does not estimate it.
    pub evaluation: Option<i16>,
    /// Search depth in plies.
    pub depth: u8,
    /// Positions visited, or playouts.
    pub nodes: u64,
    /// The principal variation, from the move itself, without passes. At most [`Thought::LINE`] moves.
    pub line: Box<[Square]>,
    /// Whether the search ended before its level was reached, or no search was made in time.
    pub cut_short: bool,
}

impl Thought {
    /// Maximum length of the principal variation.
    pub const LINE: usize = 12;
}
