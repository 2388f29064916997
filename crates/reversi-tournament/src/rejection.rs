//! Why a tournament rejects a command.

use reversi_room::SettingsError;
use thiserror::Error;

/// The reason for rejecting a command, which then changes nothing.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Rejection {
    /// Only the organiser may do this.
    #[error("only the organiser of the tournament may do this")]
    NotOrganiser,
    /// Only the server may do this.
    #[error("only the server may do this")]
    NotServer,
    /// Only the player itself may do this.
    #[error("players join by themselves")]
    NotYou,
    /// The entrant is not in the tournament.
    #[error("no such entrant in this tournament")]
    EntrantNotFound,
    /// The tournament has no meeting with this number.
    #[error("no such meeting")]
    MeetingNotFound,
    /// A meeting cannot have this outcome.
    #[error("a meeting has at most as many games as the settings say, and a bye has no other outcome")]
    BadOutcome,
    /// The tournament has its maximum number of entrants.
    #[error("the tournament is full")]
    TournamentFull,
    /// The tournament is for other players.
    #[error("the tournament does not admit players of this kind or with this rating")]
    NotAdmitted,
    /// The organiser has excluded this player.
    #[error("you are excluded from this tournament")]
    Excluded,
    /// The tournament has its maximum number of excluded players.
    #[error("the tournament has its maximum number of excluded players")]
    TooManyExcluded,
    /// The password is missing or wrong.
    #[error("wrong password")]
    BadPassword,
    /// The settings are out of bounds.
    #[error("bad settings: {0}")]
    BadSettings(SettingsError),
    /// It cannot start or go on with so few entrants.
    #[error("at least two entrants are needed, in a gauntlet a challenger and another")]
    TooFewEntrants,
    /// A Swiss tournament has more rounds than its entrants can play; holds the highest possible number of rounds.
    #[error(
        "for these entrants the number of rounds must be at most {0}: set it lower, enter more, or let an AI fill byes"
    )]
    TooManyRounds(u32),
    /// The tournament would have too many meetings; holds the maximum.
    #[error("a tournament has at most {0} meetings")]
    TooManyMeetings(u32),
    /// Only before the start.
    #[error("the tournament has started")]
    AlreadyStarted,
    /// Only after the start.
    #[error("the tournament has not started")]
    NotStarted,
    /// The tournament is over.
    #[error("the tournament is over")]
    TournamentEnded,
}
