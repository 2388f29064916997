//! One tournament as a value: entrants, meetings, rounds, and the standings that follow from them.
//!
//! It reads no clock, generates no random numbers and does no I/O. Its driver calls:
//!
//! | method | what it does |
//! |---|---|
//! | [`Tournament::decide`] | the events that a command causes, or its rejection; changes nothing |
//! | [`Tournament::apply`] | applies one event; cannot fail; the only mutation |
//! | [`Tournament::deadline`] | when the tournament next needs a [`Command::Tick`] |
//! | [`Tournament::running`] | the meetings whose rooms are wanted now |
//! | [`Tournament::room_settings`] | the settings of such a room, with the openings of the meeting |
//! | [`Tournament::delayed`] | the tournament as it may be shown to the public |
//! | [`standings()`], [`crosstable()`], [`Strengths`], [`trf()`] | the results so far |
//!
//! ```text
//!                  ┌─ Tick ──▶ Paired ──▶ rooms are opened ──▶ series are played ─┐
//!   Join, Start ──▶│                                                              │
//!                  └──────────── Finished ◀── Finish, by number ◀─────────────────┘
//! ```
//!
//! A meeting is one series of games in one room. `Paired` has the ids of the rooms and is stored before any of them
//! exists; a driver that comes back creates all of [`Tournament::running`] again, where a room that exists is no
//! error, and tells their ends again, which changes nothing.

mod apply;
mod command;
mod deadline;
mod decide;
mod delayed;
mod entrant;
mod event;
mod lot;
mod meeting;
pub mod pairing;
mod points;
mod rejection;
mod round;
mod settings;
mod standings;
mod state;
pub mod stored;
mod trf;

pub use command::{Command, Control};
pub use entrant::{Entrant, EntrantId, EntrantState, Fault, PutAside};
pub use event::{Creation, Ending, Event, Fact};
pub use meeting::{Adjudication, Forfeiter, Meeting, Outcome, Pairing, Stage};
pub use points::HalfPoints;
pub use rejection::Rejection;
pub use settings::{Format, Playoff, Settings};
pub use standings::{Cell, Crosstable, Standing, Strength, Strengths, crosstable, standings, standings_with_strengths};
pub use state::{Phase, Tournament};
pub use trf::trf;
