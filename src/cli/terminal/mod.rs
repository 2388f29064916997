//! The terminal: the state of a room, its drawing, the keys, and lines of text.
//!
//! ```text
//!   RoomUpdate ─▶ room_view (state) ─▶ draw_room ─▶ screen
//!   screen (a key) ─▶ keys ─▶ PlayerAction
//! ```

pub(super) mod board;
pub(super) mod clock;
pub(super) mod draw_room;
pub(super) mod exit_status;
pub(super) mod interrupt;
pub(super) mod keys;
pub(super) mod line;
pub(super) mod move_list;
pub(super) mod output;
pub(super) mod progress;
pub(super) mod room_rows;
pub(super) mod room_view;
pub(super) mod screen;
