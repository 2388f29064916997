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
mod decide;
mod event;
mod game;
pub mod ggf;
mod ids;
mod rejection;
mod score;
mod seat;
mod settings;
mod sheet;
mod state;
pub mod stored;
mod text;
mod thought;
mod time;
mod view;
pub mod wthor;

pub use command::{Actor, Command, Credentials, SeatSetting};
pub use event::{CloseReason, Creation, Event, Fact, LeaveReason, Offer};
pub use game::{EndReason, Game, GameEnd, Ply};
pub use ids::{GameId, JoinCode, ParseIdError, PlayerId, RoomId, Seq};
pub use rejection::Rejection;
pub use score::SeriesScore;
pub use seat::{AiSeat, AiWish, Occupant, PlayerKind, Profile, Seat, SeatWish};
pub use settings::{Opening, PasswordHash, Settings, SettingsError, TimeControl, Visibility, Watching};
pub use sheet::{Clocks, GameRecord, Participant, TurnSheet};
pub use state::{ChatLine, Member, Phase, Policy, Room, Series, Turn};
pub use text::{ChatText, DisplayName, RoomName, TextError};
pub use thought::Thought;
pub use time::Timestamp;
pub use view::{View, Viewer};
