//! Sample rooms for tests of this crate and of programs that display rooms.
#![allow(clippy::unwrap_used, reason = "only tests have it")]

use std::time::Duration;

use crate::{
    Clocks, Game, GameRecord, Occupant, Phase, Ply, Room, RoomChange, RoomEvent, RoomRow, RoomState, Seat, Settings,
    Watching,
    rules::{ByColor, Position, Square},
    v1,
};

const OPEN_SEAT: Seat = Seat {
    occupant: Occupant::Open,
    ready: false,
    present: false,
    wins: 0,
    draws: 0,
    claim_from: None,
    reserved_until: None,
};

/// A room with two open seats and a game at the standard start.
#[must_use]
pub fn room() -> Room {
    Room {
        id: "room1".parse().unwrap(),
        seq: 5,
        phase: Phase::Playing,
        settings: Settings { name: "Study".into(), ..Settings::default() },
        has_password: false,
        owner: None,
        co_owners: vec![],
        members: vec![],
        seats: ByColor::new(OPEN_SEAT, OPEN_SEAT),
        game: Some(Game {
            id: "game1".parse().unwrap(),
            number: 1,
            ply: 0,
            standing: Position::START.into(),
            clocks: Clocks { time_left: Some(Duration::from_secs(60)), ..Clocks::default() },
            plies: vec![],
            outcome: None,
            draw_offered_by: None,
            take_back_offered_by: None,
        }),
        series: None,
        chat: vec![],
        join_code: None,
        created_at: None,
        watchers: 0,
        rematch_offered_by: None,
        score: None,
        meeting: None,
    }
}

/// The event of this move in the room's game.
#[must_use]
pub fn move_event(room: &Room, square: &str) -> RoomEvent {
    let game = room.game.as_ref().unwrap();
    let square: Square = square.parse().unwrap();
    let before = Position::new(game.standing.board, game.standing.turn.unwrap());
    let change = RoomChange::MovePlayed {
        game: game.id.clone(),
        ply: Ply {
            ply: game.ply,
            side: before.turn(),
            square: Some(square),
            spent: Duration::from_secs(1),
            opening: false,
        },
        standing: before.play(square).unwrap().after_forced_pass().0.into(),
        clocks: game.clocks,
        flipped: before.board().flips(before.turn(), square),
    };
    next(room, change)
}

/// The room's next event, with this change and no new state.
#[must_use]
pub fn next(room: &Room, change: RoomChange) -> RoomEvent {
    RoomEvent { seq: room.seq + 1, at: None, change, state: None }
}

/// The room's current state.
#[must_use]
pub fn state(room: &Room) -> RoomState {
    RoomState {
        phase: room.phase,
        owner: room.owner.clone(),
        co_owners: room.co_owners.clone(),
        seats: room.seats.clone(),
        series: room.series,
        rematch_offered_by: room.rematch_offered_by,
        score: room.score,
        draw_offered_by: room.game.as_ref().and_then(|game| game.draw_offered_by),
        take_back_offered_by: room.game.as_ref().and_then(|game| game.take_back_offered_by),
    }
}

/// A row with two open seats.
#[must_use]
pub fn row(id: &str) -> RoomRow {
    RoomRow {
        id: id.parse().unwrap(),
        name: format!("room {id}"),
        owner: "ada".into(),
        phase: Phase::Lobby,
        seats: ByColor::new(OPEN_SEAT, OPEN_SEAT),
        has_password: false,
        watching: Watching::Everyone,
        watchers: 0,
        ply: 0,
        discs: ByColor::default(),
        created_at: None,
        rated: false,
        finished: false,
        ratings: ByColor::default(),
        meeting: None,
    }
}

/// A game of two AIs that white has resigned after two moves.
#[must_use]
pub fn record() -> GameRecord {
    let ai = || {
        let seat = v1::AiSeat { kind: "random".into(), level: 1, seed: 0 };
        Some(v1::Participant { participant: Some(v1::participant::Participant::Ai(seat)) })
    };
    let (result, reason) = (v1::GameResult::BlackWins, v1::GameEndReason::Resignation);
    let outcome = v1::Outcome {
        result: result.into(),
        reason: reason.into(),
        black_discs: 3,
        white_discs: 3,
        ..v1::Outcome::default()
    };
    let record = v1::GameRecord {
        game_id: "room1-1".into(),
        room_id: "room1".into(),
        room_name: "Study".into(),
        black: ai(),
        white: ai(),
        outcome: Some(outcome),
        transcript: "d3c3".into(),
        ..v1::GameRecord::default()
    };
    record.try_into().unwrap()
}
