//! Requests to a tournament.

use reversi_room::{ChatText, Participant, PasswordHash, PlayerId};

use super::{entrant::EntrantId, meeting::Outcome, settings::Settings};

/// A change of phase that the organiser may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// Start it.
    Start,
    /// Begin no more meetings for now.
    Pause,
    /// Begin meetings again.
    Resume,
    /// End it now. Unfinished meetings give no points.
    End,
    /// Call it off.
    Cancel,
}

/// A request to a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Replace the settings, before the start. By the organiser.
    Configure(Box<Settings>),
    /// Take part. By the player, or, for an AI, by the organiser.
    Join {
        /// The player or AI.
        who: Participant,
        /// Its rating, in Elo.
        rating: u16,
        /// The password's hash, for a player who has given the password.
        password: Option<PasswordHash>,
    },
    /// Take part no more. By the player.
    Leave,
    /// Remove an entrant, who cannot join again. By the organiser.
    Exclude(EntrantId),
    /// Let an excluded entrant join again. By the organiser.
    Admit(EntrantId),
    /// An entrant's connection was lost or restored. By the server.
    SetPresence(PlayerId, bool),
    /// Change the phase. By the organiser.
    Control(Control),
    /// A meeting has ended. By the server; repeats change nothing.
    Finish {
        /// The meeting's number.
        number: u32,
        /// How.
        outcome: Outcome,
    },
    /// Set the outcome of a meeting, finished or not. By the organiser.
    Adjudicate {
        /// The meeting's number.
        number: u32,
        /// The outcome.
        outcome: Outcome,
        /// Why.
        why: ChatText,
    },
    /// Compensate for time in which no entrant could come: the server was down or could not write. By the server.
    Credit {
        /// Microseconds; negative after the system clock was set back.
        micros: i64,
    },
    /// Do the first thing whose deadline has passed.
    Tick {
        /// A number drawn by the driver; the ids of new rooms come from it.
        random: u64,
    },
}
