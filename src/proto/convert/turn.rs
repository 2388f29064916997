//! What one player is told, wherever they play.

use super::{clocks, final_position, outcome, player, position, seat, seat_number, side};
use crate::{
    proto::v1,
    room::{GameId, Profile, Room, Timestamp},
    rules::{Color, Square},
};

/// What is asked of the side to move at a moment; nothing while no game runs, and between a move and what it forces.
#[must_use]
pub fn turn_requested(room: &Room, now: Timestamp) -> Option<v1::TurnRequested> {
    let game = room.running()?;
    if game.position.legal_moves().is_empty() {
        return None;
    }
    Some(v1::TurnRequested {
        game_id: GameId { room: room.id(), number: game.number }.to_string(),
        room_id: room.id().to_string(),
        ply: game.ply().into(),
        side: side(game.position.turn()).into(),
        position: Some(position(game.position)),
        last_move: game.last_move().map(|square| square.to_string()).unwrap_or_default(),
        clocks: clocks(game, room.flag_falls(), now),
    })
}

/// That a request is open no longer; `played` is the move that was made, if one was.
#[must_use]
pub fn turn_closed(game: GameId, ply: u16, reason: v1::TurnCloseReason, played: Option<Square>) -> v1::TurnClosed {
    v1::TurnClosed {
        game_id: game.to_string(),
        ply: ply.into(),
        reason: reason.into(),
        square: played.map(|square| square.to_string()).unwrap_or_default(),
    }
}

/// That the room's game has begun, for the player on `color`.
#[must_use]
pub fn player_game_started(room: &Room, color: Color) -> Option<v1::PlayerGameStarted> {
    let game = room.game()?;
    Some(v1::PlayerGameStarted {
        room_id: room.id().to_string(),
        game_id: GameId { room: room.id(), number: game.number }.to_string(),
        side: side(color).into(),
        opponent: Some(seat(room, color.opposite())),
    })
}

/// That the room's game is over, for the player on `color`; nothing while it runs.
#[must_use]
pub fn player_game_ended(room: &Room, color: Color) -> Option<v1::PlayerGameEnded> {
    let game = room.game()?;
    Some(v1::PlayerGameEnded {
        room_id: room.id().to_string(),
        game_id: GameId { room: room.id(), number: game.number }.to_string(),
        side: side(color).into(),
        outcome: Some(outcome(game.end?, game.position)),
        position: Some(final_position(game.position)),
    })
}

/// That a seat is kept for the player who is told so.
#[must_use]
pub fn player_invited(room: &Room, color: Color, by: &Profile) -> v1::PlayerInvited {
    v1::PlayerInvited {
        room_id: room.id().to_string(),
        seat: seat_number(color),
        join_code: room.code().to_string(),
        by: Some(player(by)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        proto::convert::fixture,
        room::{Actor, Command, RoomId},
    };

    #[test]
    fn a_request_has_all_that_its_answer_needs() {
        let mut room = fixture::playing(fixture::settings());
        let first = turn_requested(&room, fixture::NOW).unwrap();
        assert_eq!((first.ply, first.side(), first.last_move.as_str()), (0, v1::Side::Black, ""));
        assert_eq!(first.position.unwrap().legal_moves.len(), 4);

        fixture::play(&mut room, fixture::NOW, 0);
        let second = turn_requested(&room, fixture::NOW).unwrap();
        assert_eq!((second.ply, second.side(), second.last_move.as_str()), (1, v1::Side::White, "d3"));
        assert_eq!(second.game_id, format!("{}-1", second.room_id));
    }

    #[test]
    fn nothing_is_asked_where_no_game_runs() {
        let mut room = fixture::lobby(fixture::settings());
        assert_eq!(turn_requested(&room, fixture::NOW), None);
        assert_eq!(player_game_started(&room, Color::Black), None);
        let owner = Actor::Player(fixture::owner().id);
        fixture::run(&mut room, fixture::NOW, owner, Command::Start);
        let started = player_game_started(&room, Color::Black).unwrap();
        assert!(matches!(started.opponent.unwrap().occupant, Some(v1::seat::Occupant::Ai(_))));
        assert_eq!(player_game_ended(&room, Color::Black), None);

        fixture::run(&mut room, fixture::NOW, owner, Command::Resign { game: 1 });
        assert_eq!(turn_requested(&room, fixture::NOW), None);
        let ended = player_game_ended(&room, Color::Black).unwrap();
        assert_eq!(ended.outcome.unwrap().result(), v1::GameResult::WhiteWins);
        assert!(ended.position.unwrap().legal_moves.is_empty());
    }

    #[test]
    fn an_invitation_and_a_closed_turn_name_what_they_mean() {
        let room = fixture::lobby(fixture::settings());
        let invited = player_invited(&room, Color::White, &fixture::owner());
        assert_eq!((invited.seat, invited.join_code), (1, room.code().to_string()));
        let game = GameId { room: RoomId::from_random(1), number: 2 };
        let closed = turn_closed(game, 3, v1::TurnCloseReason::Played, "d3".parse().ok());
        assert_eq!((closed.ply, closed.square.as_str(), closed.game_id), (3, "d3", game.to_string()));
    }
}
