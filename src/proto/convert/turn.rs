//! The question to the side to move.

use super::{clocks, position, side};
use crate::{proto::v1, room::TurnSheet};

/// A turn, as it is asked of a player.
#[must_use]
pub fn turn_requested(sheet: &TurnSheet) -> v1::TurnRequested {
    v1::TurnRequested {
        game_id: sheet.game.to_string(),
        room_id: sheet.game.room.to_string(),
        ply: sheet.ply.into(),
        side: side(sheet.position.turn()).into(),
        position: Some(position(sheet.position)),
        last_move: sheet.last_move.map(|square| square.name().to_owned()).unwrap_or_default(),
        clocks: Some(clocks(&sheet.clocks)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::convert::fixture;

    #[test]
    fn a_request_has_all_that_its_answer_needs() {
        let mut room = fixture::playing(fixture::settings());
        let first = turn_requested(&room.turn_sheet(fixture::NOW).unwrap());
        assert_eq!((first.ply, first.side(), first.last_move.as_str()), (0, v1::Side::Black, ""));
        assert_eq!(first.position.unwrap().legal_moves.len(), 4);

        fixture::play(&mut room, fixture::NOW, 0);
        let second = turn_requested(&room.turn_sheet(fixture::NOW).unwrap());
        assert_eq!((second.ply, second.side(), second.last_move.as_str()), (1, v1::Side::White, "d3"));
        assert_eq!(second.game_id, format!("{}-1", second.room_id));
    }
}
