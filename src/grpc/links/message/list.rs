//! Rows of the list of rooms.

use std::{cmp::Reverse, time::Duration};

use super::{error::nanos, narrow, read_room, read_square, required};
use crate::{
    proto::cluster::{self, list_response::Update},
    room::{
        Clocks, DisplayName, Opponents, Phase, RoomName, Seat, TimeControl, Timestamp, Watching,
        stored::{self, Numbered as _, StoredError},
    },
    rules::{Bitboard, Board, ByColor, Color},
    runtime::{LobbyUpdate, Row, RowKey},
};

impl From<LobbyUpdate> for cluster::ListResponse {
    fn from(update: LobbyUpdate) -> Self {
        let update = match update {
            LobbyUpdate::Page { after, rows, end } => Update::Page(cluster::RowPage {
                after: after.map(Into::into),
                rows: written(rows),
                end: end.map(Into::into),
            }),
            LobbyUpdate::Changed { upserted, removed, moved } => Update::Changed(cluster::RowsChanged {
                upserted: written(upserted),
                removed: written(removed),
                moved: written(moved),
            }),
        };
        Self { update: Some(update) }
    }
}

impl cluster::ListResponse {
    /// The update without the rows that cannot be read, as of another version, and the error of one such row. A changed
    /// row that cannot be read counts as moved to another node.
    pub(crate) fn read(self) -> Result<(LobbyUpdate, Option<StoredError>), StoredError> {
        let mut unreadable = None;
        let update = match required(self.update, "list of rooms")? {
            Update::Page(cluster::RowPage { after, rows, end }) => LobbyUpdate::Page {
                after: after.map(cluster::RowKey::read).transpose()?,
                rows: rows
                    .into_iter()
                    .filter_map(|row| row.read().map_err(|error| unreadable = Some(error)).ok())
                    .collect(),
                end: end.map(cluster::RowKey::read).transpose()?,
            },
            Update::Changed(cluster::RowsChanged { upserted: rows, removed, moved }) => {
                let (mut upserted, mut moved) = (Vec::new(), read_keys(moved)?);
                for row in rows {
                    let key = row.key;
                    match row.read() {
                        Ok(row) => upserted.push(row),
                        Err(error) => {
                            moved.extend(key.and_then(|key| key.read().ok()));
                            unreadable = Some(error);
                        }
                    }
                }
                LobbyUpdate::Changed { upserted, removed: read_keys(removed)?, moved }
            }
        };
        Ok((update, unreadable))
    }
}

fn written<T, M: From<T>>(values: Vec<T>) -> Vec<M> {
    values.into_iter().map(M::from).collect()
}

fn read_keys(keys: Vec<cluster::RowKey>) -> Result<Vec<RowKey>, StoredError> {
    keys.into_iter().map(cluster::RowKey::read).collect()
}

impl From<RowKey> for cluster::RowKey {
    fn from((Reverse(created), room): RowKey) -> Self {
        Self { created: created.0, room: room.bits() }
    }
}

impl cluster::RowKey {
    fn read(self) -> Result<RowKey, StoredError> {
        Ok((Reverse(Timestamp(self.created)), read_room(self.room)?))
    }
}

impl From<Row> for cluster::Row {
    fn from(row: Row) -> Self {
        let key = row.key().into();
        let ByColor { black, white } = row.seats;
        let board = |board: Board| {
            let discs = |color| board.discs(color).0;
            cluster::Board { black: discs(Color::Black), white: discs(Color::White) }
        };
        Self {
            key: Some(key),
            name: row.name.to_string(),
            owner: row.owner.map(|owner| owner.to_string()),
            playing: row.phase == Phase::Playing,
            black: Some(write_seat(&black, row.present.black)),
            white: Some(write_seat(&white, row.present.white)),
            has_password: row.has_password,
            members_watch: row.watching == Watching::Members,
            watchers: row.watchers,
            ply: row.ply.into(),
            board: row.board.map(board),
            last_move: row.last_move.map(|square| square.index().into()),
            per_move: row.time.per_move.map(nanos),
            total: row.time.total.map(nanos),
            increment: nanos(row.time.increment),
            rated: row.rated,
            finished: row.finished,
            opponents: (row.opponents != Opponents::default()).then(|| row.opponents.into()),
            meeting: row.meeting.map(Into::into),
            clocks: row.clocks.map(|(turn, clocks)| cluster::RowClocks {
                turn: turn.number(),
                black: clocks.totals.black.map(nanos),
                white: clocks.totals.white.map(nanos),
                left: nanos(clocks.left),
                deadline: clocks.deadline.0,
            }),
        }
    }
}

impl cluster::Row {
    fn read(self) -> Result<Row, StoredError> {
        let (Reverse(created), id) = required(self.key, "room")?.read()?;
        let (black, black_present) = read_seat(self.black)?;
        let (white, white_present) = read_seat(self.white)?;
        let owner = self.owner.map(|owner| required(DisplayName::from_stored(&owner).ok(), "name"));
        let board = self.board.map(|cluster::Board { black, white }| {
            required(Board::new(Bitboard(black), Bitboard(white)).ok(), "board")
        });
        Ok(Row {
            id,
            name: required(RoomName::from_stored(&self.name).ok(), "name of a room")?,
            owner: owner.transpose()?,
            phase: if self.playing { Phase::Playing } else { Phase::Lobby },
            seats: ByColor::new(black, white),
            present: ByColor::new(black_present, white_present),
            has_password: self.has_password,
            watching: if self.members_watch { Watching::Members } else { Watching::Everyone },
            watchers: self.watchers,
            ply: narrow(self.ply, "ply")?,
            board: board.transpose()?,
            last_move: self.last_move.map(read_square).transpose()?,
            created,
            time: TimeControl {
                per_move: self.per_move.map(Duration::from_nanos),
                total: self.total.map(Duration::from_nanos),
                increment: Duration::from_nanos(self.increment),
            },
            rated: self.rated,
            finished: self.finished,
            opponents: self.opponents.map(stored::v1::Opponents::read).transpose()?.unwrap_or_default(),
            meeting: self.meeting.map(stored::v1::MeetingRef::read).transpose()?,
            clocks: self.clocks.map(cluster::RowClocks::read).transpose()?,
        })
    }
}

impl cluster::RowClocks {
    fn read(self) -> Result<(Color, Clocks), StoredError> {
        let total = |nanos: Option<u64>| nanos.map(Duration::from_nanos);
        let clocks = Clocks {
            totals: ByColor::new(total(self.black), total(self.white)),
            left: Duration::from_nanos(self.left),
            deadline: Timestamp(self.deadline),
        };
        Ok((Color::read(self.turn)?, clocks))
    }
}

fn write_seat(seat: &Seat, present: bool) -> cluster::RowSeat {
    cluster::RowSeat { seat: Some(seat.into()), present }
}

fn read_seat(written: Option<cluster::RowSeat>) -> Result<(Seat, bool), StoredError> {
    let cluster::RowSeat { seat, present } = required(written, "seat")?;
    Ok((required(seat, "seat")?.read()?, present))
}
