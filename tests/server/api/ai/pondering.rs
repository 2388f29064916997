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
fn end_square(position: Position, first: bool) -> Square {
    let legal = position.legal_moves();
    let mut squares = Square::ALL.into_iter().filter(|&square| legal.contains(square));
    if first { squares.next() } else { squares.next_back() }.expect("a legal move")
}

/// Chooses the first legal square, and expects the same of the opponent.
fn expecting(position: Position) -> Choice {
    let square = end_square(position, true);
    let reply = end_square(position.play(square).unwrap(), true);
    Choice { square, evaluation: None, depth: 2, nodes: 2, line: vec![square, reply], complete: true }
}

/// A server with such an `expert`, and the positions that it is asked to search.
async fn expert_server(ponder: bool) -> (TestServer, mpsc::Receiver<Position>) {
    let (sender, positions) = mpsc::channel(16);
    let think = move |_: &AiPlayer, position, _, _: &Stop| {
        sender.try_send(position).unwrap();
        Some(expecting(position))
    };
    (
        TestServer::with(ServerOptions { think: Some(Arc::new(think)), ponder, ..ServerOptions::default() }).await,
        positions,
    )
}

/// Plays the expected reply, then another. Returns the positions that were searched, and those of the AI's turns.
async fn searched_positions(ponder: bool, questions: usize) -> (Vec<Position>, [Position; 3]) {
    let (server, mut searches) = expert_server(ponder).await;
    let ada = server.human("Ada").await;
    let mut turns = ada.turns().await;
    let room = ada.create_with(named("pondered"), ["expert", "me"]).await.room_id;
    let game = ada.start(&room).await.unwrap().game_id;
    let mut positions = [Position::START; 3];
    let mut searched = Vec::new();
    for (turn, as_expected) in [true, false].into_iter().enumerate() {
        let request = turns.turn_request().await;
        assert_eq!(request.ply as usize, 2 * turn + 1);
        // Pondering has started before the reply is made.
        while ponder && searched.len() < turn + 2 {
            searched.push(within(searches.recv()).await.unwrap());
        }
        let theirs = positions[turn].play(end_square(positions[turn], true)).unwrap();
        let reply = end_square(theirs, as_expected);
        positions[turn + 1] = theirs.play(reply).unwrap();
        ada.play(&game, request.ply, &reply.to_string()).await.unwrap();
    }
    while searched.len() < questions {
        searched.push(within(searches.recv()).await.unwrap());
    }
    (searched, positions)
}

#[tokio::test]
async fn an_expected_reply_is_not_searched_again() {
    let (searched, [first, second, third]) = searched_positions(true, 4).await;
    let unexpected = second.play(end_square(second, true)).unwrap();
    let expected = unexpected.play(end_square(unexpected, true)).unwrap();
    assert_eq!(searched, [first, second, expected, third]);
}

#[tokio::test]
async fn nothing_is_pondered_unless_enabled() {
    let (searched, positions) = searched_positions(false, 3).await;
    assert_eq!(searched, positions);
}
