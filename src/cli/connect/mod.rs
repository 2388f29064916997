//! Reaching a server: its address, a login, and streams that survive a lost connection.

pub(super) mod check_ai;
pub(super) mod find_player;
pub(super) mod find_tournament;
pub(super) mod kept_logins;
pub(super) mod leave;
pub(super) mod login;
pub(super) mod named_room;
pub(super) mod reconnecting_stream;
pub(super) mod running_game;
pub(super) mod server_address;
pub(super) mod terms;
pub(super) mod token_file;
