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

#[cfg(test)]
mod fixture;

pub use analysis::{Budget, read_board, read_budget, read_lines, read_transcript};
pub use event::{encode_event, room_event};
pub use game::{clocks, game, outcome, record_plies, recorded_outcome};
pub use malformed::Malformed;
pub use position::{final_position, position, read_square, squares};
pub use request::{
    read_chat, read_display_name, read_id, read_join_code, read_offer, read_page_size, read_password, read_player_kind,
    read_ply, read_request_id, read_search_text, read_seat_count, read_side_preference,
};
pub use room::{chat_line, member, room, score, series};
pub use seat::{
    ai_seat, lone_seat, player, read_ai, read_seat, read_seat_setting, read_seats, seat, seat_number, seats,
};
pub use settings::{read_changed_settings, read_new_settings, room_settings};
pub use time::{duration, read_duration, read_timestamp, span, timestamp};
pub use turn::{turn_closed, turn_requested};

use crate::{
    proto::v1,
    room::{CloseReason, EndReason, LeaveReason, Offer, Phase, PlayerKind, Visibility, Watching},
    rules::Color,
};

/// A count, for the wire, saturating.
pub fn count(count: impl TryInto<i32>) -> i32 {
    count.try_into().unwrap_or(i32::MAX)
}

/// An enum of the room with the same variants on the wire.
pub trait WireEnum: Sized {
    /// The enum of the wire.
    type Wire;

    /// The variant, for the wire.
    fn wire(self) -> Self::Wire;

    /// Reads the number of a variant; `None` if it is unspecified.
    ///
    /// # Errors
    /// `BAD_ARGUMENT` for `field`.
    fn read(field: &str, number: i32) -> Result<Option<Self>, Malformed>;
}

/// One table for both directions; the compiler rejects one without all variants.
macro_rules! wire_enums {
    ($($name:ident as $wire:ident: $($variant:ident)+;)+) => {
        $(impl WireEnum for $name {
            type Wire = v1::$wire;

            fn wire(self) -> v1::$wire {
                match self { $(Self::$variant => v1::$wire::$variant),+ }
            }

            fn read(field: &str, number: i32) -> Result<Option<Self>, Malformed> {
                match v1::$wire::try_from(number) {
                    Ok(v1::$wire::Unspecified) => Ok(None),
                    $(Ok(v1::$wire::$variant) => Ok(Some(Self::$variant)),)+
                    Err(_) => Err(Malformed::argument(field, "must be a known value")),
                }
            }
        })+
    };
}

wire_enums! {
    Color as Side: Black White;
    PlayerKind as PlayerKind: Human Bot;
    Visibility as Visibility: Public Private;
    Watching as Watching: Everyone Members;
    Phase as RoomPhase: Lobby Playing Closed;
    Offer as Offer: Draw Rematch;
    LeaveReason as LeaveReason: Left Kicked Banned Absent;
    CloseReason as RoomCloseReason: Empty Closed Idle Server;
    EndReason as GameEndReason: Discs Resignation Timeout Left Kicked Agreed Aborted Server AbortedByBlack AbortedByWhite
        AbortedByOwner AbortedByAdmin;
}
