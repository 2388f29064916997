//! Small fields of requests: ids, names, numbers and enums.

use std::str::FromStr;

use super::{Malformed, WireEnum as _};
use crate::{
    proto::v1,
    room::{
        ChatText, Claim, DeclineReason, DisplayName, EngineVersion, GameId, JoinCode, Offer, ParseIdError, PlayerKind,
        RoomId, RoomName, TextError,
    },
    rules::Color,
};

/// Maximum length of `request_id` and of passwords, in bytes.
const MAX_KEY: usize = 64;
/// Maximum length of a search text, in bytes: that of a room's name.
const MAX_SEARCH: usize = RoomName::MAX * 4;
/// Default number of rows on a page.
const DEFAULT_PAGE: u16 = 50;
/// Maximum number of rows on a page.
const MAX_PAGE: u16 = 200;

/// A [`PlayerId`](crate::room::PlayerId), [`RoomId`] or [`GameId`].
///
/// # Errors
/// `BAD_ID` for `field`.
pub fn read_id<T: FromStr<Err = ParseIdError>>(field: &str, text: &str) -> Result<T, Malformed> {
    text.parse().map_err(|_| Malformed::new(Malformed::BAD_ID, field, "must be an id that this server gave"))
}

/// A join code; `None` if the field is empty.
///
/// # Errors
/// `BAD_ID` for the field `join_code`.
pub fn read_join_code(text: &str) -> Result<Option<JoinCode>, Malformed> {
    if text.is_empty() { Ok(None) } else { read_id("join_code", text).map(Some) }
}

/// The requested display name of a player.
///
/// # Errors
/// `BAD_NAME` for the field `display_name`.
pub fn read_display_name(text: &str) -> Result<DisplayName, Malformed> {
    DisplayName::parse(text).map_err(|error| Malformed::new(Malformed::BAD_NAME, "display_name", error.to_string()))
}

/// A line of chat.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `text`.
pub fn read_chat(text: &str) -> Result<ChatText, Malformed> {
    ChatText::parse(text).map_err(|error| Malformed::argument("text", error.to_string()))
}

/// Why an invitation is declined; `None` if the field is empty.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `reason`.
pub fn read_decline_reason(text: &str) -> Result<Option<DeclineReason>, Malformed> {
    match DeclineReason::parse(text) {
        Err(TextError::Empty) => Ok(None),
        reason => reason.map(Some).map_err(|error| Malformed::argument("reason", error.to_string())),
    }
}

/// The idempotency key of a request; `None` if the field is empty.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `request_id` if longer than 64 bytes.
pub fn read_request_id(text: &str) -> Result<Option<&str>, Malformed> {
    read_bounded("request_id", text, MAX_KEY)
}

/// A password in clear text; `None` if the field is empty.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `password` if longer than 64 bytes.
pub fn read_password(text: &str) -> Result<Option<&str>, Malformed> {
    read_bounded("password", text, MAX_KEY)
}

fn read_bounded<'a>(field: &str, text: &'a str, max: usize) -> Result<Option<&'a str>, Malformed> {
    if text.len() > max {
        return Err(Malformed::argument(field, format!("must have at most {max} bytes")));
    }
    Ok((!text.is_empty()).then_some(text))
}

/// The text to search for in rooms; `None` if the field is empty.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `filter.text` if longer than any name.
pub fn read_search_text(text: &str) -> Result<Option<&str>, Malformed> {
    read_bounded("filter.text", text, MAX_SEARCH)
}

/// The kind of a player, by default a person.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `kind`.
pub fn read_player_kind(wire: i32) -> Result<PlayerKind, Malformed> {
    Ok(PlayerKind::read("kind", wire)?.unwrap_or(PlayerKind::Human))
}

/// The preferred side; `None` for either.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `side`.
pub fn read_side_preference(wire: i32) -> Result<Option<Color>, Malformed> {
    match v1::SidePreference::try_from(wire) {
        Ok(v1::SidePreference::Unspecified | v1::SidePreference::Random) => Ok(None),
        Ok(v1::SidePreference::Black) => Ok(Some(Color::Black)),
        Ok(v1::SidePreference::White) => Ok(Some(Color::White)),
        Err(_) => Err(Malformed::argument("side", "must be a known value")),
    }
}

/// The offer to make or to answer.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `offer`, which is required.
pub fn read_offer(wire: i32) -> Result<Offer, Malformed> {
    Offer::read("offer", wire)?.ok_or_else(|| Malformed::argument("offer", "must be given"))
}

/// What is claimed.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `claim`, which is required.
pub fn read_claim(wire: i32) -> Result<Claim, Malformed> {
    Claim::read("claim", wire)?.ok_or_else(|| Malformed::argument("claim", "must be given"))
}

/// The room of an offer, and the number of its game, if that is given.
///
/// # Errors
/// `BAD_ID` for a bad id; `BAD_ARGUMENT` for the field `game_id` if it is of another room.
pub fn read_offered(room: &str, game: &str) -> Result<(RoomId, Option<u32>), Malformed> {
    if game.is_empty() {
        return Ok((read_id("room_id", room)?, None));
    }
    let game: GameId = read_id("game_id", game)?;
    if !room.is_empty() && read_id::<RoomId>("room_id", room)? != game.room {
        return Err(Malformed::argument("game_id", "must be a game of the room"));
    }
    Ok((game.room, Some(game.number)))
}

/// The number of a ply.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `ply` unless it fits into 16 bits.
pub fn read_ply(wire: i32) -> Result<u16, Malformed> {
    u16::try_from(wire).map_err(|_| Malformed::argument("ply", "must be the number of a ply, from 0"))
}

/// Number of rows on a page: default 50, at most 200.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `page_size` if negative.
pub fn read_page_size(wire: i32) -> Result<usize, Malformed> {
    match wire {
        ..0 => Err(Malformed::argument("page_size", "must not be negative")),
        0 => Ok(DEFAULT_PAGE.into()),
        _ => Ok(u16::try_from(wire).unwrap_or(MAX_PAGE).min(MAX_PAGE).into()),
    }
}

/// Maximum number of seats of a bot, by default 1.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `seats` unless it fits into 16 bits.
pub fn read_seat_count(wire: i32) -> Result<u16, Malformed> {
    match u16::try_from(wire) {
        Ok(count) => Ok(count.max(1)),
        Err(_) => Err(Malformed::argument("seats", "must be a number of seats, from 1")),
    }
}

/// The version of the engine of a player of this kind; none if it is empty.
///
/// # Errors
/// `BAD_ARGUMENT` for the field `engine_version` if it is too long or has invisible characters, or for a person.
pub fn read_engine_version(wire: &str, kind: PlayerKind) -> Result<Option<EngineVersion>, Malformed> {
    let refuse = |problem: String| Malformed::argument("engine_version", problem);
    match wire {
        "" => Ok(None),
        _ if kind == PlayerKind::Human => Err(refuse("must be empty for a player who is no bot".to_owned())),
        text => EngineVersion::parse(text).map(Some).map_err(|error| refuse(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::room::{Phase, PlayerId};

    proptest! {
        #[test]
        fn any_number_is_read_without_panic(wire in prop_oneof![-2..6_i32, any::<i32>()]) {
            let known = |count| (0..count).contains(&wire);
            prop_assert_eq!(read_player_kind(wire).is_ok(), known(3));
            prop_assert_eq!(read_side_preference(wire).is_ok(), known(4));
            prop_assert_eq!(read_offer(wire).is_ok(), known(4) && wire != 0);
            prop_assert_eq!(read_claim(wire).is_ok(), known(3) && wire != 0);
            prop_assert_eq!(Phase::read("filter.phase", wire).is_ok(), known(4));
            prop_assert_eq!(read_ply(wire).map(i32::from).ok(), (0..=65_535).contains(&wire).then_some(wire));
            prop_assert_eq!(read_page_size(wire).is_ok(), wire >= 0);
            prop_assert!(read_page_size(wire).is_ok_and(|size| (1..=200).contains(&size)) || wire < 0);
            prop_assert!(read_seat_count(wire).is_ok_and(|count| count >= 1) || !(0..=65_535).contains(&wire));
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".{0,400}") {
            let _ = (read_display_name(&text), read_chat(&text), read_join_code(&text));
            let _ = (read_id::<RoomId>("room_id", &text), read_id::<GameId>("game_id", &text));
            prop_assert_eq!(read_password(&text).is_ok(), text.len() <= 64);
            prop_assert_eq!(read_request_id(&text).is_ok(), text.len() <= 64);
            prop_assert_eq!(read_search_text(&text).is_ok(), text.len() <= 160);
        }
    }

    #[test]
    fn invalid_ids_and_names_have_their_errors() {
        let id = PlayerId::from_random(9);
        assert_eq!(read_id("player_id", &id.to_string()), Ok(id));
        let bad = read_id::<PlayerId>("player_id", "nobody").unwrap_err();
        assert_eq!((bad.reason, bad.field.as_str()), (Malformed::BAD_ID, "player_id"));
        let bad = read_display_name("").unwrap_err();
        assert_eq!((bad.reason, bad.to_string().as_str()), (Malformed::BAD_NAME, "display_name must not be empty"));
        assert_eq!(read_join_code(""), Ok(None));
    }
}
