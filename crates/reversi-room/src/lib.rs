//! One room as a value: members, seats, settings, games and chat.
//!
//! It reads no clock, generates no random numbers and does no I/O. Its driver calls:
//!
//! | method | what it does |
//! |---|---|
//! | [`Room::decide`] | the events that a command causes, or its rejection; changes nothing |
//! | [`Room::apply`] | applies one event; cannot fail; the only mutation |
//! | [`Room::deadline`] | when the room next needs a [`Command::Tick`] |
//! | [`Room::ai_turn`] | the turn of an AI seat, if an AI is to move |
//! | [`Room::view`] | what a viewer may see |
//!
//! ```text
//!   command ──▶ decide ──▶ events ──▶ (stored) ──▶ apply ──▶ (sent to watchers)
//!                  │
//!                  └────▶ rejection: nothing changed
//! ```
//!
//! The store, the watchers and a replay all get the same events. [`stored`] has the stored form of events and rooms.

mod apply;
mod command;
mod deadline;
mod decide;
mod event;
mod game;
mod game_record;
pub mod ggf;
mod ids;
mod rejection;
mod seat;
mod series_score;
mod settings;
mod state;
pub mod stored;
mod text;
mod thought;
mod time_control;
mod timestamp;
mod turn_request;
mod view;
pub mod wthor;

pub use command::{Claim, Command, Credentials, Issuer, SeatSetting};
pub use event::{CloseReason, Creation, Event, Fact, InvitationEnd, LeaveReason, Offer, Request};
pub use game::{EndReason, Game, GameEnd, Ply};
pub use game_record::{GameRecord, Participant, RatingChange, UnratedReason};
pub use ids::{GameId, JoinCode, MeetingRef, ParseIdError, PlayerId, RoomId, Seq, TournamentId};
pub use rejection::Rejection;
pub use seat::{AiSeat, AiSpec, Invitation, Occupant, PlayerKind, PlayerRef, Profile, Seat, SeatSpec};
pub use series_score::SeriesScore;
pub use settings::{
    Availability, Opening, Opponents, PasswordHash, Policy, Settings, SettingsError, TimeRange, Visibility, Watching,
};
pub use state::{ChatLine, Member, Phase, Room, Series};
pub use text::{BanReason, ChatText, DeclineReason, DisplayName, EngineVersion, RoomName, TextError};
pub use thought::Thought;
pub use time_control::TimeControl;
pub use timestamp::Timestamp;
pub use turn_request::{AiTurn, Clocks, TurnRequest};
pub use view::{View, Viewer};
