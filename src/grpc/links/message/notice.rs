//! Notices for players.

use std::time::Duration;

use super::{decode_fact, encode_fact, error::nanos, narrow, read_code, read_room, read_square, required};
use crate::{
    proto::cluster::{self, notice::Kind, turn_closed::End},
    room::{
        Clocks, Fact, GameEnd, Occupant, Offer, Profile, Seat, Series, Timestamp, TurnRequest, stored::StoredError,
    },
    rules::{Bitboard, Board, ByColor, Color, Position},
    runtime::{Notice, OfferStatus, TurnEnd},
};

impl From<Notice> for cluster::Notice {
    fn from(notice: Notice) -> Self {
        let kind = match notice {
            Notice::TurnRequested(request) => Kind::TurnRequested((*request).into()),
            Notice::TurnClosed { game, ply, end } => {
                let end = match end {
                    TurnEnd::Played(square) => End::Played(square.index().into()),
                    TurnEnd::TimedOut => End::TimedOut(()),
                    TurnEnd::GameEnded => End::GameEnded(()),
                };
                Kind::TurnClosed(cluster::TurnClosed { game: Some(game.into()), ply: ply.into(), end: Some(end) })
            }
            Notice::GameStarted { game, side, opponent, present, series } => {
                let Seat { occupant, marked_ready, wins, draws } = opponent;
                Kind::GameStarted(cluster::GameStarted {
                    game: Some(game.into()),
                    opponent: encode_fact(Fact::SeatChanged { seat: side.opposite(), occupant }),
                    ready: marked_ready,
                    wins: wins.into(),
                    draws: draws.into(),
                    present,
                    series: series.map(Into::into),
                })
            }
            Notice::GameEnded { game, side, end, position, series } => Kind::GameEnded(cluster::GameEnded {
                game: Some(game.into()),
                side: number(side),
                end: encode_fact(Fact::GameEnded(end)),
                position: Some(position.into()),
                series: series.map(Into::into),
            }),
            Notice::Offer { game, offer, status, own } => Kind::OfferChanged(cluster::OfferChanged {
                game: Some(game.into()),
                offer: cluster::Offer::from(offer).into(),
                status: cluster::OfferStatus::from(status).into(),
                own,
            }),
            Notice::SeriesEnded(room) => Kind::SeriesEnded(room.bits()),
            Notice::Kicked { room, banned } => Kind::Kicked(cluster::Kicked { room: room.bits(), banned }),
            Notice::RoomClosed(room) => Kind::RoomClosed(room.bits()),
            Notice::Invited { room, seat, code, by } => Kind::Invited(cluster::Invited {
                room: room.bits(),
                seat: number(seat),
                code: code.bits(),
                by: by.map(|by| encode_fact(Fact::MemberJoined(by))),
            }),
        };
        Self { kind: Some(kind) }
    }
}

impl cluster::Notice {
    pub(super) fn read(self) -> Result<Notice, StoredError> {
        Ok(match required(self.kind, "notice")? {
            Kind::TurnRequested(request) => Notice::TurnRequested(Box::new(request.read()?)),
            Kind::TurnClosed(cluster::TurnClosed { game, ply, end }) => Notice::TurnClosed {
                game: required(game, "game")?.read()?,
                ply: narrow(ply, "ply")?,
                end: match required(end, "end of a turn")? {
                    End::Played(square) => TurnEnd::Played(read_square(square)?),
                    End::TimedOut(()) => TurnEnd::TimedOut,
                    End::GameEnded(()) => TurnEnd::GameEnded,
                },
            },
            Kind::GameStarted(started) => {
                let (seat, occupant) = read_occupant(&started.opponent)?;
                Notice::GameStarted {
                    game: required(started.game, "game")?.read()?,
                    side: seat.opposite(),
                    opponent: Seat {
                        occupant,
                        marked_ready: started.ready,
                        wins: narrow(started.wins, "score")?,
                        draws: narrow(started.draws, "score")?,
                    },
                    present: started.present,
                    series: started.series.map(cluster::Series::read).transpose()?,
                }
            }
            Kind::GameEnded(ended) => Notice::GameEnded {
                game: required(ended.game, "game")?.read()?,
                side: read_color(ended.side)?,
                end: read_end(&ended.end)?,
                position: required(ended.position, "position")?.read()?,
                series: ended.series.map(cluster::Series::read).transpose()?,
            },
            Kind::OfferChanged(changed) => Notice::Offer {
                game: required(changed.game, "game")?.read()?,
                offer: read_offer(changed.offer())?,
                status: read_status(changed.status())?,
                own: changed.own,
            },
            Kind::SeriesEnded(room) => Notice::SeriesEnded(read_room(room)?),
            Kind::Kicked(kicked) => Notice::Kicked { room: read_room(kicked.room)?, banned: kicked.banned },
            Kind::RoomClosed(room) => Notice::RoomClosed(read_room(room)?),
            Kind::Invited(cluster::Invited { room, seat, code, by }) => Notice::Invited {
                room: read_room(room)?,
                seat: read_color(seat)?,
                code: read_code(code)?,
                by: by.map(|by| read_profile(&by)).transpose()?,
            },
        })
    }
}

pub(super) fn read_occupant(bytes: &[u8]) -> Result<(Color, Occupant), StoredError> {
    match decode_fact(bytes)? {
        Fact::SeatChanged { seat, occupant } => Ok((seat, occupant)),
        _ => Err(StoredError::Malformed("occupant")),
    }
}

fn read_end(bytes: &[u8]) -> Result<GameEnd, StoredError> {
    match decode_fact(bytes)? {
        Fact::GameEnded(end) => Ok(end),
        _ => Err(StoredError::Malformed("end of a game")),
    }
}

fn read_profile(bytes: &[u8]) -> Result<Profile, StoredError> {
    match decode_fact(bytes)? {
        Fact::MemberJoined(profile) => Ok(profile),
        _ => Err(StoredError::Malformed("profile")),
    }
}

fn number(color: Color) -> u32 {
    match color {
        Color::Black => 1,
        Color::White => 2,
    }
}

fn read_color(number: u32) -> Result<Color, StoredError> {
    match number {
        1 => Ok(Color::Black),
        2 => Ok(Color::White),
        _ => Err(StoredError::Malformed("side")),
    }
}

impl From<Offer> for cluster::Offer {
    fn from(offer: Offer) -> Self {
        match offer {
            Offer::Draw => Self::Draw,
            Offer::Rematch => Self::Rematch,
        }
    }
}

fn read_offer(offer: cluster::Offer) -> Result<Offer, StoredError> {
    match offer {
        cluster::Offer::Unspecified => Err(StoredError::Malformed("offer")),
        cluster::Offer::Draw => Ok(Offer::Draw),
        cluster::Offer::Rematch => Ok(Offer::Rematch),
    }
}

impl From<OfferStatus> for cluster::OfferStatus {
    fn from(status: OfferStatus) -> Self {
        match status {
            OfferStatus::Open => Self::Open,
            OfferStatus::Accepted => Self::Accepted,
            OfferStatus::Closed => Self::Closed,
        }
    }
}

fn read_status(status: cluster::OfferStatus) -> Result<OfferStatus, StoredError> {
    match status {
        cluster::OfferStatus::Unspecified => Err(StoredError::Malformed("status of an offer")),
        cluster::OfferStatus::Open => Ok(OfferStatus::Open),
        cluster::OfferStatus::Accepted => Ok(OfferStatus::Accepted),
        cluster::OfferStatus::Closed => Ok(OfferStatus::Closed),
    }
}

impl From<Series> for cluster::Series {
    fn from(series: Series) -> Self {
        Self { index: series.index.into(), games: series.games.into(), next_at: series.next_at.map(|at| at.0) }
    }
}

impl cluster::Series {
    fn read(self) -> Result<Series, StoredError> {
        let (index, games) = (narrow(self.index, "series")?, narrow(self.games, "series")?);
        required((index < games).then_some(Series { index, games, next_at: self.next_at.map(Timestamp) }), "series")
    }
}

impl From<Position> for cluster::Position {
    fn from(position: Position) -> Self {
        let discs = |color| position.board().discs(color).0;
        Self { black: discs(Color::Black), white: discs(Color::White), turn: number(position.turn()) }
    }
}

impl cluster::Position {
    fn read(self) -> Result<Position, StoredError> {
        let board = required(Board::new(Bitboard(self.black), Bitboard(self.white)).ok(), "position")?;
        Ok(Position::new(board, read_color(self.turn)?))
    }
}

impl From<TurnRequest> for cluster::TurnRequested {
    fn from(TurnRequest { game, ply, position, last_move, clocks }: TurnRequest) -> Self {
        Self {
            game: Some(game.into()),
            ply: ply.into(),
            position: Some(position.into()),
            last_move: last_move.map(|square| square.index().into()),
            black: clocks.totals.black.map(nanos),
            white: clocks.totals.white.map(nanos),
            left: nanos(clocks.left),
            deadline: clocks.deadline.0,
        }
    }
}

impl cluster::TurnRequested {
    fn read(self) -> Result<TurnRequest, StoredError> {
        let total = |nanos: Option<u64>| nanos.map(Duration::from_nanos);
        Ok(TurnRequest {
            game: required(self.game, "game")?.read()?,
            ply: narrow(self.ply, "ply")?,
            position: required(self.position, "position")?.read()?,
            last_move: self.last_move.map(read_square).transpose()?,
            clocks: Clocks {
                totals: ByColor::new(total(self.black), total(self.white)),
                left: Duration::from_nanos(self.left),
                deadline: Timestamp(self.deadline),
            },
        })
    }
}
