//! What spectators see of a room with a delay that is on another node, also when that node has ended.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{Command, GameId},
    runtime::{Player, Runtime},
};
use tokio::time::sleep;

use super::world::World;
use crate::sim::{
    event_log::Log,
    plan::Plan,
    spectators::{Trial, Viewer},
};

/// Number of seeds: with each the room may be on another node.
const SEEDS: u64 = 6;

/// What arrives over links takes at most this long.
const LAG: Duration = Duration::from_secs(4);

/// In this time shards move, and mirrors follow them.
const LONG: Duration = Duration::from_secs(60);

/// Players do not leave and rooms do not close during a test.
fn plan(seed: u64) -> Plan {
    let mut plan = Plan::of(seed);
    let hour = Duration::from_secs(3600);
    (plan.limits.presence_grace, plan.limits.idle_close) = (hour, hour);
    plan
}

/// By the clocks of all three nodes the delay is the same.
async fn start_three(world: &World) -> Vec<Runtime> {
    for _ in 0..3 {
        world.start_with(Some(0)).await;
    }
    sleep(LONG).await;
    world.living().into_iter().map(|process| process.server.runtime.clone()).collect()
}

#[test]
fn spectators_on_other_nodes_see_what_is_older_than_the_delay() {
    for seed in 0..SEEDS {
        World::simulate(&plan(seed), &Arc::new(Log::new()), async |world| {
            let nodes = start_three(&world).await;
            let [first, second] = [&nodes[0], &nodes[1]].map(Clone::clone);
            let runtimes = [first.clone(), second.clone(), first, second];
            let mut trial = Trial::new(seed, LAG);
            trial.act(&runtimes).await;
            let third = world.living().into_iter().nth(2).expect("a node");
            third.kill();
            sleep(LONG).await;
            trial.act(&runtimes).await;
        });
    }
}

/// Number of moves after which the journal lacks the beginning of the game.
const MANY: usize = 40;

#[test]
fn a_node_that_has_shown_less_of_a_room_takes_nothing_back() {
    World::simulate(&plan(0), &Arc::new(Log::new()), async |world| {
        let nodes = start_three(&world).await;
        // The room is on the node of its owner.
        let runtimes = [2, 2, 0, 1].map(|node: usize| nodes[node].clone());
        let mut trial = Trial::new(0, LAG);
        trial.delay = 3 * LONG;
        let players = trial.players(&runtimes).await;
        let room = trial.open_room(&runtimes, &players).await;
        let rooms = &runtimes[0].rooms;
        rooms.command(&players[1], room, Command::SetReady(true)).await.expect("ready");
        let game = rooms.command(&players[0], room, Command::Start(None)).await.expect("a game").game.expect("a game");
        let cleo = Viewer::new(&runtimes[2], &players[2], room).await;
        let dan = Viewer::new(&runtimes[3], &players[3], room).await;
        let shown = || [&cleo, &dan].map(|viewer| viewer.sees().game().is_some());
        for _ in 0..8 {
            play(&runtimes[0], &players, game, 1).await;
            sleep(LONG / 2).await;
        }
        assert_eq!(shown(), [true; 2]);
        play(&runtimes[0], &players, game, MANY).await;
        world.living().into_iter().nth(2).expect("a node").kill();
        sleep(LONG).await;
        let shown = shown();
        assert!(shown != [true; 2], "one of them has the room now, and shows what it has read of it");
        assert!(shown != [false; 2], "the other one still shows what it has shown");
    });
}

/// Plays this number of moves, each the first legal one.
async fn play(runtime: &Runtime, players: &[Arc<Player>], game: GameId, moves: usize) {
    for _ in 0..moves {
        let room = runtime.rooms.snapshot_as_admin(game.room).await.expect("a room").room;
        let running = room.running().expect("a game");
        let side = running.turn().expect("a turn");
        let mover = players.iter().find(|player| room.seat_of(player.id()) == Some(side)).expect("a player");
        let square = running.position.legal_moves().into_iter().next().expect("a move");
        runtime.rooms.play(mover, game, running.ply(), square).await.expect("a move");
    }
}
