//! Players, AIs and seats.

use super::{Malformed, WireEnum as _, read_duration, read_id, timestamp};
use crate::{
    proto::v1,
    room::{
        AiSeat, AiSpec, DisplayName, Invitation, Occupant, PlayerId, PlayerRef, Profile, Room, Seat, SeatSpec,
        TextError,
    },
    rules::{ByColor, Color},
};

/// Maximum length of the name of an AI kind, in bytes.
const MAX_KIND: usize = 32;

/// A player, for the wire.
#[must_use]
pub fn player(profile: &Profile) -> v1::Player {
    v1::Player {
        player_id: profile.id.to_string(),
        display_name: profile.name.to_string(),
        kind: profile.kind.wire().into(),
        engine_version: profile.engine_version.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

/// An AI, for the wire, without its seed, from which its moves could be computed in advance.
#[must_use]
pub fn ai_seat(ai: &AiSeat) -> v1::AiSeat {
    v1::AiSeat { kind: ai.kind.to_string(), level: ai.level.into(), seed: 0 }
}

/// Both seats, black's first.
#[must_use]
pub fn seats(room: &Room) -> Vec<v1::Seat> {
    Color::ALL.into_iter().map(|color| seat(room, color)).collect()
}

/// The seat of one side of a room.
#[must_use]
pub fn seat(room: &Room, color: Color) -> v1::Seat {
    v1::Seat {
        claim_from: room.claim_from(color).map(timestamp),
        ..lone_seat(&room.seats()[color], room.is_present(color))
    }
}

/// A seat outside its room; `present` is [`Room::is_present`].
#[must_use]
pub fn lone_seat(seat: &Seat, present: bool) -> v1::Seat {
    v1::Seat {
        ready: seat.ready(),
        present,
        wins: seat.wins.into(),
        draws: seat.draws.into(),
        ..occupied_seat(&seat.occupant)
    }
}

/// A seat of which only the occupant is known.
pub(super) fn occupied_seat(occupant: &Occupant) -> v1::Seat {
    use v1::seat::Occupant as Wire;

    let reserved_until = occupant.invitation().map(|invitation| timestamp(invitation.until));
    let occupant = match occupant {
        Occupant::Open => Wire::Open(v1::OpenSeat {}),
        Occupant::Reserved(guest) | Occupant::Invited(Invitation { guest, .. }) => Wire::Reserved(player(guest)),
        Occupant::Player(profile) => Wire::Player(player(profile)),
        Occupant::Ai(ai) => Wire::Ai(ai_seat(ai)),
    };
    v1::Seat { occupant: Some(occupant), reserved_until, ..v1::Seat::default() }
}

/// 0 for black's seat, 1 for white's.
#[must_use]
pub fn seat_number(color: Color) -> i32 {
    match color {
        Color::Black => 0,
        Color::White => 1,
    }
}

/// A seat by its number.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `seat`.
pub fn read_seat(number: i32) -> Result<Color, Malformed> {
    Color::ALL
        .into_iter()
        .find(|&color| seat_number(color) == number)
        .ok_or_else(|| Malformed::argument("seat", "must be 0 (black) or 1 (white)"))
}

/// The AI requested in `field`.
///
/// # Errors
/// `BAD_ARGUMENT` for its kind or level. Kind and level need not exist.
pub fn read_ai(field: &str, wire: v1::AiSeat) -> Result<AiSpec, Malformed> {
    if wire.kind.is_empty() || wire.kind.len() > MAX_KIND {
        return Err(Malformed::argument(format!("{field}.kind"), "must be one of GetServerInfo's kinds"));
    }
    let level = u8::try_from(wire.level)
        .map_err(|_| Malformed::argument(format!("{field}.level"), "must be one of the kind's levels, or 0"))?;
    Ok(AiSpec { kind: wire.kind, level: (level != 0).then_some(level), seed: (wire.seed != 0).then_some(wire.seed) })
}

/// The initial seats of a room that `me` creates, open by default.
///
/// # Errors
/// `BAD_ARGUMENT` unless there are none or two, and at most one is for `me` and none for another;
/// `BAD_ID` for a reservation without a player's id; `BAD_ID`, `BAD_NAME` or `BAD_ARGUMENT` for a wrong invitation.
pub fn read_seats(wire: Vec<v1::Seat>, me: PlayerId) -> Result<ByColor<SeatSpec>, Malformed> {
    if wire.is_empty() {
        return Ok(ByColor::new(SeatSpec::Open, SeatSpec::Open));
    }
    let [black, white] = <[v1::Seat; 2]>::try_from(wire)
        .map_err(|_| Malformed::argument("seats", "must be none or two, black's first"))?;
    let specs = ByColor::new(read_first_occupant(0, black, me)?, read_first_occupant(1, white, me)?);
    if specs.black == SeatSpec::Me && specs.white == SeatSpec::Me {
        return Err(Malformed::argument("seats[1].player", "must not be the caller too, who takes one seat at most"));
    }
    Ok(specs)
}

fn read_first_occupant(number: usize, wire: v1::Seat, me: PlayerId) -> Result<SeatSpec, Malformed> {
    use v1::seat::Occupant as Wire;

    match wire.occupant {
        None | Some(Wire::Open(_)) => Ok(SeatSpec::Open),
        Some(Wire::Reserved(guest)) => {
            read_id(&format!("seats[{number}].reserved.player_id"), &guest.player_id).map(SeatSpec::Reserved)
        }
        Some(Wire::Invite(invite)) => read_invitation(&format!("seats[{number}].invite"), invite),
        // The caller is known from the token, so the id may be left empty.
        Some(Wire::Player(player)) if player.player_id.is_empty() || player.player_id.parse() == Ok(me) => {
            Ok(SeatSpec::Me)
        }
        Some(Wire::Player(_)) => {
            Err(Malformed::argument(format!("seats[{number}].player"), "must be the caller; reserve it for another"))
        }
        Some(Wire::Ai(ai)) => read_ai(&format!("seats[{number}].ai"), ai).map(SeatSpec::Ai),
    }
}

/// The new occupant of a seat, set by the owner; never [`SeatSpec::Me`].
///
/// # Errors
/// `BAD_ARGUMENT` if unset or the AI is malformed; `BAD_ID` for a reservation without a player's id;
/// `BAD_ID`, `BAD_NAME` or `BAD_ARGUMENT` for a wrong invitation.
pub fn read_seat_setting(wire: Option<v1::set_seat_request::Occupant>) -> Result<SeatSpec, Malformed> {
    use v1::set_seat_request::Occupant as Wire;

    match wire {
        None => Err(Malformed::argument("occupant", "must be one of open, reserved_for, ai and invite")),
        Some(Wire::Open(_)) => Ok(SeatSpec::Open),
        Some(Wire::ReservedFor(guest)) => read_id("reserved_for", &guest).map(SeatSpec::Reserved),
        Some(Wire::Ai(ai)) => read_ai("ai", ai).map(SeatSpec::Ai),
        Some(Wire::Invite(invite)) => read_invitation("invite", invite),
    }
}

/// An invitation in `field`.
///
/// # Errors
/// `BAD_ID` or `BAD_NAME` for the player, `BAD_ARGUMENT` without one or for the time.
fn read_invitation(field: &str, wire: v1::SeatInvitation) -> Result<SeatSpec, Malformed> {
    use v1::seat_invitation::Player;

    let guest = match wire.player {
        Some(Player::PlayerId(id)) => PlayerRef::Id(read_id(&format!("{field}.player_id"), &id)?),
        Some(Player::DisplayName(name)) => {
            let bad =
                |why: TextError| Malformed::new(Malformed::BAD_NAME, format!("{field}.display_name"), why.to_string());
            PlayerRef::Name(DisplayName::parse(&name).map_err(bad)?)
        }
        None => return Err(Malformed::argument(format!("{field}.player"), "must be an id or a name")),
    };
    let field = format!("{field}.lasts");
    let lasts = wire.lasts.map_or(Ok(Invitation::DEFAULT), |lasts| read_duration(&field, lasts))?;
    if !(Invitation::MIN..=Invitation::MAX).contains(&lasts) {
        return Err(Malformed::argument(field, "must be from 10 s to 1 day"));
    }
    Ok(SeatSpec::Invited(guest, lasts))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        proto::convert::fixture,
        room::{Command, Issuer},
    };

    fn of(occupant: v1::seat::Occupant) -> v1::Seat {
        v1::Seat { occupant: Some(occupant), ..Default::default() }
    }

    fn named(id: &str) -> v1::Player {
        v1::Player { player_id: id.into(), ..Default::default() }
    }

    proptest! {
        #[test]
        fn an_ai_round_trips_without_its_seed(kind in "[a-z]{1,32}", level in 1_u8.., seed in 1_u64..) {
            let wire = ai_seat(&AiSeat { kind: kind.as_str().into(), level, seed });
            prop_assert_eq!(wire.seed, 0, "the seed is secret");
            let wire = v1::AiSeat { seed, ..wire };
            prop_assert_eq!(read_ai("ai", wire), Ok(AiSpec { kind, level: Some(level), seed: Some(seed) }));
        }

        #[test]
        fn any_ai_is_read_without_panic(kind in ".{0,40}", level: i32, seed: u64) {
            if let Ok(spec) = read_ai("ai", v1::AiSeat { kind, level, seed }) {
                prop_assert_eq!(spec.level.map_or(0, i32::from), level);
            }
        }

        #[test]
        fn there_are_two_seats(number: i32) {
            prop_assert_eq!(read_seat(number).map(seat_number).ok(), (0..=1).contains(&number).then_some(number));
        }
    }

    #[test]
    fn a_new_room_gets_no_seats_or_two() {
        let me = fixture::owner().id;
        let mine = || of(v1::seat::Occupant::Player(named("")));
        let guest = fixture::profile(2, "Bea").id;
        assert_eq!(read_seats(vec![], me), Ok(ByColor::new(SeatSpec::Open, SeatSpec::Open)));
        let reserved = of(v1::seat::Occupant::Reserved(named(&guest.to_string())));
        assert_eq!(read_seats(vec![mine(), reserved], me), Ok(ByColor::new(SeatSpec::Me, SeatSpec::Reserved(guest))));
        let by_id = of(v1::seat::Occupant::Player(named(&me.to_string())));
        assert_eq!(read_seats(vec![v1::Seat::default(), by_id], me).map(|specs| specs.white), Ok(SeatSpec::Me));

        let other = of(v1::seat::Occupant::Player(named(&guest.to_string())));
        for (wire, field) in [
            (vec![mine()], "seats"),
            (vec![mine(); 3], "seats"),
            (vec![mine(), mine()], "seats[1].player"),
            (vec![other, mine()], "seats[0].player"),
            (vec![mine(), of(v1::seat::Occupant::Reserved(named("?")))], "seats[1].reserved.player_id"),
            (vec![mine(), of(v1::seat::Occupant::Ai(v1::AiSeat::default()))], "seats[1].ai.kind"),
        ] {
            assert_eq!(read_seats(wire, me).unwrap_err().field, field);
        }
        assert_eq!(read_seat_setting(None).unwrap_err().field, "occupant");
    }

    #[test]
    fn a_seat_has_the_presence_of_its_player() {
        let mut room = fixture::lobby(fixture::settings());
        assert!(seat(&room, Color::Black).present && seat(&room, Color::White).present);
        fixture::run(&mut room, fixture::NOW, Issuer::Server, Command::SetPresence(fixture::owner().id, false));
        assert!(!seat(&room, Color::Black).present);
    }
}
