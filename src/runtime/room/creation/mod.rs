//! Creation of rooms.

pub(crate) mod matchmaking;
pub(crate) mod repeated_requests;

use std::{collections::HashSet, sync::Arc, time::Duration};

use super::{message::Snapshot, places::ReservedPlace, rooms::Rooms};
use crate::{
    room::{
        Command, Creation, Credentials, Invitation as SeatInvitation, JoinCode, Occupant, PlayerId, PlayerRef, Policy,
        Rejection, Request, RoomId, SeatSpec, Settings,
    },
    rules::ByColor,
    runtime::{
        limit::{invitation_limit::Invitation, rate_limiter::TooFast, request_cost::RequestCost},
        outcome::RoomError,
        player::player::Player,
    },
    store::{DoneRequest, GameFilter},
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
    /// Creates a room that the player owns. A repeated request returns the room of the first one.
    ///
    /// # Errors
    /// When a limit is reached, or a seat is for an unknown player or AI.
    pub async fn create(
        &self,
        player: &Arc<Player>,
        new: NewRoom,
        request: Option<Request>,
    ) -> Result<Snapshot, RoomError> {
        let lifecycle = &self.host.context.lifecycle;
        lifecycle.require_running()?;
        let (this, player) = (self.clone(), Arc::clone(player));
        let create = async move {
            let is_game_of_ais =
                [&new.seats.black, &new.seats.white].iter().all(|seat| matches!(seat, SeatSpec::Ai(_)));
            // No later event would start it.
            let first = (new.settings.auto_start && is_game_of_ais).then_some(Command::Start(None));
            let create = async || this.create_new(&player, new, first, request).await;
            // Who may not see the room any longer gets no state of it.
            let again = async |done: DoneRequest| this.snapshot(&player, done.room, &Credentials::default()).await;
            this.once(&player, request, create, again).await
        };
        lifecycle.run_to_end(create).await
    }

    /// Creates a room, and executes the player's first command in it: both or neither.
    async fn create_new(
        &self,
        player: &Arc<Player>,
        new: NewRoom,
        first: Option<Command>,
        request: Option<Request>,
    ) -> Result<Snapshot, RoomError> {
        let context = &self.host.context;
        // It may have waited for an earlier request until the shutdown.
        context.lifecycle.require_running()?;
        // The serving node requires this again, if it is another one.
        self.host.require_capacity()?;
        let sides = [&new.seats.black, &new.seats.white].into_iter().filter(|spec| **spec == SeatSpec::Me).count();
        if sides > 1 {
            return Err(RoomError::QuotaSeats);
        }
        let (black, invitation) = self.occupant(player, new.seats.black, Some(&new.settings)).await?;
        let (white, other_invitation) = self.occupant(player, new.seats.white, Some(&new.settings)).await?;
        let seats = ByColor::new(black, white);
        let limits = context.limits.get();
        let id = context.cluster.new_room(self.random.bits()).ok_or(RoomError::Unreachable)?;
        // The same request may be sent to other nodes at the same time: its rooms, of which one will be created, share
        // a place.
        let place = request.map_or(id, |request| RoomId::from_random(request.key));
        let membership = self.reserve_room(player, place).await?;
        // Last: the player leaves no other room for a request that is refused.
        let seat = if sides == 1 { Some(self.free_seat(player, place, request).await?) } else { None };
        let creation = Creation {
            id,
            code: JoinCode::from_random(self.random.bits()),
            owner: player.profile(),
            settings: new.settings,
            policy: Policy {
                grace: limits.presence_grace,
                idle_close: limits.idle_close,
                members: limits.members_per_room,
            },
            seats,
            request,
            meeting: None,
        };
        let created = self.host.create(creation, first).await;
        if created.as_ref().is_err_and(RoomError::is_unknown) {
            seat.into_iter().chain([membership]).for_each(ReservedPlace::let_expire);
        }
        let created = created?;
        invitation.into_iter().chain(other_invitation).for_each(Invitation::keep);
        if player.is_logged_out() {
            // The log-out left only the rooms known then.
            self.leave_after_log_out(player, id).await?;
            return Err(Rejection::RoomClosed.into());
        }
        Ok(created)
    }

    /// The occupant of a seat, and the invitation to be kept when it is sent. The settings of the room decide whether a
    /// player accepts an invitation.
    pub(super) async fn occupant(
        &self,
        player: &Player,
        spec: SeatSpec,
        settings: Option<&Settings>,
    ) -> Result<(Occupant, Option<Invitation>), RoomError> {
        let mut invitation = None;
        let occupant = match spec {
            SeatSpec::Open => Occupant::Open,
            SeatSpec::Me => Occupant::Player(player.profile()),
            SeatSpec::Reserved(guest) => {
                let guest = self.host.player(guest).await?.ok_or(RoomError::PlayerNotFound)?;
                if let Some(settings) = settings.filter(|_| guest.id() != player.id()) {
                    self.require_accepted(player, &guest, settings).await?;
                }
                invitation = admit_invitation(player, &guest)?;
                Occupant::Reserved(guest.profile())
            }
            SeatSpec::Invited(guest, lasts) => {
                let guest = match guest {
                    PlayerRef::Id(id) => self.host.player(id).await?,
                    PlayerRef::Name(name) => self.host.player_named(name).await?,
                };
                let guest = guest.ok_or(RoomError::PlayerNotFound)?;
                if guest.id() == player.id() {
                    return Err(Rejection::WrongPhase(OWN_INVITATION).into());
                }
                if let Some(settings) = settings {
                    self.require_accepted(player, &guest, settings).await?;
                }
                invitation = admit_invitation(player, &guest)?;
                let by_rating = self.own_rating(player.id()).await?;
                let until = self.host.context.clock.now().after(lasts);
                let guest = guest.profile();
                Occupant::Invited(SeatInvitation { guest, by: player.id(), by_rating, until })
            }
            SeatSpec::Ai(ai) => Occupant::Ai(self.ai_seat(&ai)?),
        };
        Ok((occupant, invitation))
    }

    /// Refuses an invitation that the guest does not accept.
    async fn require_accepted(&self, player: &Player, guest: &Player, settings: &Settings) -> Result<(), RoomError> {
        let accepted = guest.availability().unwrap_or_default();
        let refusal = |field| Err(RoomError::InvitationRefused(field, Box::new(accepted)));
        if let Some(field) = accepted.refused_by(player.kind, settings) {
            return refusal(field);
        }
        if accepted.bounds_rating()
            && let Some(field) = accepted.rating_refused_by(self.rating(player.id()).await?)
        {
            return refusal(field);
        }
        if let Some(most) = accepted.games_at_once
            && self.seats_of(guest).await?.len() >= most.into()
        {
            return refusal("games_at_once");
        }
        if let Some(most) = accepted.opponents_a_day {
            player
                .charge(RequestCost::Games(GAMES_A_DAY))
                .map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))?;
            let opponents = self.opponents_of_day(guest).await?;
            if !opponents.contains(&player.id()) && opponents.len() >= most.into() {
                return refusal("opponents_a_day");
            }
        }
        Ok(())
    }

    /// The players whom a player meets now, or has met in games that ended within 24 hours and count as a result, in the
    /// latest [`GAMES_A_DAY`] at most.
    async fn opponents_of_day(&self, player: &Player) -> Result<HashSet<PlayerId>, RoomError> {
        let (id, ended_from) = (player.id(), Some(self.host.context.clock.now().before(DAY)));
        let filter = GameFilter { player: Some(id), ended_from, ..GameFilter::visible_to(id) };
        let games = self.archive.games(filter, None, GAMES_A_DAY).await?.games;
        let players = games.iter().filter(|game| game.end.counts()).flat_map(|game| game.players.iter());
        let mut opponents: HashSet<_> = players.filter_map(|(_, participant)| participant.id()).collect();
        for room in self.seats_of(player).await? {
            if let Ok(snapshot) = self.snapshot_as_admin(room).await {
                opponents.extend(snapshot.room.seats().iter().filter_map(|(_, seat)| seat.occupant.player()));
            }
        }
        opponents.remove(&id);
        Ok(opponents)
    }
}

/// Maximum number of a player's games that are read to count its opponents.
const GAMES_A_DAY: usize = 200;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const OWN_INVITATION: &str = "an invitation is for another player";

/// Counts an invitation; `None` for that of a player to itself.
fn admit_invitation(player: &Player, guest: &Player) -> Result<Option<Invitation>, RoomError> {
    if guest.id() == player.id() {
        return Ok(None);
    }
    let admitted = player.admit_invitation_of(guest);
    admitted.map(Some).map_err(|TooFast { retry_after }| RoomError::TooFast(retry_after))
}
