//! The list of rooms.

use std::time::SystemTime;

use super::{
    Closing, Malformed, MeetingRef, Occupant, Phase, RoomId, Seat, TournamentId, Watching, event::StreamMessage, parse,
    player::rating, seat::parse_seats,
};
use crate::{rules::ByColor, v1};

/// A filter of rooms; the default matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomFilter {
    /// Only rooms in this phase.
    pub phase: Option<Phase>,
    /// Only rooms with an open seat.
    pub open_seat: bool,
    /// Only rooms whose name or owner contains this text.
    pub text: String,
    /// Only rooms of meetings of this tournament.
    pub tournament: Option<TournamentId>,
}

impl From<RoomFilter> for v1::RoomFilter {
    fn from(filter: RoomFilter) -> Self {
        let phase = filter.phase.map_or(v1::RoomPhase::Unspecified, Into::into);
        let tournament_id = filter.tournament.map(|id| id.to_string()).unwrap_or_default();
        Self { phase: phase.into(), open_seat: filter.open_seat, text: filter.text, tournament_id }
    }
}

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomRow {
    /// The room's id, unique on the server.
    pub id: RoomId,
    /// The room's name.
    pub name: String,
    /// The owner's name.
    pub owner: String,
    /// The phase.
    pub phase: Phase,
    /// The seat of each side.
    pub seats: ByColor<Seat>,
    /// Whether joining needs a password.
    pub has_password: bool,
    /// The players allowed to watch.
    pub watching: Watching,
    /// The number of watching streams.
    pub watchers: u32,
    /// Plies made in the running game.
    pub ply: u32,
    /// The discs of each side in that game.
    pub discs: ByColor<u8>,
    /// The time of creation.
    pub created_at: Option<SystemTime>,
    /// Whether its games count for ratings.
    pub rated: bool,
    /// Whether its last game is over, and no other runs.
    pub finished: bool,
    /// The ratings of the players in the seats, rounded.
    pub ratings: ByColor<Option<u32>>,
    /// The meeting of a tournament that is played in it.
    pub meeting: Option<MeetingRef>,
}

impl RoomRow {
    /// Whether a seat is open to all.
    #[must_use]
    pub fn has_open_seat(&self) -> bool {
        self.phase == Phase::Lobby && self.seats.iter().any(|(_, seat)| seat.occupant == Occupant::Open)
    }
}

impl TryFrom<v1::RoomSummary> for RoomRow {
    type Error = Malformed;

    fn try_from(row: v1::RoomSummary) -> Result<Self, Malformed> {
        let watching = row.watching();
        Ok(Self {
            phase: Phase::parse(row.phase())?,
            id: RoomId::parse(row.room_id)?,
            name: parse::plain(row.name, "room name")?,
            owner: parse::plain(row.owner_name, "owner's name")?,
            seats: parse_seats(row.seats)?,
            has_password: row.has_password,
            watching,
            watchers: parse::count(row.watchers, "watchers")?,
            ply: parse::count(row.ply, "ply")?,
            discs: ByColor::new(
                parse::discs(row.black_discs, "black's discs")?,
                parse::discs(row.white_discs, "white's discs")?,
            ),
            created_at: parse::maybe_time(row.created_at, "time of creation")?,
            rated: row.rated,
            finished: row.finished,
            ratings: ByColor::new(rating(row.black_rating)?, rating(row.white_rating)?),
            meeting: row.meeting.map(MeetingRef::try_from).transpose()?,
        })
    }
}

/// A message of the list's stream.
#[derive(Clone, Debug, PartialEq)]
pub enum ListUpdate {
    /// All rows.
    Snapshot(Vec<RoomRow>),
    /// A new or changed row.
    Upserted(Box<RoomRow>),
    /// A room that was closed or no longer matches.
    Removed(RoomId),
    /// A heartbeat.
    Heartbeat,
    /// The stream ends.
    Closing(Closing),
}

impl StreamMessage for ListUpdate {
    fn closing(&self) -> Option<&Closing> {
        match self {
            Self::Closing(closing) => Some(closing),
            _ => None,
        }
    }
}

impl ListUpdate {
    /// `None` for a message that this client does not know.
    pub(super) fn parse(response: v1::WatchRoomsResponse) -> Result<Option<Self>, Malformed> {
        use v1::watch_rooms_response::Message;
        Ok(match response.message {
            Some(Message::Snapshot(list)) => Some(Self::Snapshot(parse::all(list.rooms)?)),
            Some(Message::Upserted(row)) => Some(Self::Upserted(Box::new(row.try_into()?))),
            Some(Message::Removed(id)) => Some(Self::Removed(RoomId::parse(id)?)),
            Some(Message::Heartbeat(_)) => Some(Self::Heartbeat),
            Some(Message::Closing(closing)) => Some(Self::Closing(closing.try_into()?)),
            None => None,
        })
    }
}

/// The list, updated by its stream; new rooms are last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomList {
    rows: Vec<RoomRow>,
}

impl RoomList {
    /// The rooms.
    #[must_use]
    pub fn rows(&self) -> &[RoomRow] {
        &self.rows
    }

    /// Applies an update.
    pub fn apply(&mut self, update: ListUpdate) {
        match update {
            ListUpdate::Snapshot(rows) => self.rows = rows,
            ListUpdate::Upserted(row) => match self.rows.iter_mut().find(|old| old.id == row.id) {
                Some(old) => *old = *row,
                None => self.rows.push(*row),
            },
            ListUpdate::Removed(id) => self.rows.retain(|row| row.id != id),
            ListUpdate::Heartbeat | ListUpdate::Closing(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::row;

    #[test]
    fn updates_change_the_list_row_by_row() {
        let mut list = RoomList::default();
        list.apply(ListUpdate::Snapshot(vec![row("a"), row("b")]));
        list.apply(ListUpdate::Upserted(Box::new(row("c"))));
        list.apply(ListUpdate::Upserted(Box::new(RoomRow { ply: 9, ..row("b") })));
        list.apply(ListUpdate::Removed("a".parse().unwrap()));
        list.apply(ListUpdate::Heartbeat);
        assert_eq!(list.rows(), [RoomRow { ply: 9, ..row("b") }, row("c")]);
    }
}
