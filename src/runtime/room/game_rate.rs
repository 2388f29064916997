//! The rate of games that begin, and of requests with ids: the store keeps every game, and what each of these requests
//! did, so without a rate one player could fill the disk.

use std::time::Duration;

use crate::{
    room::{Event, Fact, Issuer, Room},
    runtime::{
        limit::{
            limits::{DAMAGE_RETRY, STORE_RETRY},
            rate_limiter::TooFast,
        },
        outcome::RoomError,
        player::directory::Players,
    },
};

/// Counts a game that begins in `events`, or a request that they carry, for the player whose command it is, or else for
/// who answers for the room; for no player of a meeting, whom the server has seated. Returns the events. Fails with
/// [`RoomError::TooFast`] when a rate is exceeded.
pub(super) fn admit(
    players: &Players,
    room: &Room,
    issuer: Issuer,
    events: Vec<Event>,
) -> Result<Vec<Event>, RoomError> {
    let payer = match issuer {
        Issuer::Player(player) => Some(player),
        Issuer::Admin | Issuer::Server => {
            room.payer().filter(|payer| room.meeting().is_none() || room.seat_of(*payer).is_none())
        }
    };
    let is_counted = |fact: &Fact| matches!(fact, Fact::GameStarted { .. }) || fact.request().is_some();
    if events.iter().any(|event| is_counted(&event.fact))
        && let Some(payer) = payer.and_then(|payer| players.get(payer))
    {
        payer.admit_game().map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
    }
    Ok(events)
}

/// How long to wait before a room retries what it does by itself. The next game of a series may have to wait for the
/// rate.
pub(super) fn retry_after(error: &RoomError) -> Duration {
    match error {
        RoomError::TooFast(retry_after) => *retry_after,
        RoomError::Damaged => DAMAGE_RETRY,
        _ => STORE_RETRY,
    }
}
