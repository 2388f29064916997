//! Creation of rooms.

use std::sync::Arc;

use super::{actor::Origin, message::Snapshot, rooms::Rooms};
use crate::{
    room::{
        Command, Creation, Event, Fact, Issuer, JoinCode, Occupant, Policy, Rejection, Room, RoomId, SeatSpec, Seq,
        Settings,
    },
    rules::{ByColor, Color},
    runtime::{
        limit::limits::STORE_RETRY,
        outcome::RoomError,
        player::{notice::Notice, player::Player},
    },
    store::{Append, AppendError},
};

/// A room to be created.
#[derive(Clone, Debug)]
pub struct NewRoom {
    /// Valid settings.
    pub settings: Settings,
    /// The occupants of the seats.
    pub seats: ByColor<SeatSpec>,
}

impl Rooms {
    /// Creates a room that the player owns. A repeated request id returns the room of the first request.
    ///
    /// # Errors
    /// When a limit is reached, or a seat is for an unknown player or AI.
    pub async fn create(
        &self,
        player: &Arc<Player>,
        new: NewRoom,
        request: Option<String>,
    ) -> Result<Snapshot, RoomError> {
        let lifecycle = &self.host.context.lifecycle;
        lifecycle.require_running()?;
        let (this, player) = (self.clone(), Arc::clone(player));
        let create = async move { this.once(&player, request, async || this.create_once(&player, new).await).await };
        lifecycle.run_to_end(create).await
    }

    /// Runs a request that creates a room, unless an earlier one with the same id has.
    pub(super) async fn once(
        &self,
        player: &Arc<Player>,
        request: Option<String>,
        create: impl AsyncFnOnce() -> Result<RoomId, RoomError>,
    ) -> Result<Snapshot, RoomError> {
        let room = match request {
            None => create().await?,
            Some(request) => player.rooms_created.once(request, create).await?.0,
        };
        self.snapshot_as_admin(room).await
    }

    pub(super) async fn create_once(&self, player: &Arc<Player>, new: NewRoom) -> Result<RoomId, RoomError> {
        let context = &self.host.context;
        // It may have waited for an earlier request until the shutdown.
        context.lifecycle.require_running()?;
        if context.registry.count() >= context.limits.get().rooms {
            return Err(RoomError::QuotaRooms("the server has as many as it can"));
        }
        let sides = [&new.seats.black, &new.seats.white].into_iter().filter(|spec| **spec == SeatSpec::Me).count();
        if sides > 1 {
            return Err(RoomError::QuotaSeats);
        }
        let seats = ByColor::new(self.occupant(player, new.seats.black)?, self.occupant(player, new.seats.white)?);
        let id = RoomId::from_random(self.random.bits());
        let limits = context.limits.get();
        let _membership = self.reserve_room(player, id)?;
        // Last, so that no room is left for a request that is refused.
        let _seat = if sides == 1 { Some(self.free_seat(player, id).await?) } else { None };
        let creation = Creation {
            id,
            code: JoinCode::from_random(self.random.bits()),
            owner: player.profile.clone(),
            settings: new.settings,
            policy: Policy {
                grace: limits.presence_grace,
                idle_close: limits.idle_close,
                members: limits.members_per_room,
            },
            seats: seats.clone(),
        };
        let starts = creation.settings.auto_start && seats.iter().all(|(_, seat)| matches!(seat, Occupant::Ai(_)));
        self.store_and_start(creation).await?;
        if starts && let Ok(room) = self.host.room(id).await {
            // No later event would start it. If the store fails now, the owner can.
            let started = room.command(Issuer::Player(player.id()), Command::Start).await;
            if let Err(error @ RoomError::TooFast(_)) = started {
                // If this fails, `GetMe` lists the room.
                let _ = self.command(player, id, Command::Leave).await;
                return Err(error);
            }
        }
        if player.is_logged_out() {
            // The log-out left only the rooms known then.
            self.leave_after_log_out(player, id).await?;
            return Err(Rejection::RoomClosed.into());
        }
        for (seat, occupant) in seats.iter() {
            if let Occupant::Reserved(_) = occupant {
                self.invite(id, seat).await;
            }
        }
        Ok(id)
    }

    /// Writes a new room to the journal, then starts its actor.
    async fn store_and_start(&self, creation: Creation) -> Result<(), RoomError> {
        let context = &self.host.context;
        let at = context.clock.now();
        let id = creation.id;
        let room = Room::new(creation.clone(), at);
        let created = Event { seq: Seq(1), at, fact: Fact::Created(Box::new(creation)) };
        let append = Append { room: id, expected: Seq(0), events: std::slice::from_ref(&created), games: &[] };
        let write = context.stalls.begin_write();
        let appended = context.journal.append(append).await;
        write.end(!appended.as_ref().is_err_and(AppendError::is_fault));
        match appended {
            Ok(()) => {
                self.host.start(room, Origin::New);
                Ok(())
            }
            Err(error @ (AppendError::Unavailable(_) | AppendError::Conflict(_))) => {
                tracing::error!(room = %id, %error, "a room could not be created");
                Err(RoomError::StoreUnavailable)
            }
            Err(AppendError::Fenced) => Err(RoomError::Draining),
            Err(error @ AppendError::Damaged(_)) => {
                tracing::error!(room = %id, %error, "a room could not be created");
                Err(RoomError::Damaged)
            }
            Err(error @ AppendError::Unknown(_)) => {
                tracing::error!(room = %id, %error, "whether a room was created is looked up");
                self.look_up(id).await
            }
        }
    }

    /// Starts a room if it was written after all. Retries until the store answers.
    async fn look_up(&self, id: RoomId) -> Result<(), RoomError> {
        loop {
            match self.host.room(id).await {
                Ok(_) => return Ok(()),
                Err(RoomError::Rejected(_) | RoomError::Damaged) => return Err(RoomError::StoreUnavailable),
                Err(_) => tokio::select! {
                    biased;
                    () = self.host.context.lifecycle.stop.cancelled() => return Err(RoomError::Draining),
                    () = tokio::time::sleep(STORE_RETRY) => {}
                },
            }
        }
    }

    /// Sends an invitation to the guest of a reserved seat.
    async fn invite(&self, room: RoomId, seat: Color) {
        let Some(handle) = self.host.context.registry.live(room) else { return };
        let Ok(snapshot) = handle.snapshot().await else { return };
        let room = &snapshot.room;
        if let Occupant::Reserved(guest) = &room.seats()[seat].occupant
            && let Some(guest) = self.host.context.players.get(guest.id)
        {
            let by = room.owner().cloned();
            guest.inbox.send(Notice::Invited { room: room.id(), seat, code: room.code(), by });
        }
    }

    pub(super) fn occupant(&self, player: &Player, spec: SeatSpec) -> Result<Occupant, RoomError> {
        Ok(match spec {
            SeatSpec::Open => Occupant::Open,
            SeatSpec::Me => Occupant::Player(player.profile.clone()),
            SeatSpec::Reserved(guest) => {
                let guest = self.host.context.players.get(guest).ok_or(RoomError::PlayerNotFound)?;
                Occupant::Reserved(guest.profile.clone())
            }
            SeatSpec::Ai(ai) => Occupant::Ai(self.ai_seat(&ai)?),
        })
    }
}
