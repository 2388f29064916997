//! The options of `reversi play`.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::{
    cli::connect::{login::LoginOptions, server_address::Address, terms::Terms},
    client::{RoomId, SideWish},
};

/// The default opponent, which beginners can beat.
pub(super) const DEFAULT_OPPONENT: &str = "roxanne";

#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi play                                       against an AI\n  \
    reversi play --ai alphabeta:2 --side white\n  \
    reversi play --anyone                              against any waiting player\n  \
    reversi play --anyone --clock 300+2 --rated        rated, with this clock\n  \
    reversi play --new --private                       in a room for a friend\n  \
    reversi play --room 7k2m9x4q1c0d                   in this room\n  \
    reversi play --tournament Cup                      all your meetings\n  \
    printf 'd3\\nresign\\n' | reversi play --side black  by a script\n\n\
    Ctrl-C asks before it leaves a game. A signal, a closed terminal or the end of the input ends the program and keeps the \
    seat in a game for a while; `reversi play --keep FILE` comes back to one with the same FILE.")]
pub(in crate::cli) struct Args {
    #[arg(long, value_name = "KIND", group = "opponent",
        help = format!("Play against this kind of AI [default: {DEFAULT_OPPONENT}, without --room, --tournament, --anyone or --new]"))]
    pub(super) ai: Option<String>,
    /// The AI's level, also as in `--ai mcts:3`; its kind's default if left out.
    #[arg(long, value_name = "N")]
    pub(super) level: Option<u32>,
    /// Your side: black moves first.
    #[arg(long, value_parser = side(), default_value = "random")]
    pub(super) side: SideWish,
    /// Take a seat in this room, given by its id or join code.
    #[arg(long, value_name = "ID_OR_CODE", group = "opponent", conflicts_with_all = ["Terms", "GameTerms"])]
    pub(super) room: Option<String>,
    /// Enter this tournament, given by its id or name, play each meeting as it begins, and end with it. Without --keep
    /// the login is that of `reversi tournament join`.
    #[arg(long, value_name = "TOURNAMENT", group = "opponent", conflicts_with_all = ["Terms", "GameTerms", "side"])]
    pub(super) tournament: Option<String>,
    /// The password of the room or tournament.
    #[arg(long, env = "REVERSI_PASSWORD", hide_env_values = true, default_value = "", hide_default_value = true)]
    pub(super) password: String,
    /// Play against another player who looks for a game with the same terms.
    #[arg(long, group = "opponent")]
    pub(super) anyone: bool,
    /// With --anyone: after this wait, play against an AI of the server, of about your rating.
    #[arg(long, value_name = "SECONDS", requires = "anyone", conflicts_with_all = ["rating", "against"])]
    pub(super) house: Option<u16>,
    /// Make a room and wait in it for an opponent.
    #[arg(long, group = "opponent")]
    pub(super) new: bool,
    /// With --new: a room that is entered by its join code only.
    #[arg(long, requires = "new")]
    pub(super) private: bool,
    #[command(flatten)]
    pub(super) terms: Terms,
    #[command(flatten)]
    pub(super) server: Address,
    #[command(flatten)]
    pub(super) login: LoginOptions,
}

impl Args {
    pub(in crate::cli) fn in_room(server: Address, login: LoginOptions, room: &RoomId) -> Self {
        Self { room: Some(room.to_string()), server, login, ..Self::default() }
    }
}

/// A side to be given.
pub(in crate::cli) fn side() -> impl TypedValueParser<Value = SideWish> {
    PossibleValuesParser::new(["black", "white", "random"]).map(|side| match side.as_str() {
        "black" => SideWish::Black,
        "white" => SideWish::White,
        _ => SideWish::Random,
    })
}
