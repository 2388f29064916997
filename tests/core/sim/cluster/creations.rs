//! Rooms that a node creates at another one.

use std::{sync::Arc, time::Duration};

use reversi::{
    room::{Command, Rejection, RoomName, SeatSpec, Settings},
    rules::ByColor,
    runtime::{NewRoom, RoomError},
};
use tokio::time::sleep;

use super::{
    connection::StoreFault,
    world::{World, log_in, two_nodes},
};
use crate::sim::{event_log::Log, plan::Plan};

const SECOND: Duration = Duration::from_secs(1);

/// The answer to the first ask is lost, and the room closes before it is asked for again.
#[test]
fn a_room_that_is_asked_for_again_after_it_has_closed_is_not_created_again() {
    World::simulate(&Plan::of(0), &Arc::new(Log::new()), async |world| {
        let [first, second] = two_nodes(&world).await;
        let [owner, asker] = <[_; 2]>::try_from(world.living()).ok().expect("two nodes");
        asker.drain();
        while !asker.is_drained() {
            sleep(SECOND).await;
        }
        let (ada, _) = log_in(&second, "Ada").await;
        let settings = Settings::named(RoomName::parse("room").expect("a name"));
        let seats = ByColor::new(SeatSpec::Open, SeatSpec::Open);
        let create = second.runtime.rooms.create(&ada, NewRoom { settings, seats }, None);
        let lost = world.wire.hold(asker.number, async {
            sleep(2 * SECOND).await;
            let rooms: Vec<_> = world.database.read(|tables| tables.rooms.keys().copied().collect());
            let [room] = rooms[..] else { panic!("{rooms:?}") };
            first.runtime.rooms.command_as_admin(room, Command::Close).await.expect("it closes");
            world.wire.cut_for(&[(asker.number, owner.number)], SECOND).await;
        });
        // The ask has arrived when all is held.
        let held = async {
            sleep(SECOND).await;
            lost.await;
        };
        let (created, (), ()) = tokio::join!(create, held, owner.connection.fail_for(StoreFault::Held, 2 * SECOND));
        assert!(matches!(created, Err(RoomError::Rejected(Rejection::RoomClosed))), "{created:?}");
        assert!(world.database.read(|tables| tables.rooms.is_empty()));
    });
}
