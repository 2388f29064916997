//! Pondering: an AI that searches during its opponent's turn when the server is idle.

use std::sync::Arc;

use reversi::{
    ai::{AiPlayer, Choice},
    rules::{Position, Square},
    search::Stop,
};
use tokio::sync::mpsc;

use crate::harness::in_process::{ServerOptions, TestServer, named, within};

/// The first or the last legal square of the side to move.
fn end(position: Position, first: bool) -> Square {
    let legal = position.legal_moves();
    let mut squares = Square::ALL.into_iter().filter(|&square| legal.contains(square));
    if first { squares.next() } else { squares.next_back() }.expect("there is a move")
}

/// Chooses the first legal square, and expects the same of the opponent.
fn expecting(position: Position) -> Choice {
    let square = end(position, true);
    let reply = end(position.play(square).unwrap(), true);
    Choice { square, evaluation: None, depth: 2, nodes: 2, line: vec![square, reply], complete: true }
}

/// A server with such an `expert`, and the positions that it is asked to search.
async fn stage(ponder: bool) -> (TestServer, mpsc::Receiver<Position>) {
    let (tells, told) = mpsc::channel(16);
    let think = move |_: &AiPlayer, position, _, _: &Stop| {
        tells.try_send(position).unwrap();
        Some(expecting(position))
    };
    (TestServer::with(ServerOptions { think: Some(Arc::new(think)), ponder, ..ServerOptions::default() }).await, told)
}

/// Plays the expected reply, then another. Returns the positions that were searched, and those of the AI's turns.
async fn asked(ponder: bool, questions: usize) -> (Vec<Position>, [Position; 3]) {
    let (stage, mut told) = stage(ponder).await;
    let ada = stage.human("Ada").await;
    let mut turns = ada.turns().await;
    let room = ada.create_with(named("pondered"), ["expert", "me"]).await.room_id;
    let game = ada.start(&room).await.unwrap().game_id;
    let mut positions = [Position::START; 3];
    let mut questioned = Vec::new();
    for (turn, as_expected) in [true, false].into_iter().enumerate() {
        let request = turns.asked().await;
        assert_eq!(request.ply as usize, 2 * turn + 1);
        // Pondering has started before the reply is made.
        while ponder && questioned.len() < turn + 2 {
            questioned.push(within(told.recv()).await.unwrap());
        }
        let theirs = positions[turn].play(end(positions[turn], true)).unwrap();
        let reply = end(theirs, as_expected);
        positions[turn + 1] = theirs.play(reply).unwrap();
        ada.play(&game, request.ply, &reply.to_string()).await.unwrap();
    }
    while questioned.len() < questions {
        questioned.push(within(told.recv()).await.unwrap());
    }
    (questioned, positions)
}

#[tokio::test]
async fn an_expected_reply_is_not_searched_again() {
    let (questioned, [first, second, third]) = asked(true, 4).await;
    let unexpected = second.play(end(second, true)).unwrap();
    let expected = unexpected.play(end(unexpected, true)).unwrap();
    assert_eq!(questioned, [first, second, expected, third]);
}

#[tokio::test]
async fn nothing_is_pondered_unless_enabled() {
    let (questioned, positions) = asked(false, 3).await;
    assert_eq!(questioned, positions);
}
