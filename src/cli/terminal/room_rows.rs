//! The rows of the room list as text.

use crate::{
    cli::text::table,
    client::{Occupant, Phase, RoomRow, Seat, Watching},
    rules::Color,
};

pub(in crate::cli) const HEADINGS: [&str; 7] =
    ["ROOM", "NAME", "OWNER", "BLACK - WHITE", "PHASE", "WATCHERS", "YOU CAN"];

/// The column widths that these rows need, in characters.
pub(in crate::cli) fn widths(rows: &[RoomRow]) -> [usize; 7] {
    table::widths(&HEADINGS, rows.iter().map(cells))
}

pub(in crate::cli) fn cells(row: &RoomRow) -> [String; 7] {
    let seats = format!("{} - {}", seat(row, Color::Black), seat(row, Color::White));
    let phase = match row.phase {
        Phase::Lobby => "lobby".to_owned(),
        Phase::Playing => format!("ply {}, {}-{}", row.ply, row.discs.black, row.discs.white),
        Phase::Closed => "closed".to_owned(),
    };
    [
        row.id.to_string(),
        row.name.clone(),
        row.owner.clone(),
        seats,
        phase,
        row.watchers.to_string(),
        action(row).to_owned(),
    ]
}

/// The occupant, with the rating of a rated player, and whether a player is away.
fn seat(row: &RoomRow, side: Color) -> String {
    let Seat { occupant, present, .. } = &row.seats[side];
    let is_away = matches!(occupant, Occupant::Player(_)) && !present;
    match (row.ratings[side], is_away) {
        (None, false) => occupant.to_string(),
        (None, true) => format!("{occupant} (away)"),
        (Some(rating), false) => format!("{occupant} ({rating})"),
        (Some(rating), true) => format!("{occupant} ({rating}, away)"),
    }
}

/// The possible action of a visitor in the room.
pub(in crate::cli) fn action(row: &RoomRow) -> &'static str {
    let may_watch = row.watching != Watching::Members;
    match (row.phase, row.has_open_seat(), row.has_password) {
        (Phase::Closed, ..) => "nothing",
        (_, true, false) => "join",
        (_, true, true) => "join (password)",
        _ if !may_watch => "nothing",
        (_, false, false) => "watch",
        (_, false, true) => "watch (password)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cli::text::table::line,
        client::{Ai, Player, PlayerKind, fixture::row},
        rules::ByColor,
    };

    #[test]
    fn a_row_shows_the_possible_actions() {
        let open = row("a");
        assert_eq!(action(&open), "join");
        assert_eq!(action(&RoomRow { has_password: true, ..open.clone() }), "join (password)");
        let mut playing = RoomRow { phase: Phase::Playing, ply: 9, ..open.clone() };
        playing.seats.black.occupant = Occupant::Ai(Ai::new("greedy").level(2));
        assert_eq!(action(&playing), "watch");
        playing.discs.black = 8;
        assert_eq!(
            seat(&RoomRow { ratings: ByColor::new(None, Some(1520)), ..open.clone() }, Color::White),
            "open (1520)"
        );
        let widths = widths(&[open, playing.clone()]);
        assert_eq!(line(&HEADINGS, widths), "ROOM  NAME    OWNER  BLACK - WHITE       PHASE       WATCHERS  YOU CAN");
        assert_eq!(
            line(&cells(&playing), widths),
            "a     room a  ada    AI greedy:2 - open  ply 9, 8-0  0         watch"
        );
        assert_eq!(action(&RoomRow { watching: Watching::Members, ..playing }), "nothing");
    }

    #[test]
    fn a_seat_shows_that_its_player_is_away() {
        let mut held = row("a");
        let player = |name: &str| Player {
            id: name.parse().unwrap(),
            name: name.to_owned(),
            kind: PlayerKind::Human,
            engine_version: String::new(),
        };
        held.seats.black = Seat { occupant: Occupant::Player(player("ada")), present: true, ..held.seats.black };
        held.seats.white = Seat { occupant: Occupant::Player(player("bea")), present: false, ..held.seats.white };
        let shown = |row: &RoomRow| [seat(row, Color::Black), seat(row, Color::White)];
        assert_eq!(shown(&held), ["ada", "bea (away)"]);
        held.ratings = ByColor::new(Some(1500), Some(1520));
        assert_eq!(shown(&held), ["ada (1500)", "bea (1520, away)"]);
    }
}
