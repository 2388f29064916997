//! A game as the list of its moves, `f5d6c3d3c4...`.
use std::fmt;
use std::str::FromStr;

use super::{Color, IllegalMove, Position, Square};

/// The legal moves of a game from the standard start. Passes are not stored: the rules force each of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transcript {
    squares: Vec<Square>,
    position: Position,
}

impl Transcript {
    /// The maximum text in bytes: far more than the longest game with every pass written and a line break after every
    /// token.
    pub const MAX_TEXT: usize = 1024;

    /// A game without moves.
    #[must_use]
    pub const fn new() -> Self {
        Self { squares: Vec::new(), position: Position::START }
    }

    /// The game of these moves.
    ///
    /// # Errors
    /// [`ReadTranscriptError::Move`] for the first illegal one.
    pub fn from_squares(squares: impl IntoIterator<Item = Square>) -> Result<Self, ReadTranscriptError> {
        let mut transcript = Self::new();
        for square in squares {
            transcript.push_numbered(square)?;
        }
        Ok(transcript)
    }

    /// The squares in the order of the moves.
    #[must_use]
    pub fn squares(&self) -> &[Square] {
        &self.squares
    }

    /// The position after the last move and a forced pass.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.position
    }

    /// The positions after each move and a forced pass, beginning with the start: one more than squares.
    pub fn positions(&self) -> impl Iterator<Item = Position> {
        let after = self.squares.iter().scan(Position::START, |position, &square| {
            *position = position.play_unchecked(square).after_forced_pass().0;
            Some(*position)
        });
        std::iter::once(Position::START).chain(after)
    }

    /// Adds a move of the side to move, and returns the side that must then pass, if any.
    ///
    /// # Errors
    /// [`IllegalMove`]; the transcript is unchanged.
    pub fn push(&mut self, square: Square) -> Result<Option<Color>, IllegalMove> {
        let (position, passed) = self.position.play(square)?.after_forced_pass();
        self.squares.push(square);
        self.position = position;
        Ok(passed)
    }

    fn push_numbered(&mut self, square: Square) -> Result<Option<Color>, ReadTranscriptError> {
        let number = self.next_number();
        self.push(square).map_err(|error| ReadTranscriptError::Move { number, error })
    }

    fn next_number(&self) -> usize {
        self.squares.len() + 1
    }
}

impl Default for Transcript {
    fn default() -> Self {
        Self::new()
    }
}

/// Lower case, joined, without passes.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.squares.iter().try_for_each(|square| write!(f, "{square}"))
    }
}

/// Reads moves in upper or lower case, joined or separated by white space. A forced pass may be written as `pass`,
/// `PA`, `--` or `@@`, or omitted.
impl FromStr for Transcript {
    type Err = ReadTranscriptError;

    fn from_str(text: &str) -> Result<Self, ReadTranscriptError> {
        if text.len() > Self::MAX_TEXT {
            return Err(ReadTranscriptError::TooLong);
        }
        let mut transcript = Self::new();
        let mut passed = None;
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let number = transcript.next_number();
            let (token, after) = Token::read(rest).ok_or(ReadTranscriptError::Text { number })?;
            match token {
                Token::Move(square) => passed = transcript.push_numbered(square)?,
                Token::Pass if passed.take().is_some() => {}
                Token::Pass => return Err(ReadTranscriptError::Pass { number }),
            }
            rest = after.trim_start();
        }
        Ok(transcript)
    }
}

/// The error of a text that is not a game. Moves are counted from 1; passes have no number of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadTranscriptError {
    /// The text is longer than [`Transcript::MAX_TEXT`] bytes.
    TooLong,
    /// There is neither a square nor a pass where this move is expected.
    Text {
        /// The number of the move.
        number: usize,
    },
    /// This move is illegal.
    Move {
        /// The number of the move.
        number: usize,
        /// The side and the square.
        error: IllegalMove,
    },
    /// A pass before this move is not forced.
    Pass {
        /// The number of the move.
        number: usize,
    },
}

impl fmt::Display for ReadTranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a game is at most {} characters", Transcript::MAX_TEXT),
            Self::Text { number } => write!(f, "move {number} is neither a square nor a pass"),
            Self::Move { number, error } => write!(f, "move {number} is illegal: {error}"),
            Self::Pass { number } => write!(f, "the pass before move {number} is not forced"),
        }
    }
}

impl std::error::Error for ReadTranscriptError {}

enum Token {
    Move(Square),
    Pass,
}

impl Token {
    /// The first token of `text` and the rest. Longer spellings of a pass are tried first: `pa` begins `pass`.
    fn read(text: &str) -> Option<(Self, &str)> {
        const PASSES: [&str; 4] = ["pass", "pa", "--", "@@"];
        for pass in PASSES {
            if let Some((head, rest)) = text.split_at_checked(pass.len())
                && head.eq_ignore_ascii_case(pass)
            {
                return Some((Self::Pass, rest));
            }
        }
        let (head, rest) = text.split_at_checked(2)?;
        Some((Self::Move(head.parse().ok()?), rest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The shortest game: black wipes white out with its fifth move.
    const SHORTEST: &str = "e6f4e3f6g5d6e7f5c5";

    /// A random game with at least two passes, and the numbers of the moves before them.
    fn passing_game() -> (Transcript, Vec<usize>) {
        (0..)
            .map(|seed| {
                let mut transcript = Transcript::new();
                let mut passes = Vec::new();
                let mut state: u64 = seed;
                while !transcript.position().is_over() {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let moves: Vec<_> = transcript.position().legal_moves().iter().collect();
                    let square = moves[(state >> 33) as usize % moves.len()];
                    if transcript.push(square).unwrap().is_some() {
                        passes.push(transcript.squares().len());
                    }
                }
                (transcript, passes)
            })
            .find(|(_, passes)| passes.len() >= 2)
            .unwrap()
    }

    #[test]
    fn text_round_trips_in_either_case() {
        let transcript: Transcript = "F5d6C3\nd3 c4".parse().unwrap();
        assert_eq!(transcript.to_string(), "f5d6c3d3c4");
        assert_eq!(transcript.squares().len(), 5);
        assert_eq!(transcript.positions().count(), 6);
        assert_eq!(transcript.positions().last(), Some(transcript.position()));
        assert_eq!("".parse(), Ok(Transcript::new()));
    }

    #[test]
    fn passes_may_be_written_in_any_spelling_or_left_out() {
        let (game, passes) = passing_game();
        assert_eq!(game.to_string().parse(), Ok(game.clone()));
        for spelling in ["pass", "PASS", "pa", "PA", "--", "@@", " Pass\n"] {
            let mut text = String::new();
            for (index, square) in game.squares().iter().enumerate() {
                text += &square.to_string();
                if passes.contains(&(index + 1)) {
                    text += spelling;
                }
            }
            assert_eq!(text.parse(), Ok(game.clone()), "{text}");
            assert!(!game.to_string().contains(spelling));
        }
    }

    #[test]
    fn a_pass_that_is_not_forced_is_refused() {
        assert_eq!("pa".parse::<Transcript>(), Err(ReadTranscriptError::Pass { number: 1 }));
        assert_eq!("f5--d6".parse::<Transcript>(), Err(ReadTranscriptError::Pass { number: 2 }));
        let (game, passes) = passing_game();
        let twice = Transcript::from_squares(game.squares()[..passes[0]].iter().copied()).unwrap();
        let number = passes[0] + 1;
        let text = format!("{twice}papa");
        assert_eq!(text.parse::<Transcript>(), Err(ReadTranscriptError::Pass { number }));
    }

    #[test]
    fn an_illegal_move_is_refused_with_its_number() {
        let error = "f5f6f5".parse::<Transcript>().unwrap_err();
        assert_eq!(error.to_string(), "move 3 is illegal: black may not move to f5");
    }

    #[test]
    fn nothing_follows_the_end_of_a_game() {
        let shortest: Transcript = SHORTEST.parse().unwrap();
        assert!(shortest.position().is_over());
        for more in ["a1", "d8", "pa"] {
            let error = format!("{SHORTEST}{more}").parse::<Transcript>().unwrap_err();
            assert!(error.to_string().contains("move 10"), "{error}");
        }
    }

    #[test]
    fn invalid_text_is_refused() {
        assert_eq!("f".parse::<Transcript>(), Err(ReadTranscriptError::Text { number: 1 }));
        assert_eq!("f5é".parse::<Transcript>(), Err(ReadTranscriptError::Text { number: 2 }));
        assert_eq!("f5\u{0}d6".parse::<Transcript>(), Err(ReadTranscriptError::Text { number: 2 }));
        let long = "f5".repeat(Transcript::MAX_TEXT);
        assert_eq!(long.parse::<Transcript>(), Err(ReadTranscriptError::TooLong));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "([a-h][1-8]|pa|--|[ -~é]){0,40}") {
            let _ = text.parse::<Transcript>();
        }
    }
}
