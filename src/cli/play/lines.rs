//! The lines of a player without a screen.

use std::{collections::VecDeque, io::IsTerminal as _};

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

use crate::{cli::stdout_is_terminal, client::GameId};

/// The lines, and their help.
pub(super) const COMMANDS: [(&str, &str); 13] = [
    ("d3", "play on this square"),
    ("resign", "give up the game"),
    ("draw", "offer a draw"),
    ("takeback", "take your last move back: an AI agrees, a person is asked; not in rated games"),
    ("claim", "win the game, once your opponent has been away for long enough; `claim draw` draws it"),
    ("accept", "accept an invitation, or the opponent's offer of a draw, to take a move back, or of a rematch"),
    ("decline", "decline it"),
    ("rematch", "after a game: offer another"),
    ("start", "start a game, as the owner of the room"),
    ("ready", "be ready for the game, after its terms have changed"),
    ("say TEXT", "talk to the room"),
    ("help", "this list"),
    ("quit", "leave the room, or the tournament; during a game, this resigns it"),
];

/// The most moves that are read before a meeting: those of a whole game.
pub(super) const MAX_HELD: usize = 60;

/// Standard input, and the game and ply of the last announced turn.
pub(super) struct StdinMoves {
    pub(super) lines: Lines<BufReader<Stdin>>,
    pub(super) asked: Option<(GameId, u32)>,
    /// Lines that wait for the next game.
    pub(super) held: VecDeque<String>,
}

impl StdinMoves {
    /// None on a terminal, where a screen reads keys.
    pub(super) fn unless_on_screen() -> Option<Self> {
        if stdout_is_terminal() && std::io::stdin().is_terminal() {
            return None;
        }
        Some(Self { lines: BufReader::new(tokio::io::stdin()).lines(), asked: None, held: VecDeque::new() })
    }
}

/// Whether a line is carried out before the first game.
pub(super) fn needs_no_game(line: &str) -> bool {
    matches!(line.split_whitespace().next(), Some("help" | "q" | "quit" | "s" | "start" | "ready" | "say"))
}

/// Whether a line accepts or declines an offer.
pub(super) fn is_answer(line: &str) -> Option<bool> {
    match line.split_whitespace().next()? {
        "y" | "accept" => Some(true),
        "x" | "decline" => Some(false),
        _ => None,
    }
}
