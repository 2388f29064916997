//! The invitations that a player accepts, and the players who are online.

use std::time::Duration;

use super::{ClientError, Malformed, Page, Player, PlayerKind, Reader, Session, parse};
use crate::v1;

/// The invitations that a player accepts; by default all. A game without a limit has an endless time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// No invitations at all.
    pub unavailable: bool,
    /// Only those of players of these kinds; of all if empty.
    pub kinds: Vec<PlayerKind>,
    /// Only to rated games, or only to unrated ones; `None` for both.
    pub rated: Option<bool>,
    /// The shortest and the longest limit of a move.
    pub per_move: (Option<Duration>, Option<Duration>),
    /// The shortest and the longest total time of a side.
    pub total: (Option<Duration>, Option<Duration>),
}

impl From<Availability> for v1::Availability {
    fn from(availability: Availability) -> Self {
        let rated = match availability.rated {
            None => v1::RatedPreference::Unspecified,
            Some(true) => v1::RatedPreference::Rated,
            Some(false) => v1::RatedPreference::Unrated,
        };
        let (per_move, total) = (availability.per_move, availability.total);
        Self {
            unavailable: availability.unavailable,
            kinds: availability.kinds.into_iter().map(Into::into).collect(),
            rated: rated.into(),
            shortest_move: per_move.0.map(parse::to_wire),
            longest_move: per_move.1.map(parse::to_wire),
            shortest_total: total.0.map(parse::to_wire),
            longest_total: total.1.map(parse::to_wire),
        }
    }
}

impl TryFrom<v1::Availability> for Availability {
    type Error = Malformed;

    fn try_from(wire: v1::Availability) -> Result<Self, Malformed> {
        let time = |wire| parse::maybe_duration(wire, "time of an invitation");
        Ok(Self {
            unavailable: wire.unavailable,
            kinds: wire.kinds().collect(),
            rated: match wire.rated() {
                v1::RatedPreference::Unspecified => None,
                v1::RatedPreference::Rated => Some(true),
                v1::RatedPreference::Unrated => Some(false),
            },
            per_move: (time(wire.shortest_move)?, time(wire.longest_move)?),
            total: (time(wire.shortest_total)?, time(wire.longest_total)?),
        })
    }
}

/// A filter of players; the default has all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayerFilter {
    /// Only of this kind.
    pub kind: Option<PlayerKind>,
    /// Only those without a seat.
    pub free: bool,
    /// Only those who accept invitations.
    pub available: bool,
}

/// A player who is online.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnlinePlayer {
    /// The player.
    pub player: Player,
    /// The rating; 0 without one.
    pub rating: u32,
    /// The number of seats that the player holds.
    pub seats: u32,
    /// Maximum number of its seats.
    pub seat_limit: u32,
    /// The invitations that it accepts; `None` if it has not said so, and accepts all.
    pub availability: Option<Availability>,
}

impl TryFrom<v1::OnlinePlayer> for OnlinePlayer {
    type Error = Malformed;

    fn try_from(online: v1::OnlinePlayer) -> Result<Self, Malformed> {
        Ok(Self {
            player: parse::required(online.player, "player")?.try_into()?,
            rating: parse::count(online.rating, "rating")?,
            seats: parse::count(online.seats, "seats")?,
            seat_limit: parse::count(online.seat_limit, "seats")?,
            availability: online.availability.map(Availability::try_from).transpose()?,
        })
    }
}

impl Reader {
    /// A page of the players who are online; `page` is [`Page::next`] of the last page. Refused with `BAD_PAGE_TOKEN`.
    pub async fn list_players(
        &self,
        filter: PlayerFilter,
        page: Option<String>,
    ) -> Result<Page<OnlinePlayer>, ClientError> {
        let kind = filter.kind.map(i32::from).unwrap_or_default();
        let wire = v1::PlayerFilter { kind, free: filter.free, available: filter.available };
        let page_token = page.unwrap_or_default();
        let request = v1::ListPlayersRequest { filter: Some(wire), page_size: 0, page_token };
        let answer = self.lobby().list_players(request).await?.into_inner();
        Ok(Page::new(parse::all(answer.players)?, answer.next_page_token))
    }
}

impl Session {
    /// Sets the invitations that the player accepts, until it logs out or the server ends.
    pub async fn set_availability(&self, availability: Availability) -> Result<(), ClientError> {
        let request = v1::SetAvailabilityRequest { availability: Some(availability.into()) };
        self.lobby().set_availability(request).await?;
        Ok(())
    }
}
