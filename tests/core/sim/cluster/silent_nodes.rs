//! A node that others do not reach, that has lost the database, or whose clock is wrong: what becomes of its players
//! and rooms.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{EndReason, GameId, Room, RoomId, Timestamp},
    runtime::{Opponent, Player, ProblemKind, StreamEnd, Token, Turns},
};
use tokio::time::{sleep, timeout};

use super::{
    connection::StoreFault,
    database::LEASE,
    world::{SETTLED, World, log_in, two_nodes},
};
use crate::sim::{event_log::Log, plan::Plan, server::SimServer};

/// Much longer than the grace of absent players.
const LONG: Duration = Duration::from_secs(120);

const SECOND: Duration = Duration::from_secs(1);

/// Within this time news arrive, and a node renews its lease.
const SOON: Duration = Duration::from_secs(8);

/// The grace is short, and unread streams stay open.
fn plan() -> Plan {
    let mut plan = Plan::of(0);
    (plan.limits.presence_grace, plan.limits.reader_patience) = (Duration::from_secs(5), 10 * LONG);
    plan
}

/// Three nodes. A player is at the first, another one at the second, in a game that the first one has.
struct SharedGame {
    nodes: [Arc<SimServer>; 2],
    ada: Arc<Player>,
    bea: Arc<Player>,
    token: Token,
    turns: [Turns; 2],
    room: RoomId,
}

impl SharedGame {
    async fn start(world: &World) -> Self {
        let nodes = two_nodes(world).await;
        world.start().await;
        sleep(SETTLED).await;
        let ((ada, _), (bea, token)) = (log_in(&nodes[0], "Ada").await, log_in(&nodes[1], "Bea").await);
        let turns = [turns(&nodes[0], &ada).await, turns(&nodes[1], &bea).await];
        let mut rooms = Vec::new();
        for (node, player) in [(&nodes[0], &ada), (&nodes[1], &bea)] {
            let started = node.runtime.rooms.quick_start(player, Opponent::Anyone, None, None, None).await;
            rooms.push(started.expect("a room").room.id());
        }
        assert_eq!(rooms[0], rooms[1]);
        Self { nodes, ada, bea, token, turns, room: rooms[0] }
    }

    async fn snapshot(&self) -> Arc<Room> {
        self.nodes[0].runtime.rooms.snapshot_as_admin(self.room).await.expect("a room").room
    }

    /// When the flag of the player to move falls.
    async fn flag(&self) -> Option<Timestamp> {
        self.snapshot().await.flag_falls()
    }

    /// Waits until Bea is to move, for which Ada moves if needed. Then as `flag`.
    async fn flag_of_bea(&self) -> Timestamp {
        let room = self.snapshot().await;
        let game = room.running().expect("a game");
        let (turn, ply, position) = (game.turn().expect("a turn"), game.ply(), game.position);
        if room.seats()[turn].occupant.player() == Some(self.ada.id()) {
            let square = position.legal_moves().into_iter().next().expect("a move");
            let id = GameId { room: self.room, number: game.number };
            self.nodes[0].runtime.rooms.play(&self.ada, id, ply, square).await.expect("a move");
        }
        self.flag().await.expect("a clock runs")
    }

    async fn is_bea_present(&self) -> bool {
        self.snapshot().await.member(self.bea.id()).is_some_and(|bea| bea.absent_since.is_none())
    }

    /// Why Bea's stream of turns has ended.
    async fn end(&mut self) -> StreamEnd {
        loop {
            if let Err(end) = self.turns[1].next().await {
                return end;
            }
        }
    }
}

async fn turns(node: &SimServer, player: &Arc<Player>) -> Turns {
    node.runtime.streams.turns(player).await.expect("a stream")
}

#[test]
fn players_of_a_node_that_cannot_be_reached_are_not_absent() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let mut game = SharedGame::start(&world).await;
        // What the second node says does not arrive.
        let cut = world.wire.cut_for(&[(1, 0)], LONG);
        let meanwhile = async {
            sleep(LONG / 2).await;
            assert!(game.is_bea_present().await);
            let (never, _) = log_in(&game.nodes[1], "Eve").await;
            game.turns[1] = turns(&game.nodes[1], &never).await;
            sleep(LONG / 4).await;
            assert!(game.is_bea_present().await, "only the second node knows that she is gone");
        };
        tokio::join!(cut, meanwhile);
        sleep(SOON).await;
        assert!(!game.is_bea_present().await, "it has said so");
    });
}

/// The room is at the first node.
#[test]
fn a_game_lost_on_time_is_a_problem_at_the_node_that_has_the_stream() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let game = SharedGame::start(&world).await;
        game.flag_of_bea().await;
        sleep(LONG).await;
        let problems = game.bea.problems();
        let lost: Vec<_> = problems.iter().map(|problem| (problem.kind, problem.game.map(|game| game.room))).collect();
        assert_eq!(lost, [(ProblemKind::Lost(EndReason::Timeout), Some(game.room))]);
        assert_eq!(game.ada.problems(), []);
    });
}

/// Bea is to move, and she and the room's node do not reach each other for a time, in both directions or in one.
#[test]
fn the_clock_of_a_player_who_cannot_be_reached_is_held() {
    for (ways, seconds, held) in
        [(vec![(0, 1), (1, 0)], 20, 20), (vec![(0, 1)], 20, 20), (vec![(1, 0)], 20, 20), (vec![(0, 1)], 50, 30)]
    {
        World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
            let game = SharedGame::start(&world).await;
            let before = game.flag_of_bea().await;
            world.wire.cut_for(&ways, Duration::from_secs(seconds)).await;
            sleep(SOON).await;
            let after = game.flag().await.expect("the game goes on");
            let credit = after.since(before);
            let held = Duration::from_secs(held);
            assert!((held - SECOND..held + SECOND).contains(&credit), "{ways:?} {credit:?}");
        });
    }
}

/// The room moves to her node while its first node reaches no other.
#[test]
fn the_clock_of_a_player_who_could_not_be_reached_is_credited_before_the_room_moves() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let game = SharedGame::start(&world).await;
        let before = game.flag_of_bea().await;
        world.wire.cut_for(&[(0, 1), (1, 0), (0, 2), (2, 0)], 2 * SOON).await;
        sleep(SOON).await;
        let credit = game.flag().await.expect("the game goes on").since(before);
        assert!((3 * SECOND..SOON).contains(&credit), "{credit:?}");
    });
}

#[test]
fn of_two_nodes_that_do_not_reach_each_other_one_with_a_wrong_clock_does_not_count() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let wrong = world.start_with(Some(8_000_000)).await;
        world.start().await;
        let cut = world.wire.cut_for(&[(0, 1), (1, 0)], LONG);
        let meanwhile = async {
            sleep(LONG / 2).await;
            for node in world.living() {
                assert_eq!(is_in_service(&node.server), node.number != wrong);
            }
        };
        tokio::join!(cut, meanwhile);
    });
}

#[test]
fn players_of_a_node_that_has_ended_are_absent() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let game = SharedGame::start(&world).await;
        world.living()[1].kill();
        assert!(game.is_bea_present().await);
        sleep(LEASE + SOON).await;
        assert!(!game.is_bea_present().await);
    });
}

#[test]
fn a_node_that_has_lost_the_database_sends_its_players_to_the_others() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let mut game = SharedGame::start(&world).await;
        let connection = Arc::clone(&world.living()[1].connection);
        let lost = connection.fail_for(StoreFault::Cut, LONG);
        let meanwhile = async {
            let end = timeout(LEASE, game.end()).await.expect("the stream ends with the lease");
            assert_eq!(end, StreamEnd::OutOfService);
            assert!(!*game.nodes[1].runtime.in_service().borrow());
            assert_eq!(turns(&game.nodes[1], &game.bea).await.next().await, Err(StreamEnd::OutOfService));
            // She goes on at the other node.
            let elsewhere = game.nodes[0].runtime.sessions.bearer(&game.token).await.expect("a store").expect("Bea");
            game.turns[1] = turns(&game.nodes[0], &elsewhere).await;
            sleep(LONG / 2).await;
            assert!(game.is_bea_present().await);
        };
        tokio::join!(lost, meanwhile);
        sleep(SOON).await;
        assert!(*game.nodes[1].runtime.in_service().borrow(), "it has rejoined");
        let back = game.nodes[1].runtime.sessions.bearer(&game.token).await.expect("a store").expect("Bea");
        let mut turns = turns(&game.nodes[1], &back).await;
        let ended = timeout(LEASE, async { while turns.next().await.is_ok() {} }).await;
        assert!(ended.is_err(), "the stream stays open");
    });
}

fn is_in_service(node: &SimServer) -> bool {
    *node.runtime.in_service().borrow()
}

#[test]
fn a_node_that_most_others_do_not_reach_has_no_rooms_and_no_clients() {
    for ways in [[(1, 0), (2, 0)], [(0, 1), (0, 2)]] {
        World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
            let mut game = SharedGame::start(&world).await;
            let node = world.living()[0].connection.node();
            let cut = world.wire.cut_for(&ways, LONG);
            let meanwhile = async {
                timeout(LONG, async { while game.turns[0].next().await.is_ok() {} }).await.expect("its streams end");
                sleep(SOON).await;
                assert!(!is_in_service(&game.nodes[0]) && world.database.shards_of(node) == 0);
                assert!(is_in_service(&game.nodes[1]));
                game.nodes[1].runtime.rooms.snapshot_as_admin(game.room).await.expect("the room goes on elsewhere");
            };
            tokio::join!(cut, meanwhile);
            sleep(SOON).await;
            assert!(is_in_service(&game.nodes[0]) && world.database.shards_of(node) > 0);
        });
    }
}

#[test]
fn a_node_whose_clock_is_wrong_has_no_rooms_and_no_clients() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let nodes = two_nodes(&world).await;
        for ahead in [-8_000_000, 8_000_000] {
            let process = world.start_with(Some(ahead)).await;
            sleep(SOON).await;
            let wrong = world.living().into_iter().find(|started| started.number == process).expect("it runs");
            assert!(!is_in_service(&wrong.server) && world.database.shards_of(wrong.connection.node()) == 0);
            assert!(nodes.iter().all(|node| is_in_service(node)));
        }
    });
}

#[test]
fn a_short_cut_costs_no_node_its_clients() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let game = SharedGame::start(&world).await;
        for _ in 0..10 {
            world.wire.cut_for(&[(1, 0), (2, 0)], Duration::from_millis(1_500)).await;
            assert!(game.nodes.iter().all(|node| is_in_service(node)));
            sleep(Duration::from_millis(1_500)).await;
        }
    });
}

#[test]
fn of_two_nodes_that_do_not_reach_each_other_the_first_goes_on() {
    World::simulate(&plan(), &Arc::new(Log::new()), async |world| {
        let nodes = two_nodes(&world).await;
        let ids = [0, 1].map(|process: usize| world.living()[process].connection.node());
        let cut = world.wire.cut_for(&[(0, 1), (1, 0)], LONG);
        let meanwhile = async {
            sleep(LONG / 2).await;
            assert!(is_in_service(&nodes[0]) && !is_in_service(&nodes[1]));
            assert_eq!(ids.map(|id| world.database.shards_of(id)), [4_096, 0]);
        };
        tokio::join!(cut, meanwhile);
        sleep(2 * SOON).await;
        assert!(nodes.iter().all(|node| is_in_service(node)));
        assert_eq!(ids.map(|id| world.database.shards_of(id)), [2_048, 2_048]);
    });
}
