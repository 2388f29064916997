//! One room as a pure value: members, seats, settings, games and chat.
//!
//! It reads no clock, draws no number and waits for nothing. A driver owns one and asks:
//!
//! | verb | meaning |
//! |---|---|
//! | [`Room::decide`] | judge a command: the events it causes, or a refusal; changes nothing |
//! | [`Room::apply`] | make one event true; total, and the only mutation |
//! | [`Room::deadline`] | when it next wants a [`Command::Tick`] |
//! | [`Room::thinking`] | whether an AI seat is to move, and with what time |
//! | [`Room::view`] | what one viewer may see |
//!
//! ```text
//!   command ──▶ decide ──▶ events ──▶ (written down) ──▶ apply ──▶ (told)
//!                  │
//!                  └────▶ rejection: nothing has happened
//! ```
//!
//! Events are facts, so the journal, the broadcast and a replay are the same list. As bytes they and the room have a form
//! of their own, in [`stored`].

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
mod timestamp;
mod turn_request;
mod view;
pub mod wthor;

pub use command::{Command, Credentials, Issuer, SeatSetting};
pub use event::{CloseReason, Creation, Event, Fact, LeaveReason, Offer};
pub use game::{EndReason, Game, GameEnd, Ply};
pub use game_record::{GameRecord, Participant};
pub use ids::{GameId, JoinCode, ParseIdError, PlayerId, RoomId, Seq};
pub use rejection::Rejection;
pub use seat::{AiSeat, AiSpec, Occupant, PlayerKind, Profile, Seat, SeatSpec};
pub use series_score::SeriesScore;
pub use settings::{Opening, PasswordHash, Settings, SettingsError, TimeControl, Visibility, Watching};
pub use state::{ChatLine, Member, Phase, Policy, Room, Series};
pub use text::{ChatText, DisplayName, RoomName, TextError};
pub use thought::Thought;
pub use timestamp::Timestamp;
pub use turn_request::{AiTurn, Clocks, TurnRequest};
pub use view::{View, Viewer};
