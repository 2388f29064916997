//! The opening explorer, and the ranking.

use super::{
    ClientError, GameRecord, Malformed, Page, Participant, ParticipantKind, Reader, Stats, analysis::position_to_wire,
    parse, player, record, settings::wire_count,
};
use crate::{
    rules::{Bitboard, Position},
    v1::{self, explore_position_request::Subject},
};

/// Which moves are counted; the default is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExplorerFilter {
    /// Only moves of this kind of participant.
    pub kind: Option<ParticipantKind>,
    /// Only moves of participants rated at least this, rounded down to a multiple of 50.
    pub min_rating: Option<u16>,
    /// Only moves of participants rated less than this, rounded up to a multiple of 50.
    pub max_rating: Option<u16>,
}

/// What was played in a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// The English name of the opening.
    pub opening: Option<String>,
    /// The moves that were played, the most frequent first.
    pub moves: Vec<ExploredMove>,
    /// The latest games with these moves, newest first.
    pub recent: Vec<GameRecord>,
    /// Those of the participants with the highest ratings.
    pub best: Vec<GameRecord>,
}

/// A move that was played, with the results of those who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploredMove {
    /// Several if they are equal by symmetry.
    pub squares: Bitboard,
    /// Games in which it was made.
    pub games: u32,
    /// Won by those who made it.
    pub won: u32,
    /// Drawn.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
    /// The average rating of those who had one before the game, to within 25.
    pub average_rating: Option<u32>,
    /// The English name of the opening after the move.
    pub opening: Option<String>,
}

/// A participant in the ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedParticipant {
    /// From 1.
    pub rank: u32,
    /// The player or AI.
    pub participant: Participant,
    /// The results and the rating.
    pub stats: Stats,
}

impl TryFrom<v1::ExploredMove> for ExploredMove {
    type Error = Malformed;

    fn try_from(wire: v1::ExploredMove) -> Result<Self, Malformed> {
        let count = |number| parse::count(number, "games");
        Ok(Self {
            squares: parse::squares(&wire.squares, "squares")?,
            games: count(wire.games)?,
            won: count(wire.won)?,
            drawn: count(wire.drawn)?,
            lost: count(wire.lost)?,
            average_rating: player::rating(wire.average_rating)?,
            opening: record::opening(wire.opening)?,
        })
    }
}

impl TryFrom<v1::RankedParticipant> for RankedParticipant {
    type Error = Malformed;

    fn try_from(wire: v1::RankedParticipant) -> Result<Self, Malformed> {
        Ok(Self {
            rank: parse::count(wire.rank, "rank")?,
            participant: parse::required(wire.participant, "participant")?.try_into()?,
            stats: wire.stats.unwrap_or_default().try_into()?,
        })
    }
}

impl Reader {
    /// What was played in a position in the server's public games. Refused with `GAME_OVER`, and with `WRONG_PHASE`
    /// while the player plays a rated game.
    pub async fn explore(&self, position: Position, filter: ExplorerFilter) -> Result<Exploration, ClientError> {
        let request = v1::ExplorePositionRequest {
            subject: Some(Subject::Position(position_to_wire(position))),
            kind: filter.kind.unwrap_or_default().into(),
            min_rating: filter.min_rating.unwrap_or_default().into(),
            max_rating: filter.max_rating.unwrap_or_default().into(),
        };
        let answer = self.records().explore_position(request).await?.into_inner();
        Ok(Exploration {
            opening: record::opening(answer.opening)?,
            moves: parse::all(answer.moves)?,
            recent: parse::all(answer.recent)?,
            best: parse::all(answer.best)?,
        })
    }

    /// A page of the participants with a rating, the highest first; `page` is [`Page::next`] of the last page.
    /// Provisional ratings are left out unless `provisional`. Refused with `BAD_PAGE_TOKEN`.
    pub async fn ratings(
        &self,
        kind: Option<ParticipantKind>,
        provisional: bool,
        page_size: u32,
        page: Option<String>,
    ) -> Result<Page<RankedParticipant>, ClientError> {
        let request = v1::ListRatingsRequest {
            kind: kind.unwrap_or_default().into(),
            provisional,
            page_size: wire_count(page_size),
            page_token: page.unwrap_or_default(),
        };
        let answer = self.records().list_ratings(request).await?.into_inner();
        Ok(Page::new(parse::all(answer.participants)?, answer.next_page_token))
    }
}
