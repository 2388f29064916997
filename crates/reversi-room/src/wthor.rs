//! Reader of the WTHOR database of the French federation: games (`.wtb` files) and names (`.jou` and `.trn` files).
//!
//! ```text
//!   header, 16 bytes:  century year month day   games (4)   names (2)   year of play (2)   size   type   depth   -
//!   game, 68 bytes:    tournament (2)   black (2)   white (2)   black's discs   theoretical ones   60 moves
//! ```
//!
//! Numbers are little-endian. Input is untrusted: lengths are checked, and moves are replayed by the rules.

use reversi_engine::rules::{ReadTranscriptError, Square, Transcript};
use thiserror::Error;

const HEADER: usize = 16;
const GAME: usize = 68;
const MOVES: usize = 60;
/// Bytes of a game before its moves.
const BEFORE_MOVES: usize = GAME - MOVES;

/// Maximum size of a file in bytes; all games of 40 years take a tenth of it.
pub const MAX_FILE: usize = 128 << 20;

/// Width of a player's name in bytes.
pub const PLAYER: usize = 20;

/// Width of a tournament's name in bytes.
pub const TOURNAMENT: usize = 26;

/// A file of games.
#[derive(Clone, Copy, Debug)]
pub struct WthorFile<'a> {
    /// The year in which the games were played.
    pub year: u16,
    /// Number of games according to the header.
    pub count: u32,
    games: &'a [u8],
}

/// A game as written. Players and tournaments are indices into the files of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WthorGame {
    /// Index of the tournament.
    pub tournament: u16,
    /// Index of the black player.
    pub black: u16,
    /// Index of the white player.
    pub white: u16,
    /// Black's final score of 64, empty squares counted for the winner.
    pub black_discs: u8,
    /// The moves.
    pub transcript: Transcript,
}

/// Why a file, or a game in it, cannot be read.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum WthorError {
    /// The file is too long.
    #[error("a file of games is at most {MAX_FILE} bytes")]
    TooLong,
    /// The file is shorter than a header.
    #[error("the file has no header of {HEADER} bytes")]
    Header,
    /// The header is not that of a file of games on 8x8 squares.
    #[error("not a file of games on 8x8 squares")]
    OtherGame,
    /// The file ends before this game, counted from 1.
    #[error("the file ends before game {0}")]
    Cut(u32),
    /// A byte of the moves is not a square.
    #[error("move {number} is {byte}, which is not a square")]
    Move {
        /// Number of the move, from 1.
        number: usize,
        /// The byte.
        byte: u8,
    },
    /// A move is illegal.
    #[error("{0}")]
    Transcript(ReadTranscriptError),
}

impl<'a> WthorFile<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`WthorError`] unless it is the header of a file of games.
    pub fn read(bytes: &'a [u8]) -> Result<Self, WthorError> {
        if bytes.len() > MAX_FILE {
            return Err(WthorError::TooLong);
        }
        let (header, games) = bytes.split_first_chunk::<HEADER>().ok_or(WthorError::Header)?;
        let &[_, _, month, day, a, b, c, d, _, _, year, century, size, kind, _, _] = header;
        let dated = month <= 12 && day <= 31;
        if !dated || !matches!(size, 0 | 8) || kind != 0 {
            return Err(WthorError::OtherGame);
        }
        let count = u32::try_from(i32::from_le_bytes([a, b, c, d])).map_err(|_| WthorError::OtherGame)?;
        Ok(Self { year: u16::from_le_bytes([year, century]), count, games })
    }

    /// The games in order, each with its offset in bytes. An unreadable game does not end the iteration.
    pub fn games(self) -> impl Iterator<Item = (usize, Result<WthorGame, WthorError>)> + 'a {
        let whole = self.games.chunks_exact(GAME).take(self.count as usize);
        let found = u32::try_from(whole.len()).unwrap_or(u32::MAX);
        let cut = (found < self.count).then(|| Err(WthorError::Cut(found + 1)));
        let games = whole.map(game).chain(cut);
        games.enumerate().map(|(index, game)| (HEADER + index * GAME, game))
    }
}

fn game(bytes: &[u8]) -> Result<WthorGame, WthorError> {
    let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let played = bytes[BEFORE_MOVES..].iter().take_while(|&&byte| byte != 0).enumerate();
    let squares = played.map(|(index, &byte)| square(byte).ok_or(WthorError::Move { number: index + 1, byte }));
    let squares: Vec<Square> = squares.collect::<Result<_, _>>()?;
    Ok(WthorGame {
        tournament: number(0),
        black: number(2),
        white: number(4),
        black_discs: bytes[6],
        transcript: Transcript::from_squares(squares).map_err(WthorError::Transcript)?,
    })
}

/// Ten times the row and the column, both from 1.
fn square(byte: u8) -> Option<Square> {
    Square::at((byte % 10).checked_sub(1)?, (byte / 10).checked_sub(1)?)
}

/// The names of a `.jou` or `.trn` file: `width` bytes each, zero-terminated, in ISO 8859-1.
#[must_use]
pub fn names(bytes: &[u8], width: usize) -> Vec<String> {
    let names = bytes.get(HEADER..).unwrap_or_default().chunks_exact(width.max(1));
    let text = |name: &[u8]| name.iter().take_while(|&&byte| byte != 0).map(|&byte| char::from(byte)).collect();
    names.map(text).take(usize::from(u16::MAX) + 1).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file whose header announces `count` games, with these games.
    fn file(count: i32, games: &[[u8; GAME]]) -> Vec<u8> {
        let mut bytes = vec![20, 26, 1, 2];
        bytes.extend(count.to_le_bytes());
        bytes.extend([0, 0, 0xCE, 0x07, 8, 0, 22, 0]);
        bytes.extend(games.concat());
        bytes
    }

    fn written(moves: &[u8]) -> [u8; GAME] {
        let mut bytes = [0; GAME];
        bytes[..8].copy_from_slice(&[3, 0, 1, 1, 2, 0, 40, 38]);
        bytes[8..8 + moves.len()].copy_from_slice(moves);
        bytes
    }

    #[test]
    fn games_are_read() {
        let bytes = file(2, &[written(&[56, 64, 33]), written(&[])]);
        let file = WthorFile::read(&bytes).unwrap();
        assert_eq!((file.year, file.count), (1998, 2));
        let games: Vec<_> = file.games().collect();
        let (place, game) = &games[0];
        let game = game.clone().unwrap();
        assert_eq!((*place, game.transcript.to_string().as_str()), (16, "f5d6c3"));
        assert_eq!((game.tournament, game.black, game.white, game.black_discs), (3, 257, 2, 40));
        assert_eq!(games[1].0, 16 + 68);
        assert!(games[1].1.clone().unwrap().transcript.squares().is_empty());
    }

    #[test]
    fn an_invalid_game_does_not_affect_the_next() {
        let bytes = file(5, &[written(&[56, 99]), written(&[56, 11]), written(&[11]), written(&[56])]);
        let outcomes: Vec<String> = WthorFile::read(&bytes)
            .unwrap()
            .games()
            .map(|(_, game)| game.map_or_else(|error| error.to_string(), |game| game.transcript.to_string()))
            .collect();
        assert_eq!(
            outcomes,
            [
                "move 2 is 99, which is not a square",
                "move 2 is illegal: white may not move to a1",
                "move 1 is illegal: black may not move to a1",
                "f5",
                "the file ends before game 5"
            ]
        );
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |bytes: &[u8]| WthorFile::read(bytes).unwrap_err();
        assert_eq!(refused(b"(;GM[Othello]"), WthorError::Header);
        assert_eq!(refused(b"(;GM[Othello]PC[here]"), WthorError::OtherGame);
        assert_eq!(refused(&file(-1, &[])), WthorError::OtherGame);
        let mut larger = file(0, &[]);
        larger[12] = 10;
        assert_eq!(refused(&larger), WthorError::OtherGame);
    }

    #[test]
    fn names_are_read() {
        let mut bytes = vec![0; HEADER];
        bytes.extend(b"Caf\xe9\0jun");
        bytes.extend(b"Tamenori");
        bytes.extend(b"cut");
        assert_eq!(names(&bytes, 8), ["Café", "Tamenori"]);
        assert_eq!(names(b"short", 8), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(count: i32, games in prop::collection::vec(any::<u8>(), 0..400), moves in prop::collection::vec(0_u8..90, 0..60)) {
            let mut bytes = file(count, &[written(&moves)]);
            bytes.extend(&games);
            for bytes in [&bytes[..], &games[..]] {
                if let Ok(file) = WthorFile::read(bytes) {
                    prop_assert!(file.games().count() <= games.len() / GAME + 2);
                }
                let _ = names(bytes, 20);
            }
        }
    }
}
