//! The owner of a room, who stands in while that one is away, and the co-owners.

use reversi_engine::rules::Color;

use super::{Draft, Issuer, Phase, PlayerId, Rejection, Room};
use crate::{event::Fact, rejection, seat::PlayerKind, state::Member};

impl Room {
    /// Maximum number of co-owners.
    pub const MAX_CO_OWNERS: usize = 8;

    /// Whether the room is this member's, who does not only stand in for its owner.
    #[must_use]
    pub fn is_owned_by(&self, player: PlayerId) -> bool {
        self.owner().is_some_and(|owner| owner.id == player) && self.absent_owner.is_none()
    }

    /// Whether a player may do what an owner may, but for what is the owner's alone: to transfer the room, to name
    /// co-owners and to remove them.
    #[must_use]
    pub fn may_manage(&self, player: PlayerId) -> bool {
        let owns = player == self.owner && self.meeting.is_none();
        self.member(player).is_some() && (owns || self.co_owners.contains(&player))
    }

    /// The co-owners.
    pub fn co_owners(&self) -> impl ExactSizeIterator<Item = PlayerId> {
        self.co_owners.iter().copied()
    }

    /// The player who answers for what the room does by itself: the owner, or else the first member. For a meeting a
    /// seated player; for one of AIs the organiser, who is no member.
    #[must_use]
    pub fn payer(&self) -> Option<PlayerId> {
        if self.meeting.is_some() {
            let seated = Color::ALL.into_iter().find_map(|side| self.seats[side].occupant.player());
            return seated.or(Some(self.owner));
        }
        let first = || self.members.first().map(|member| member.profile.id);
        self.owner().map(|owner| owner.id).or_else(first)
    }

    /// Whether the room is this player's, who is away: it may come back without code and password, cannot be banned, and
    /// gets the room back.
    pub(crate) fn is_absent_owner(&self, player: PlayerId) -> bool {
        let is_away = self.owner == player && self.member(player).is_none() && self.meeting.is_none();
        self.absent_owner == Some(player) || is_away
    }

    /// The next owner, if that changes now: the owner who has returned, or the member who stands in for an absent one.
    /// The room of a meeting stays without one.
    pub(crate) fn next_owner(&self) -> Option<PlayerId> {
        if self.meeting.is_some() {
            return None;
        }
        let is_present = |player: &PlayerId| self.member(*player).is_some_and(|member| member.absent_since.is_none());
        if let Some(back) = self.absent_owner.filter(is_present) {
            return (!self.owner_plays_rated()).then_some(back);
        }
        if self.phase == Phase::Closed || self.member(self.owner).is_some() {
            return None;
        }
        self.stand_in().or_else(|| self.heirs().next().map(|member| member.profile.id))
    }

    /// The first present co-owner, else the first present seated person, else the first present member; never a player
    /// of a running series.
    pub(crate) fn stand_in(&self) -> Option<PlayerId> {
        let present = || self.heirs().filter(|member| member.absent_since.is_none());
        let co_owner = |member: &&Member| self.co_owners.contains(&member.profile.id);
        let seated_person =
            |member: &&Member| member.profile.kind == PlayerKind::Human && self.seat_of(member.profile.id).is_some();
        let first = present().find(co_owner).or_else(|| present().find(seated_person)).or_else(|| present().next());
        first.map(|member| member.profile.id)
    }

    /// The members who may stand in for the owner.
    fn heirs(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| {
            let player = member.profile.id;
            player != self.owner && (self.phase != Phase::Playing || self.seat_of(player).is_none())
        })
    }

    /// Whether the owner or a co-owner plays a running rated game. Then neither may end it.
    pub(super) fn manager_plays_rated(&self) -> bool {
        let seated = || self.seats.iter().filter_map(|(_, seat)| seat.occupant.player());
        self.settings.rated && self.running().is_some() && seated().any(|player| self.may_manage(player))
    }

    fn owner_plays_rated(&self) -> bool {
        self.settings.rated && self.running().is_some() && self.seat_of(self.owner).is_some()
    }
}

impl Draft {
    /// A member who stands in for the owner is none.
    fn require_owner(&self, issuer: Issuer) -> Result<(), Rejection> {
        match issuer {
            Issuer::Player(player) if self.room.is_owned_by(player) => Ok(()),
            Issuer::Player(_) | Issuer::Admin | Issuer::Server => Err(Rejection::NotOwner),
        }
    }

    /// Allows the owner and the co-owners, but not a member who only stands in. For what ends a game, a series or the
    /// room, or keeps players out.
    ///
    /// # Errors
    /// [`Rejection::NotOwner`].
    pub(super) fn require_trusted(&self, issuer: Issuer) -> Result<(), Rejection> {
        self.require_manager(issuer)?;
        let is_co_owner = matches!(issuer, Issuer::Player(player) if self.room.co_owners.contains(&player));
        if is_co_owner { Ok(()) } else { self.require_owner(issuer) }
    }

    pub(super) fn require_manager(&self, issuer: Issuer) -> Result<(), Rejection> {
        match issuer {
            Issuer::Player(player) if self.room.may_manage(player) => Ok(()),
            Issuer::Player(_) | Issuer::Admin | Issuer::Server => Err(Rejection::NotOwner),
        }
    }

    /// Allows the owner and the co-owners to remove a member, but not the owner; only the owner removes a co-owner.
    ///
    /// # Errors
    /// [`Rejection::NotOwner`], or [`Rejection::WrongPhase`] if the member is the owner, present or absent.
    pub(super) fn require_right_to_remove(&self, issuer: Issuer, player: PlayerId) -> Result<(), Rejection> {
        self.require_manager(issuer)?;
        if player == self.room.owner || self.room.is_absent_owner(player) {
            return Err(Rejection::WrongPhase(rejection::OWNER_STAYS));
        }
        if self.room.co_owners.contains(&player) { self.require_owner(issuer) } else { Ok(()) }
    }

    pub(super) fn transfer(&mut self, issuer: Issuer, player: PlayerId) -> Result<(), Rejection> {
        self.require_owner(issuer)?;
        if self.room.member(player).is_none() {
            return Err(Rejection::PlayerNotFound);
        }
        // The new owner could end the game.
        if self.room.manager_plays_rated() {
            return Err(Rejection::RoomInGame);
        }
        if player != self.room.owner {
            self.emit(Fact::OwnerChanged { owner: player, stands_in_for: None });
        }
        Ok(())
    }

    pub(super) fn set_co_owner(&mut self, issuer: Issuer, player: PlayerId, named: bool) -> Result<(), Rejection> {
        self.require_owner(issuer)?;
        if self.room.co_owners.contains(&player) == named || player == self.room.owner {
            return Ok(());
        }
        // A former co-owner who plays could no longer keep others from ending the game.
        if !named && self.room.manager_plays_rated() {
            return Err(Rejection::RoomInGame);
        }
        if named && self.room.member(player).is_none() {
            return Err(Rejection::PlayerNotFound);
        }
        if named && self.room.co_owners.len() >= Room::MAX_CO_OWNERS {
            return Err(Rejection::WrongPhase(rejection::CO_OWNERS_FULL));
        }
        self.emit(Fact::CoOwnerChanged { player, named });
        Ok(())
    }

    /// Call after a change of members or of their presence.
    pub(super) fn follow_owner(&mut self) {
        if let Some(owner) = self.room.next_owner() {
            self.change_owner(owner);
        }
    }

    /// Sets the owner. The former owner gets the room back on return, unless banned.
    pub(super) fn change_owner(&mut self, owner: PlayerId) {
        let gone = self.room.absent_owner.unwrap_or(self.room.owner);
        let stands_in_for = Some(gone).filter(|gone| *gone != owner && !self.room.bans.contains(gone));
        self.emit(Fact::OwnerChanged { owner, stands_in_for });
    }
}
