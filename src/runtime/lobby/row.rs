//! One room of the list of public rooms, and updates of the list.

use std::cmp::Reverse;

use crate::{
    room::{
        Clocks, DisplayName, Game, MeetingRef, Occupant, Opponents, Phase, Room, RoomId, RoomName, Seat, TimeControl,
        Timestamp, TournamentId, Watching,
    },
    rules::{Board, ByColor, Color, Square},
};

/// Changes of the room list that wait for a lobby watcher, which takes them every `LOBBY_INTERVAL`: 130,000 a second,
/// or all rooms of a node with the default number at once. They are kept once for all watchers, in 2.5 MiB; those of
/// other nodes in as much again.
pub(super) const LOBBY_LAG: usize = 1 << 15;

/// One room of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The room.
    pub id: RoomId,
    /// Its name.
    pub name: RoomName,
    /// Its owner.
    pub owner: Option<DisplayName>,
    /// Its phase.
    pub phase: Phase,
    /// Its seats.
    pub seats: ByColor<Seat>,
    /// True for a seat whose player is connected.
    pub present: ByColor<bool>,
    /// True if it has a password.
    pub has_password: bool,
    /// Who may watch.
    pub watching: Watching,
    /// The number of streams that watch it.
    pub watchers: u32,
    /// Plies played in the running or last game.
    pub ply: u16,
    /// The board of that game.
    pub board: Option<Board>,
    /// The last move of that game.
    pub last_move: Option<Square>,
    /// The side to move in the running game, and the clocks when its turn began, by the time at which they are shown.
    pub clocks: Option<(Color, Clocks)>,
    /// When the room was created.
    pub created: Timestamp,
    /// The time control.
    pub time: TimeControl,
    /// True if its games count for ratings.
    pub rated: bool,
    /// The players who may take an open seat.
    pub opponents: Opponents,
    /// True if its last game is over and no other is running.
    pub finished: bool,
    /// The meeting of a tournament that is played in it.
    pub meeting: Option<MeetingRef>,
}

/// A filter of the list; unset fields do not restrict it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFilter {
    /// Only rooms in this phase.
    pub phase: Option<Phase>,
    /// Only rooms with an open seat and without a running game.
    pub open_seat: bool,
    /// Only rooms whose name or owner's name contains this text, in any case. The text must be in lower case.
    pub text: Option<String>,
    /// Only rooms of meetings of this tournament.
    pub tournament: Option<TournamentId>,
}

/// The sort key of a row: newest first.
pub type RowKey = (Reverse<Timestamp>, RoomId);

impl Row {
    pub(super) fn of(room: &Room, watchers: u32) -> Self {
        let seats = room.seats();
        Self {
            id: room.id(),
            name: room.settings().name.clone(),
            owner: room.owner().map(|owner| owner.name.clone()),
            phase: room.phase(),
            seats: seats.clone(),
            present: ByColor::from_fn(|side| room.is_present(side)),
            has_password: room.settings().password.is_some(),
            watching: room.settings().watching,
            watchers,
            ply: room.game().map_or(0, Game::ply),
            board: room.game().map(|game| game.position.board()),
            last_move: room.game().and_then(Game::last_move),
            clocks: clocks(room),
            created: room.created(),
            time: room.settings().time,
            rated: room.settings().rated,
            opponents: room.settings().opponents,
            finished: room.phase() == Phase::Lobby && room.game().is_some(),
            meeting: room.meeting(),
        }
    }

    /// The sort key.
    #[must_use]
    pub fn key(&self) -> RowKey {
        (Reverse(self.created), self.id)
    }
}

/// The side to move and the clocks. A spectator with a delay sees the deadline that much later.
pub(super) fn clocks(room: &Room) -> Option<(Color, Clocks)> {
    let (game, settings) = (room.running()?, room.settings());
    let turn = game.turn()?;
    let clocks = game.clocks_at(game.turn_began, &settings.time)?;
    Some((turn, Clocks { deadline: clocks.deadline.after(settings.spectator_delay), ..clocks }))
}

impl RowFilter {
    pub(super) fn accepts(&self, row: &Row) -> bool {
        let open = |seat: Color| matches!(row.seats[seat].occupant, Occupant::Open);
        let contains = |text: &String| {
            let within = |name: &str| name.to_lowercase().contains(text);
            within(row.name.as_str()) || row.owner.as_ref().is_some_and(|owner| within(owner.as_str()))
        };
        self.phase.is_none_or(|phase| phase == row.phase)
            && (!self.open_seat || (row.phase == Phase::Lobby && (open(Color::Black) || open(Color::White))))
            && self.text.as_ref().is_none_or(contains)
            && self.tournament.is_none_or(|id| row.meeting.is_some_and(|meeting| meeting.tournament == id))
    }
}

/// An update of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LobbyUpdate {
    /// All rows of the list from one key to another. The first page replaces all rows sent before.
    Page {
        /// The last key of the previous page. `None` for the first page.
        after: Option<RowKey>,
        /// The rows.
        rows: Vec<Row>,
        /// The last key of this page, though its row may be missing. `None` for the last page of the list.
        end: Option<RowKey>,
    },
    /// Changed rows, and rooms that were removed or no longer match.
    Changed {
        /// New or changed rows.
        upserted: Vec<Row>,
        /// Rooms that were removed or no longer match.
        removed: Vec<RowKey>,
        /// Rooms that have moved to another node. Empty unless only this node's rooms are watched.
        moved: Vec<RowKey>,
    },
}
