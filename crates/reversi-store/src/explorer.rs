//! The opening explorer: the moves that were played in a position, by whom, and with what results.
//!
//! ```text
//!   a public game that counts ──▶ its first plies ──▶ (position, move, mover): results, the latest such games
//! ```

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use reversi_engine::rules::{Bitboard, Color, Position, Square, Symmetry};
use reversi_room::GameRecord;

use super::player_stats::{OpponentKind, Results};

/// The number of first moves of a game that are counted, without passes. Later positions are hardly ever reached twice.
const EXPLORED_PLIES: usize = 20;

/// Maximum games shown as recent, and as best.
const SHOWN_GAMES: usize = 5;

/// Maximum games stored for a position, a move and a mover.
pub(super) const REMEMBERED_GAMES: usize = 5;

/// Maximum games read for each list: some may have been removed.
const CANDIDATES: usize = 2 * SHOWN_GAMES;

/// Which moves are shown; a field that is `None` does not restrict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplorerFilter {
    /// Only moves of this kind of player.
    pub kind: Option<OpponentKind>,
    /// Only moves of players rated at least this, rounded down to a multiple of 50.
    pub min_rating: Option<u16>,
    /// Only moves of players rated less than this, rounded up to a multiple of 50.
    pub max_rating: Option<u16>,
}

/// What was played in a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exploration {
    /// The moves that were played, most often first.
    pub moves: Vec<ExploredMove>,
    /// The latest games with some of these moves, newest first; at most 5.
    pub recent: Vec<Arc<GameRecord>>,
    /// Games with some of these moves of the players with the highest ratings, highest first; at most 5.
    pub best: Vec<Arc<GameRecord>>,
}

/// A move and its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExploredMove {
    /// The squares of the move: several if they are equal by symmetry.
    pub squares: Bitboard,
    /// The results of the players who made the move.
    pub results: Results,
    /// The average rating before the game of the players who had one, to within 25; none if none had.
    pub rating: Option<u16>,
}

/// The key of a position: the discs of the side to move, then those of the other, in the symmetric image with the
/// smallest bits. Positions that are equal by symmetry, or with exchanged colors, have the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PositionKey([u64; 2]);

/// The kind and the rating of the player who made a move, in one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Mover(pub(super) u8);

/// One move of a game, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CountedMove {
    pub(super) position: PositionKey,
    /// In the position's image; of the squares that are equal by symmetry, the smallest.
    pub(super) square: Square,
    pub(super) mover: Mover,
    /// One game: won, drawn or lost.
    pub(super) results: Results,
}

/// What is stored for a position, a move and a mover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MoveCount<G> {
    pub(super) square: Square,
    pub(super) mover: Mover,
    pub(super) results: Results,
    /// The latest such games, at most [`REMEMBERED_GAMES`]; some may have been removed. Later games compare greater.
    pub(super) latest: Vec<G>,
}

impl PositionKey {
    /// The key, and the symmetries that lead to its image.
    pub(super) fn of(position: Position) -> (Self, Vec<Symmetry>) {
        let board = position.board();
        let discs = [position.turn(), position.turn().opposite()].map(|side| board.discs(side));
        let image = |symmetry: Symmetry| discs.map(|discs| symmetry.bitboard(discs).0);
        let least = Symmetry::ALL.into_iter().map(image).min().unwrap_or_default();
        (Self(least), Symmetry::ALL.into_iter().filter(|symmetry| image(*symmetry) == least).collect())
    }

    /// The key as 16 bytes, each number in little-endian order.
    pub(super) fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (place, number) in bytes.chunks_mut(8).zip(self.0) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

/// The image of a move in the image of its position.
fn canonical_square(symmetries: &[Symmetry], square: Square) -> Option<Square> {
    symmetries.iter().map(|symmetry| symmetry.square(square)).min_by_key(|square| square.index())
}

impl Mover {
    /// The width of a step of ratings.
    const STEP: u16 = 50;

    /// Steps of ratings; the first is for players without one.
    const STEPS: u8 = 64;

    fn new(kind: OpponentKind, rating: Option<u16>) -> Self {
        let kind = match kind {
            OpponentKind::Human => 0,
            OpponentKind::Bot => 1,
            OpponentKind::Ai => 2,
        };
        Self(kind * Self::STEPS + rating.map_or(0, Self::step))
    }

    /// The step of a rating, from 1.
    fn step(rating: u16) -> u8 {
        u8::try_from(1 + rating / Self::STEP).map_or(Self::STEPS - 1, |step| step.min(Self::STEPS - 1))
    }

    fn kind(self) -> OpponentKind {
        match self.0 / Self::STEPS {
            0 => OpponentKind::Human,
            1 => OpponentKind::Bot,
            _ => OpponentKind::Ai,
        }
    }

    /// The middle of the step; none without a rating.
    fn rating(self) -> Option<u16> {
        let step = u16::from(self.0 % Self::STEPS);
        step.checked_sub(1).map(|step| step * Self::STEP + Self::STEP / 2)
    }

    fn matches(self, filter: &ExplorerFilter) -> bool {
        let step = self.0 % Self::STEPS;
        filter.kind.is_none_or(|kind| kind == self.kind())
            && filter.min_rating.is_none_or(|least| step >= Self::step(least))
            && filter.max_rating.is_none_or(|most| step > 0 && step < Self::step(most.saturating_add(Self::STEP - 1)))
    }
}

/// The moves of a game that are counted: none of a private or aborted game, and none that the room's opening made.
pub(super) fn counted_moves(game: &GameRecord) -> Vec<CountedMove> {
    if game.private || !game.end.counts() {
        return Vec::new();
    }
    let movers = |side: Color| Mover::new(OpponentKind::from(&game.players[side]), game.ratings[side]);
    let mut position = Position::START;
    let (mut counted, mut discs) = (Vec::new(), 0);
    for (ply, played) in game.plies.iter().enumerate() {
        let Some(square) = played.square else {
            position = position.pass_unchecked();
            continue;
        };
        if discs == EXPLORED_PLIES {
            break;
        }
        discs += 1;
        if ply >= usize::from(game.opening) {
            let (key, symmetries) = PositionKey::of(position);
            let mut results = Results::default();
            results.count(position.turn(), game.end.winner);
            let square = canonical_square(&symmetries, square);
            let mover = movers(position.turn());
            counted.extend(square.map(|square| CountedMove { position: key, square, mover, results }));
        }
        position = position.play_unchecked(square);
    }
    counted
}

/// The moves that were played in a position, by its stored counts, most often first.
pub(super) fn explored_moves<G>(
    position: Position,
    counts: &[MoveCount<G>],
    filter: &ExplorerFilter,
) -> Vec<ExploredMove> {
    let (_, symmetries) = PositionKey::of(position);
    let mut by_square: BTreeMap<u8, Bitboard> = BTreeMap::new();
    for square in position.legal_moves().iter() {
        if let Some(canonical) = canonical_square(&symmetries, square) {
            let squares = by_square.entry(canonical.index()).or_insert(Bitboard(0));
            squares.0 |= Bitboard::of(square).0;
        }
    }
    let of = |(index, squares): (u8, Bitboard)| {
        let (mut results, mut rated, mut sum) = (Results::default(), 0, 0);
        for count in counts.iter().filter(|count| count.square.index() == index && count.mover.matches(filter)) {
            results.add(count.results);
            if let Some(rating) = count.mover.rating() {
                rated += u64::from(count.results.played());
                sum += u64::from(rating) * u64::from(count.results.played());
            }
        }
        let rating = sum.checked_div(rated).and_then(|rating| u16::try_from(rating).ok());
        ExploredMove { squares, results, rating }
    };
    let mut moves: Vec<_> = by_square.into_iter().map(of).filter(|explored| explored.results.played() > 0).collect();
    moves.sort_by_key(|explored| Reverse(explored.results.played()));
    moves
}

/// Reads the games that are shown: the recent ones, and those of the best players. A game that `read` does not find, or
/// that has not been through the position, is left out.
pub(super) fn shown_games<G: Copy + Ord, E>(
    position: Position,
    counts: &[MoveCount<G>],
    filter: &ExplorerFilter,
    mut read: impl FnMut(G) -> Result<Option<Arc<GameRecord>>, E>,
) -> Result<[Vec<Arc<GameRecord>>; 2], E> {
    let (key, _) = PositionKey::of(position);
    let counts = counts.iter().filter(|count| count.mover.matches(filter));
    let mut latest: Vec<_> =
        counts.flat_map(|count| count.latest.iter().map(|game| (*game, count.mover.rating()))).collect();
    latest.sort_by_key(|(game, _)| Reverse(*game));
    latest.dedup_by_key(|(game, _)| *game);
    let mut best: Vec<_> = latest.iter().filter(|(_, rating)| rating.is_some()).copied().collect();
    best.sort_by_key(|(_, rating)| Reverse(*rating));
    let mut shown = [Vec::new(), Vec::new()];
    for (shown, games) in shown.iter_mut().zip([latest, best]) {
        for (game, _) in games.into_iter().take(CANDIDATES) {
            let game = read(game)?;
            let passed = game.filter(|game| counted_moves(game).iter().any(|counted| counted.position == key));
            shown.extend(passed.filter(|_| shown.len() < SHOWN_GAMES));
        }
    }
    Ok(shown)
}
