//! Events of a room as text.

use super::series_score;
use crate::{
    client::{LeaveReason, Occupant, Offer, PlayerId, Room, RoomChange, RoomCloseReason, Seat, SeriesScore},
    rules::{Color, Square},
};

/// `change` as text; `None` if it needs none. `room` is the room before the change.
pub(in crate::cli) fn describe(room: &Room, change: &RoomChange) -> Option<String> {
    let player_of = |side: Color| format!("{side} ({})", room.seats[side].occupant);
    Some(match change {
        RoomChange::MemberJoined(member) => format!("{} came in", member.player.name),
        RoomChange::MemberLeft(player, reason) => {
            let how = match reason {
                LeaveReason::Left | LeaveReason::Unspecified => "left",
                LeaveReason::Kicked => "was removed",
                LeaveReason::Banned => "was removed for good",
                LeaveReason::Absent => "was absent for too long",
            };
            format!("{} {how}", name(room, player))
        }
        RoomChange::PresenceChanged(player, true) => format!("{} is back", name(room, player)),
        RoomChange::PresenceChanged(player, false) => format!("{} lost the connection", name(room, player)),
        RoomChange::OwnerChanged(owner) => format!("{} owns the room now", name(room, owner)),
        RoomChange::CoOwnerChanged(player, true) => format!("{} is a co-owner now", name(room, player)),
        RoomChange::CoOwnerChanged(player, false) => format!("{} is no co-owner any more", name(room, player)),
        RoomChange::SeatChanged(side, seat) => describe_seat(*side, &room.seats[*side], seat),
        RoomChange::InvitationEnded { side, player, expired: true, .. } => {
            format!("{} has not answered in time; the seat of {side} is open", player.name)
        }
        RoomChange::InvitationEnded { side, player, reason, .. } if reason.is_empty() => {
            format!("{} declined; the seat of {side} is open", player.name)
        }
        RoomChange::InvitationEnded { side, player, reason, .. } => {
            format!("{} declined: {reason}; the seat of {side} is open", player.name)
        }
        RoomChange::SeatsSwapped => "the sides are swapped".into(),
        RoomChange::ReadyChanged(side, true) => format!("{} is ready", player_of(*side)),
        RoomChange::ReadyChanged(side, false) => format!("{} is not ready", player_of(*side)),
        RoomChange::SettingsChanged { .. } => "the settings are changed".into(),
        RoomChange::GameStarted(game, series) => match series {
            Some(series) if series.games > 1 => {
                format!("game {} begins ({} of {})", game.number, series.game, series.games)
            }
            _ => format!("game {} begins", game.number),
        },
        RoomChange::MovePlayed { ply, .. } | RoomChange::TurnPassed { ply, .. } => match ply.square {
            Some(square) => format!("{} plays {square}", player_of(ply.side)),
            None => format!("{} has no move and passes", player_of(ply.side)),
        },
        RoomChange::MoveRefused { side, strikes } => {
            format!("{} tried an illegal move ({strikes} of 3)", player_of(*side))
        }
        RoomChange::OfferMade(Offer::TakeBack, side) => format!("{} asks to take its last move back", player_of(*side)),
        RoomChange::OfferClosed(Offer::TakeBack, true) => "the move is taken back; the clocks begin anew".into(),
        RoomChange::OfferClosed(Offer::TakeBack, false) => "the move stays".into(),
        RoomChange::OfferMade(offer, side) => format!("{} offers {}", player_of(*side), offer_name(*offer)),
        RoomChange::OfferClosed(offer, true) => format!("{} is agreed", offer_name(*offer)),
        RoomChange::OfferClosed(offer, false) => format!("{} is declined", offer_name(*offer)),
        RoomChange::ClockCredited { .. } => "no player could move for a time; the clocks were credited with it".into(),
        RoomChange::SeriesEnded if room.running().is_some() => "this is the last game of the series".into(),
        RoomChange::SeriesEnded => match series_score::verdict(&room.settings, room.score.as_ref()) {
            Some(verdict) => format!("the series ends here: {verdict}"),
            None => "the series ends here".into(),
        },
        RoomChange::GameEnded { outcome, score, .. } => {
            format!("game over: {outcome}{}", describe_score(room, score.as_ref()))
        }
        RoomChange::ChatPosted(line, _) => format!("<{}> {}", line.player.name, line.text),
        RoomChange::ChatRemoved(_) => "an administrator removed a line of chat".into(),
        RoomChange::RoomClosed(reason) => match reason {
            RoomCloseReason::Empty => "the room closes: it is empty".into(),
            RoomCloseReason::Idle => "the room closes: nothing happened in it for too long".into(),
            RoomCloseReason::Server => "the room closes: the server could not go on with it".into(),
            RoomCloseReason::Closed | RoomCloseReason::Unspecified => "the room closes".into(),
        },
        RoomChange::Created | RoomChange::Unknown => return None,
    })
}

/// The score of a series in pairs, to append to a line.
pub(in crate::cli) fn describe_score(room: &Room, score: Option<&SeriesScore>) -> String {
    score.map(|score| format!("; {}", series_score::describe(room, score))).unwrap_or_default()
}

/// Squares with spaces between them.
pub(in crate::cli) fn squares(squares: impl IntoIterator<Item = Square>) -> String {
    squares.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" ")
}

fn describe_seat(side: Color, before: &Seat, seat: &Seat) -> String {
    match &seat.occupant {
        Occupant::Open if let Occupant::Reserved(guest) = &before.occupant => {
            format!("the invitation of {} has ended; the seat of {side} is open", guest.name)
        }
        Occupant::Open => format!("the seat of {side} is open"),
        occupant @ Occupant::Reserved(_) => format!("the seat of {side} is {occupant}"),
        occupant => format!("{occupant} takes {side}"),
    }
}

fn offer_name(offer: Offer) -> &'static str {
    match offer {
        Offer::Draw => "a draw",
        Offer::Rematch => "a rematch",
        Offer::TakeBack => "a move back",
    }
}

fn name(room: &Room, player: &PlayerId) -> String {
    room.member(player).map_or_else(|| "somebody".into(), |member| member.player.name.clone())
}
