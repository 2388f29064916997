//! The invitations that a player accepts, and the filter of the list of players.

use std::time::Duration;

use super::record_filter::read_rating;
use crate::{
    proto::{
        convert::{Malformed, WireEnum as _, duration, read_duration},
        v1,
    },
    room::{Availability, PlayerKind, TimeRange},
    runtime::OnlineFilter,
};

/// The invitations that a player accepts, for the wire.
pub(super) fn availability(availability: Availability) -> v1::Availability {
    let Availability { available, people, bots, rated, per_move, total, increment, .. } = availability;
    let Availability { min_rating, max_rating, games_at_once, opponents_a_day, .. } = availability;
    let kinds = match (people, bots) {
        (true, true) => Vec::new(),
        (people, bots) => {
            let all = [(people, PlayerKind::Human), (bots, PlayerKind::Bot)];
            all.into_iter().filter(|(welcome, _)| *welcome).map(|(_, kind)| kind.wire().into()).collect()
        }
    };
    let rated = match rated {
        None => v1::RatedPreference::Unspecified,
        Some(true) => v1::RatedPreference::Rated,
        Some(false) => v1::RatedPreference::Unrated,
    };
    v1::Availability {
        unavailable: !available,
        kinds,
        rated: rated.into(),
        shortest_move: per_move.shortest.map(duration),
        longest_move: per_move.longest.map(duration),
        shortest_total: total.shortest.map(duration),
        longest_total: total.longest.map(duration),
        games_at_once: games_at_once.unwrap_or_default().into(),
        opponents_a_day: opponents_a_day.unwrap_or_default().into(),
        shortest_increment: increment.shortest.map(duration),
        longest_increment: increment.longest.map(duration),
        min_rating: min_rating.unwrap_or_default().into(),
        max_rating: max_rating.unwrap_or_default().into(),
    }
}

/// The invitations that a player is to accept.
///
/// # Errors
/// `BAD_ARGUMENT` for the field.
pub(super) fn read_availability(wire: v1::Availability) -> Result<Availability, Malformed> {
    let (mut people, mut bots) = (wire.kinds.is_empty(), wire.kinds.is_empty());
    for kind in &wire.kinds {
        match PlayerKind::read("availability.kinds", *kind)? {
            Some(PlayerKind::Human) => people = true,
            Some(PlayerKind::Bot) => bots = true,
            None => return Err(Malformed::argument("availability.kinds", "must be known kinds of players")),
        }
    }
    let rated = match v1::RatedPreference::try_from(wire.rated) {
        Ok(v1::RatedPreference::Unspecified) => None,
        Ok(v1::RatedPreference::Rated) => Some(true),
        Ok(v1::RatedPreference::Unrated) => Some(false),
        Err(_) => return Err(Malformed::argument("availability.rated", "must be a known value")),
    };
    let (min_rating, max_rating) = read_ratings(wire.min_rating, wire.max_rating)?;
    Ok(Availability {
        available: !wire.unavailable,
        people,
        bots,
        rated,
        per_move: read_range("move", wire.shortest_move, wire.longest_move)?,
        total: read_range("total", wire.shortest_total, wire.longest_total)?,
        increment: read_range("increment", wire.shortest_increment, wire.longest_increment)?,
        min_rating,
        max_rating,
        games_at_once: read_most("availability.games_at_once", wire.games_at_once)?,
        opponents_a_day: read_most("availability.opponents_a_day", wire.opponents_a_day)?,
    })
}

/// A maximum, or none for 0.
fn read_most(field: &str, wire: i32) -> Result<Option<u16>, Malformed> {
    match wire {
        0 => Ok(None),
        _ => match u16::try_from(wire) {
            Ok(most @ ..=1_000) => Ok(Some(most)),
            _ => Err(Malformed::argument(field, "must be 0 for no bound, or 1 to 1,000")),
        },
    }
}

fn read_range(
    name: &str,
    shortest: Option<prost_types::Duration>,
    longest: Option<prost_types::Duration>,
) -> Result<TimeRange, Malformed> {
    let read = |bound: &str, wire: Option<prost_types::Duration>| -> Result<Option<Duration>, Malformed> {
        wire.map(|wire| read_duration(&format!("availability.{bound}_{name}"), wire)).transpose()
    };
    let range = TimeRange { shortest: read("shortest", shortest)?, longest: read("longest", longest)? };
    match (range.shortest, range.longest) {
        (Some(shortest), Some(longest)) if shortest > longest => {
            Err(Malformed::argument(format!("availability.longest_{name}"), "must not be less than the shortest"))
        }
        _ => Ok(range),
    }
}

fn read_ratings(min: i32, max: i32) -> Result<(Option<u16>, Option<u16>), Malformed> {
    let (min, max) = (read_rating("availability.min_rating", min)?, read_rating("availability.max_rating", max)?);
    match min.zip(max) {
        Some((min, max)) if min > max => {
            Err(Malformed::argument("availability.max_rating", "must not be below min_rating"))
        }
        _ => Ok((min, max)),
    }
}

/// The filter of the list of players.
///
/// # Errors
/// `BAD_ARGUMENT` for the kind.
pub(super) fn read_player_filter(wire: v1::PlayerFilter) -> Result<OnlineFilter, Malformed> {
    let kind = PlayerKind::read("filter.kind", wire.kind)?;
    Ok(OnlineFilter { kind, free: wire.free, available: wire.available })
}
