//! Conversions between the types of the room and of the wire.
//!
//! ```text
//!   room, rules ──▶ noun(...)        ──▶ v1     total: never fails
//!   v1          ──▶ read_noun(...)   ──▶ room   parses: a value of the room, or `Malformed`
//! ```
//!
//! Input is untrusted: nothing here panics on it, stores it unbounded or repeats it in an error. The room decides
//! whether a valid request is allowed.

mod analysis;
mod event;
mod game;
mod malformed;
mod position;
mod request;
mod room;
mod seat;
mod settings;
mod time;
mod turn;
mod wire_enum;

#[cfg(test)]
mod fixture;

pub use analysis::{Budget, read_board, read_budget, read_lines, read_transcript};
pub use event::{encode_event, room_event};
pub(crate) use game::side_or_none;
pub use game::{clocks, game, outcome, rating_change, record_plies, recorded_outcome};
pub use malformed::Malformed;
pub use position::{final_position, position, read_square, squares};
pub use request::{
    read_chat, read_claim, read_decline_reason, read_display_name, read_engine_version, read_id, read_join_code,
    read_offer, read_offered, read_page_size, read_password, read_player_kind, read_ply, read_request_id,
    read_search_text, read_seat_count, read_side_preference,
};
pub(crate) use room::sprt_state;
pub use room::{chat_line, member, room, room_meeting, score, series};
pub use seat::{
    ai_seat, lone_seat, player, read_ai, read_seat, read_seat_setting, read_seats, seat, seat_number, seats,
};
pub use settings::{opponents, read_changed_settings, read_new_settings, read_opponents, room_settings};
pub(crate) use settings::{read_sprt, sprt};
pub use time::{duration, read_duration, read_timestamp, span, timestamp};
pub use turn::{turn_closed, turn_requested};
pub use wire_enum::WireEnum;

/// A count, for the wire, saturating.
pub fn count(count: impl TryInto<i32>) -> i32 {
    count.try_into().unwrap_or(i32::MAX)
}
