//! The list of the players who are online, at any node.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    room::{Availability, PlayerId, PlayerKind, Profile},
    runtime::{
        outcome::RoomError,
        player::{directory::Players, player::Player},
        room::rooms::Rooms,
    },
};

/// Maximum number of players looked at for one page. A page may have fewer entries than asked for.
const LOOKED_AT: usize = 400;

/// A player with an open stream.
#[derive(Clone, Debug)]
pub struct OnlinePlayer {
    /// The public profile.
    pub profile: Profile,
    /// The number of seats that it holds.
    pub seats: usize,
    /// Maximum number of its seats.
    pub seat_limit: u16,
    /// The invitations that it accepts, if it has said so.
    pub availability: Option<Availability>,
}

/// A filter of players; an unset field does not restrict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnlineFilter {
    /// Only of this kind.
    pub kind: Option<PlayerKind>,
    /// Only those without a seat.
    pub free: bool,
    /// Only players who accept invitations.
    pub available: bool,
}

impl Rooms {
    /// A page of the players who are online, by id, after this id; and the id after which the next page starts.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn online(
        &self,
        filter: OnlineFilter,
        after: Option<PlayerId>,
        size: usize,
    ) -> Result<(Vec<OnlinePlayer>, Option<PlayerId>), RoomError> {
        let mut page = Vec::new();
        let online = self.host.context.players.online();
        let rest: Vec<_> = online.into_iter().filter(|id| after.is_none_or(|after| *id > after)).collect();
        for (number, id) in rest.iter().enumerate() {
            if page.len() == size || number == LOOKED_AT {
                return Ok((page, rest.get(number.wrapping_sub(1)).copied()));
            }
            if let Some(player) = self.host.player(*id).await? {
                page.extend(self.listed(&player, filter).await?);
            }
        }
        Ok((page, None))
    }

    async fn listed(&self, player: &Arc<Player>, filter: OnlineFilter) -> Result<Option<OnlinePlayer>, RoomError> {
        let availability = player.availability();
        let is_available = availability.is_none_or(|availability| availability.available);
        if filter.kind.is_some_and(|kind| kind != player.kind) || filter.available && !is_available {
            return Ok(None);
        }
        let seats = self.seats_of(player).await?.len();
        let listed = OnlinePlayer { profile: player.profile(), seats, seat_limit: player.seat_limit, availability };
        Ok((!filter.free || seats == 0).then_some(listed))
    }
}

impl Players {
    /// The players with an open stream, here or at another node.
    fn online(&self) -> BTreeSet<PlayerId> {
        let here = self.all().into_iter().filter(|player| player.is_online()).map(|player| player.id());
        here.chain(self.attached.present()).collect()
    }
}
