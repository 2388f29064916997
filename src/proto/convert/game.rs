//! Games: record, clocks and end.

use std::time::Duration;

use super::{WireEnum as _, duration, final_position, position, seat::occupied_seat, timestamp};
use crate::{
    proto::v1,
    room::{
        Clocks, EndReason, Game, GameEnd, GameId, GameRecord, Ply, RatingChange, RoomId, Thought, TimeControl,
        Timestamp,
    },
    rules::{Color, Outcome, Position},
};

/// A game of a room at a given time, without search reports.
#[must_use]
pub fn game(room: RoomId, game: &Game, time: &TimeControl, now: Timestamp) -> v1::Game {
    v1::Game {
        game_id: GameId { room, number: game.number }.to_string(),
        number: i32::try_from(game.number).unwrap_or(i32::MAX),
        ply: game.ply().into(),
        position: Some(if game.end.is_some() { final_position(game.position) } else { position(game.position) }),
        clocks: game.clocks_at(now, time).as_ref().map(clocks),
        plies: plies(&game.plies, game.given),
        outcome: game.end.map(|end| outcome(end, game.position)),
        draw_offered_by: side_or_none(game.draw_offer).into(),
        take_back_offered_by: side_or_none(game.take_back_offer).into(),
        seats: game.players.iter().map(|(_, player)| occupied_seat(player)).collect(),
    }
}

/// The side that has made an offer.
pub(crate) fn side_or_none(side: Option<Color>) -> v1::Side {
    side.map_or(v1::Side::Unspecified, Color::wire)
}

/// The clocks of a running game.
#[must_use]
pub fn clocks(clocks: &Clocks) -> v1::Clocks {
    v1::Clocks {
        black_total: clocks.totals.black.map(duration),
        white_total: clocks.totals.white.map(duration),
        time_left: Some(duration(clocks.left)),
        deadline: Some(timestamp(clocks.deadline)),
    }
}

/// Every ply from the standard start; the first `opening` plies are marked as such.
#[must_use]
fn plies(plies: &[Ply], opening: u16) -> Vec<v1::Ply> {
    plies.iter().enumerate().map(|(index, made)| ply(index, *made, opening)).collect()
}

/// Adds the search reports of a game to its plies.
pub(super) fn add_thoughts(plies: &mut [v1::Ply], thoughts: &[(u16, Thought)]) {
    for (index, report) in thoughts {
        if let Some(ply) = plies.get_mut(usize::from(*index)) {
            ply.thought = Some(thought(report));
        }
    }
}

/// Every ply of a finished game, with the search reports of its AIs.
#[must_use]
pub fn record_plies(game: &GameRecord) -> Vec<v1::Ply> {
    let mut plies = plies(&game.plies, game.opening);
    add_thoughts(&mut plies, &game.thoughts);
    plies
}

/// A search report, for the wire.
pub(super) fn thought(thought: &Thought) -> v1::Thought {
    v1::Thought {
        evaluation: thought.evaluation.map(|hundredths| f64::from(hundredths) / 100.0),
        depth: thought.depth.into(),
        nodes: thought.nodes,
        principal_variation: thought.line.iter().map(ToString::to_string).collect(),
        cut_short: thought.cut_short,
    }
}

/// The latest ply.
pub(super) fn last_ply(game: &Game) -> Option<v1::Ply> {
    let made = game.plies.last()?;
    Some(ply(game.plies.len() - 1, *made, game.given))
}

fn ply(index: usize, made: Ply, opening: u16) -> v1::Ply {
    let mover = if index.is_multiple_of(2) { Color::Black } else { Color::White };
    v1::Ply {
        ply: i32::try_from(index).unwrap_or(i32::MAX),
        side: mover.wire().into(),
        square: made.square.map(|square| square.to_string()).unwrap_or_default(),
        pass: made.square.is_none(),
        spent: Some(duration(Duration::from_millis(made.spent_ms.into()))),
        opening: index < usize::from(opening),
        thought: None,
    }
}

/// The outcome of a game that ended in this position.
#[must_use]
pub fn outcome(end: GameEnd, position: Position) -> v1::Outcome {
    let board = position.board();
    let result = match end.winner {
        _ if !end.counts() => v1::GameResult::Aborted,
        Some(Color::Black) => v1::GameResult::BlackWins,
        Some(Color::White) => v1::GameResult::WhiteWins,
        None => v1::GameResult::Draw,
    };
    let official = (end.reason == EndReason::Discs).then(|| Outcome::of(board).official());
    let score = |color| official.map_or(0, |official| official[color].into());
    v1::Outcome {
        result: result.into(),
        reason: end.reason.wire().into(),
        black_discs: board.count(Color::Black).into(),
        white_discs: board.count(Color::White).into(),
        black_score: score(Color::Black),
        white_score: score(Color::White),
    }
}

/// What a finished game did to a rating, which was `before`.
#[must_use]
pub fn rating_change(before: Option<u16>, change: RatingChange) -> v1::RatingChange {
    let before = before.unwrap_or_default().into();
    let unchanged = v1::RatingChange { before, after: before, ..Default::default() };
    match change {
        RatingChange::Rated { after, deviation, weight, limited } => v1::RatingChange {
            after: after.into(),
            deviation: deviation.into(),
            weight: weight.into(),
            limited,
            ..unchanged
        },
        RatingChange::Unrated(reason) => v1::RatingChange { unrated: reason.wire().into(), ..unchanged },
    }
}

/// The outcome of a finished game, with the score that both sides of an imported game agreed on.
#[must_use]
pub fn recorded_outcome(game: &GameRecord) -> v1::Outcome {
    let outcome = outcome(game.end, game.position);
    match game.margin.filter(|_| game.end.reason == EndReason::Agreed) {
        Some(margin) => {
            let black_score = (64 + i32::from(margin)) / 2;
            v1::Outcome { black_score, white_score: 64 - black_score, ..outcome }
        }
        None => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        proto::convert::fixture,
        room::{Command, Issuer, Room, Settings},
    };

    const SECOND: i64 = 1_000_000;

    fn seconds(count: i64) -> Option<prost_types::Duration> {
        Some(prost_types::Duration { seconds: count, nanos: 0 })
    }

    fn clocks_of(room: &Room, now: Timestamp) -> v1::Clocks {
        clocks(&room.game().unwrap().clocks_at(now, &room.settings().time).unwrap())
    }

    fn timed(settings: Settings) -> Settings {
        let time = TimeControl {
            per_move: Some(Duration::from_secs(60)),
            total: Some(Duration::from_secs(300)),
            increment: Duration::from_secs(2),
        };
        Settings { time, ai_pause: Duration::from_secs(5), ..settings }
    }

    #[test]
    fn only_the_clock_of_the_side_to_move_runs() {
        let room = fixture::playing(timed(fixture::settings()));
        let began = room.running().unwrap().turn_began;
        let now = Timestamp(began.0 + 10 * SECOND);
        let wire = clocks_of(&room, now);
        assert_eq!(wire.black_total, seconds(290));
        assert_eq!(wire.white_total, seconds(300));
        assert_eq!(wire.time_left, seconds(50));
        assert_eq!(wire.deadline, Some(timestamp(Timestamp(began.0 + 60 * SECOND))));

        let late = clocks_of(&room, Timestamp(began.0 + 900 * SECOND));
        assert_eq!((late.black_total, late.time_left), (seconds(0), seconds(0)));
    }

    #[test]
    fn no_clock_runs_during_the_pause_before_an_ai_moves() {
        let mut room = fixture::playing(timed(fixture::settings()));
        let now = Timestamp(room.running().unwrap().turn_began.0 + SECOND);
        fixture::play(&mut room, now, 0);
        let wire = clocks_of(&room, now);
        assert_eq!((wire.black_total, wire.white_total), (seconds(301), seconds(300)));
        assert_eq!(wire.time_left, seconds(60));
        assert_eq!(wire.deadline, Some(timestamp(Timestamp(now.0 + 65 * SECOND))));
    }

    #[test]
    fn a_resigned_game_has_an_outcome_and_no_clocks() {
        let mut room = fixture::playing(fixture::settings());
        fixture::run(&mut room, fixture::NOW, Issuer::Player(fixture::owner().id), Command::Resign { game: 1 });
        let wire = game(room.id(), room.game().unwrap(), &room.settings().time, fixture::NOW);
        assert_eq!(wire.clocks, None);
        assert_eq!(wire.position.unwrap().side_to_move(), v1::Side::Unspecified);
        let end = wire.outcome.unwrap();
        assert_eq!((end.result(), end.reason()), (v1::GameResult::WhiteWins, v1::GameEndReason::Resignation));
        assert_eq!((end.black_discs, end.black_score), (2, 0));
    }

    #[test]
    fn empty_squares_count_for_the_winner_on_discs() {
        let there: Position = format!("{}XX{} O", "-".repeat(30), "-".repeat(32)).parse().unwrap();
        let end = GameEnd { winner: Some(Color::Black), reason: EndReason::Discs };
        let wire = outcome(end, there);
        assert_eq!((wire.black_discs, wire.white_discs, wire.black_score, wire.white_score), (2, 0, 64, 0));
        let lost = outcome(GameEnd { winner: None, reason: EndReason::Server }, there);
        assert_eq!((lost.result(), lost.reason()), (v1::GameResult::Aborted, v1::GameEndReason::Server));
    }
}
