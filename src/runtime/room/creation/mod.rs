//! Creation of rooms.

pub(crate) mod quick_start;
mod requests;

use std::sync::Arc;

use requests::NewRoomId;

use super::{message::Snapshot, places::ReservedPlace, rooms::Rooms};
use crate::{
    room::{Command, Creation, Issuer, JoinCode, Occupant, Policy, Rejection, SeatSpec, Settings},
    rules::ByColor,
    runtime::{
        limit::{invitation_limit::Invitation, rate_limiter::TooFast},
        outcome::RoomError,
        player::player::Player,
    },
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
        let create = async move {
            this.create_by_request(&player, request, async |new_id| this.create_as(&player, &new_id, new).await).await
        };
        lifecycle.run_to_end(create).await
    }

    /// Creates a room with a given id, unless the same request has.
    async fn create_as(&self, player: &Arc<Player>, new_id: &NewRoomId, new: NewRoom) -> Result<Snapshot, RoomError> {
        let id = new_id.id;
        if new_id.is_created {
            return self.snapshot_as_admin(id).await;
        }
        let context = &self.host.context;
        // It may have waited for an earlier request until the shutdown.
        context.lifecycle.require_running()?;
        // The serving node requires this again, if it is another one.
        self.host.require_capacity()?;
        let sides = [&new.seats.black, &new.seats.white].into_iter().filter(|spec| **spec == SeatSpec::Me).count();
        if sides > 1 {
            return Err(RoomError::QuotaSeats);
        }
        let (black, invitation) = self.occupant(player, new.seats.black).await?;
        let (white, other_invitation) = self.occupant(player, new.seats.white).await?;
        let seats = ByColor::new(black, white);
        let limits = context.limits.get();
        let membership = self.reserve_room(player, id).await?;
        // Last: the player leaves no other room for a request that is refused.
        let seat = if sides == 1 { Some(self.free_seat(player, id).await?) } else { None };
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
            seats,
        };
        let starts =
            creation.settings.auto_start && creation.seats.iter().all(|(_, seat)| matches!(seat, Occupant::Ai(_)));
        let created = self.host.create(creation).await;
        if created.as_ref().is_err_and(RoomError::is_unknown) {
            seat.into_iter().chain([membership]).for_each(ReservedPlace::let_expire);
        }
        let mut created = created?;
        invitation.into_iter().chain(other_invitation).for_each(Invitation::keep);
        if starts && !self.has_game(new_id).await? {
            // No later event would start it. If the store fails now, the owner can.
            let started = self.host.command(id, Issuer::Player(player.id()), Command::Start).await;
            if let Err(error @ RoomError::TooFast(_)) = started {
                self.undo_creation(player, new_id).await;
                return Err(error);
            }
            created = self.snapshot_as_admin(id).await?;
        }
        if player.is_logged_out() {
            // The log-out left only the rooms known then.
            self.leave_after_log_out(player, id).await?;
            return Err(Rejection::RoomClosed.into());
        }
        Ok(created)
    }

    /// The occupant of a seat, and the invitation to be kept when it is sent.
    pub(super) async fn occupant(
        &self,
        player: &Player,
        spec: SeatSpec,
    ) -> Result<(Occupant, Option<Invitation>), RoomError> {
        let mut invitation = None;
        let occupant = match spec {
            SeatSpec::Open => Occupant::Open,
            SeatSpec::Me => Occupant::Player(player.profile.clone()),
            SeatSpec::Reserved(guest) => {
                let guest = self.host.player(guest).await?.ok_or(RoomError::PlayerNotFound)?;
                if guest.id() != player.id() {
                    let admitted = player.admit_invitation_of(&guest);
                    invitation = Some(admitted.map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?);
                }
                Occupant::Reserved(guest.profile.clone())
            }
            SeatSpec::Ai(ai) => Occupant::Ai(self.ai_seat(&ai)?),
        };
        Ok((occupant, invitation))
    }
}
