//! The meetings of a tournament: each is one series of games in one room, or a bye.

use reversi_engine::match_statistics::Score;
use reversi_room::{ChatText, PlayerId, RoomId, Timestamp};

use super::{
    entrant::{EntrantId, Fault},
    points::HalfPoints,
};

/// The part of a tournament to which a meeting belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The format's own rounds.
    Main,
    /// The play-off after them.
    Playoff,
}

/// A meeting as it is paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Its number in the tournament, from 1, without gaps.
    pub number: u32,
    /// The side that has black in the first game.
    pub first: EntrantId,
    /// The other side; `None` for a bye.
    pub second: Option<EntrantId>,
    /// The room in which it is played; unused for a bye.
    pub room: RoomId,
    /// The seed of its openings.
    pub opening: u64,
}

/// The sides that forfeit a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Forfeiter {
    /// The first side.
    First,
    /// The second side.
    Second,
    /// Both.
    Both,
}

/// How a meeting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was played. If a side did not stay to the end, or its illegal moves ended the series, the other one has the
    /// points of the missing games.
    Played {
        /// The results of the games, for the first side.
        score: Score,
        /// The sums of the discs of both sides.
        discs: [u32; 2],
        /// The last fault of each side.
        faults: [Option<Fault>; 2],
    },
    /// It was not played, as a side did not come or has left; the other one has all points.
    Forfeit {
        /// Who gets nothing.
        by: Forfeiter,
        /// Whether that counts as a fault.
        fault: bool,
    },
    /// It gives no points, as after a fault of the server.
    Void,
}

/// A meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Who meets whom, and where.
    pub pairing: Pairing,
    /// The part of the tournament.
    pub stage: Stage,
    /// The round in that part, from 1.
    pub round: u32,
    /// When it was paired.
    pub paired: Timestamp,
    /// Since when its room is wanted; `None` before that, and for a bye.
    pub opened: Option<Timestamp>,
    /// Which of its sides have been there since then.
    pub appeared: [bool; 2],
    /// How it ended; `None` until then, and for a bye.
    pub outcome: Option<Outcome>,
    /// When it first had an outcome.
    pub finished: Option<Timestamp>,
    /// The decision of the organiser, if that set the outcome.
    pub adjudication: Option<Adjudication>,
}

/// A decision of the organiser about a meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjudication {
    /// Who decided; `None` for an administrator.
    pub by: Option<PlayerId>,
    /// Why.
    pub why: ChatText,
}

impl Meeting {
    /// Whether its points are known.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.outcome.is_some() || self.pairing.second.is_none()
    }

    /// The side of an entrant: 0 for the first, 1 for the second.
    #[must_use]
    pub fn side_of(&self, entrant: EntrantId) -> Option<usize> {
        self.sides().position(|side| side == entrant)
    }

    /// The one or two entrants.
    pub fn sides(&self) -> impl Iterator<Item = EntrantId> {
        std::iter::once(self.pairing.first).chain(self.pairing.second)
    }

    /// The results of the games that were played, for the first side.
    #[must_use]
    pub fn score(&self) -> Option<Score> {
        match self.outcome {
            Some(Outcome::Played { score, .. }) => Some(score),
            Some(Outcome::Forfeit { .. } | Outcome::Void) | None => None,
        }
    }

    /// The points of both sides in a meeting of `games` games. A bye gives all of them, as does a forfeit of the
    /// other side.
    #[must_use]
    pub fn points(&self, games: u32) -> [HalfPoints; 2] {
        let (none, all) = (HalfPoints::default(), HalfPoints::of_wins(games));
        match self.outcome {
            None if self.pairing.second.is_none() => [all, none],
            None | Some(Outcome::Void) => [none, none],
            Some(Outcome::Forfeit { by, .. }) => match by {
                Forfeiter::First => [none, all],
                Forfeiter::Second => [all, none],
                Forfeiter::Both => [none, none],
            },
            Some(Outcome::Played { score, faults, .. }) => {
                let missing = games.saturating_sub(score.games());
                let given = match faults.map(|fault| matches!(fault, Some(Fault::Absence | Fault::IllegalMoves))) {
                    [true, false] => [0, missing],
                    [false, true] => [missing, 0],
                    [true, true] | [false, false] => [0, 0],
                };
                [(score.wins, given[0]), (score.losses, given[1])].map(|(wins, given)| {
                    HalfPoints(HalfPoints::of_wins(wins.saturating_add(given)).0.saturating_add(score.draws))
                })
            }
        }
    }
}

impl Outcome {
    /// The side that did not come, or both.
    pub(crate) fn absence(appeared: [bool; 2]) -> Option<Self> {
        let by = match appeared {
            [true, true] => return None,
            [false, true] => Forfeiter::First,
            [true, false] => Forfeiter::Second,
            [false, false] => Forfeiter::Both,
        };
        Some(Self::Forfeit { by, fault: true })
    }

    /// The fault of each side for its conduct; `None` for a side that did not play, without a fault of its own.
    pub(crate) fn conduct(&self) -> [Option<Option<Fault>>; 2] {
        let absent = Some(Some(Fault::Absence));
        match self {
            Self::Played { faults, .. } => faults.map(Some),
            Self::Forfeit { by: Forfeiter::First, fault: true } => [absent, None],
            Self::Forfeit { by: Forfeiter::Second, fault: true } => [None, absent],
            Self::Forfeit { by: Forfeiter::Both, fault: true } => [absent, absent],
            Self::Forfeit { fault: false, .. } | Self::Void => [None, None],
        }
    }
}
