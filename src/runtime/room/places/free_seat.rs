//! A free seat for a player who starts or joins a game: the player leaves rooms in which it plays no game.

use std::sync::Arc;

use super::{Full, ReservedPlace};
use crate::{
    room::{Command, Issuer, Phase, Rejection, Request, RoomId},
    runtime::{
        limit::{rate_limiter::TooFast, request_cost::RequestCost},
        outcome::RoomError,
        player::{player::Player, quota::Place},
        room::rooms::Rooms,
    },
};

impl Rooms {
    /// Reserves a seat for a command that takes it, as [`Rooms::free_seat`].
    pub(in crate::runtime::room) async fn seat_to_take(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        command: &Command,
    ) -> Result<ReservedPlace, RoomError> {
        if let Ok(seat) = self.reserve_seat(player, room).await? {
            return Ok(seat);
        }
        // The player leaves no other room for a command that is refused anyway.
        let now = self.host.context.clock.now();
        self.snapshot_as_admin(room).await?.room.decide(now, Issuer::Player(player.id()), command.clone())?;
        let request = match command {
            Command::JoinGame(_, _, request) => *request,
            _ => None,
        };
        self.free_seat(player, room, request).await
    }

    /// Reserves a seat of a room. A player at its limit leaves as many rooms in which no game or series runs as needed:
    /// first those with a finished game, of these the one without events for longest. Fails for a request that is done.
    ///
    /// # Errors
    /// [`RoomError::QuotaSeatsPlaying`] when games run in all of these rooms, [`RoomError::QuotaSeats`] when the
    /// player's address has no free seat.
    pub(in crate::runtime) async fn free_seat(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        request: Option<Request>,
    ) -> Result<ReservedPlace, RoomError> {
        match self.reserve_seat(player, room).await? {
            Ok(seat) => return Ok(seat),
            Err(Full::Address) => return Err(RoomError::QuotaSeats),
            Err(Full::Player) => {}
        }
        let held = self.seats_of(player).await?;
        let cost = RequestCost::Snapshots(held.len());
        player.charge(cost).map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
        if self.done(request).await?.is_some() {
            // At another node, meanwhile: one of these rooms may be that of this request.
            return Err(RoomError::Busy);
        }
        let (mut idle, mut playing) = (Vec::new(), None);
        for held in held {
            // A room that cannot be read now cannot be left either.
            let Ok(snapshot) = self.snapshot_as_admin(held).await else { continue };
            match snapshot.room.phase() {
                Phase::Playing => playing = Some(held),
                Phase::Lobby | Phase::Closed => {
                    idle.push((snapshot.room.game().is_none(), snapshot.room.last_activity(), held));
                }
            }
        }
        idle.sort_unstable();
        for (_, _, held) in idle {
            if self.vacate(player, held).await == Err(Rejection::RoomInGame.into()) {
                // A game has started since.
                playing = Some(held);
            }
            match self.reserve_seat(player, room).await? {
                Ok(seat) => return Ok(seat),
                Err(Full::Address) => return Err(RoomError::QuotaSeats),
                Err(Full::Player) => {}
            }
        }
        Err(playing.map_or(RoomError::QuotaSeats, RoomError::QuotaSeatsPlaying))
    }

    /// Whether the player can take a seat of a room without leaving another one.
    pub(in crate::runtime::room) async fn has_free_seat(
        &self,
        player: &Player,
        room: RoomId,
    ) -> Result<bool, RoomError> {
        Ok(self.reserve_seat(player, room).await?.is_ok())
    }

    async fn vacate(&self, player: &Player, room: RoomId) -> Result<(), RoomError> {
        self.host.command(room, Issuer::Player(player.id()), Command::Vacate).await.map(drop)
    }

    /// Reserves a seat of a room, unless the player or its address is at its limit.
    async fn reserve_seat(&self, player: &Player, room: RoomId) -> Result<Result<ReservedPlace, Full>, RoomError> {
        self.reserve(player, Place::Seat, room, player.seat_limit.into()).await
    }
}
