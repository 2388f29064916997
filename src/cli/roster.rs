//! The rows of the room list as text.

use crate::client::{Phase, RoomRow, Watching};

/// What the columns are called.
pub(super) const HEADINGS: [&str; 7] = ["ROOM", "NAME", "OWNER", "BLACK - WHITE", "PHASE", "WATCHED BY", "YOU CAN"];
/// How wide they are on a screen; the fourth takes what is left.
pub(super) const WIDTHS: [u16; 7] = [12, 20, 14, 34, 22, 10, 16];

/// The cells of a row.
pub(super) fn cells(row: &RoomRow) -> [String; 7] {
    let seats = format!("{} - {}", row.seats.black.occupant, row.seats.white.occupant);
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
        offer(row).to_owned(),
    ]
}

/// A row of aligned text; what is too long pushes the rest to the right, so that nothing is lost to a script.
pub(super) fn line<S: AsRef<str>>(cells: &[S; 7]) -> String {
    let padded = cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{:1$}", cell.as_ref(), usize::from(width)));
    padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// What a passer-by can do there.
pub(super) fn offer(row: &RoomRow) -> &'static str {
    let may_watch = row.watching == Watching::Everyone;
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
    use crate::client::{Ai, Occupant, list_tests::row};

    #[test]
    fn a_row_says_what_can_be_done() {
        let open = row("a");
        assert_eq!(offer(&open), "join");
        assert_eq!(offer(&RoomRow { has_password: true, ..open.clone() }), "join (password)");
        let mut playing = RoomRow { phase: Phase::Playing, ply: 9, ..open };
        playing.seats.black.occupant = Occupant::Ai(Ai::new("greedy").level(2));
        assert_eq!(offer(&playing), "watch");
        playing.discs.black = 8;
        assert_eq!(
            line(&cells(&playing)),
            "a             room a                ada             AI greedy 2 - open                  ply 9, 8-0              0           watch"
        );
        assert_eq!(offer(&RoomRow { watching: Watching::Members, ..playing }), "nothing");
    }
}
