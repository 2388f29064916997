//! Notices for players.

use std::time::Duration;

use super::{error::nanos, narrow, read_code, read_room, read_square, required};
use crate::{
    proto::cluster::{self, invitation_ended, notice::Kind, tournament_notice::News, turn_closed::End},
    room::{
        Clocks, DeclineReason, Offer, RatingChange, Timestamp, TournamentId, TurnRequest, UnratedReason,
        stored::{Numbered, StoredError, v1},
    },
    rules::{Bitboard, Board, ByColor, Color, Position},
    runtime::{InvitationOutcome, Notice, OfferStatus, TournamentNews, TurnEnd},
    tournament::{Ending, stored},
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
            Notice::GameStarted { game, side, opponent, present, series, meeting } => {
                Kind::GameStarted(cluster::GameStarted {
                    game: Some(game.into()),
                    side: side.number(),
                    opponent: Some((&opponent).into()),
                    present,
                    series: series.map(Into::into),
                    meeting: meeting.map(Into::into),
                })
            }
            Notice::GameEnded { game, side, end, position, series } => Kind::GameEnded(cluster::GameEnded {
                game: Some(game.into()),
                side: side.number(),
                end: Some(end.into()),
                position: Some(position.into()),
                series: series.map(Into::into),
            }),
            Notice::RatingChanged { game, side, before, changes } => Kind::RatingChanged(cluster::RatingChanged {
                game: Some(game.into()),
                side: side.number(),
                black: Some(rating_change(before.black, changes.black)),
                white: Some(rating_change(before.white, changes.white)),
            }),
            Notice::Offer { game, offer, status, own } => Kind::OfferChanged(cluster::OfferChanged {
                game: Some(game.into()),
                offer: offer.number(),
                status: cluster::OfferStatus::from(status).into(),
                own,
            }),
            Notice::SeriesEnded(room) => Kind::SeriesEnded(room.bits()),
            Notice::Kicked { room, banned } => Kind::Kicked(cluster::Kicked { room: room.bits(), banned }),
            Notice::RoomClosed(room) => Kind::RoomClosed(room.bits()),
            Notice::Invited { room, seat, code, by, by_rating, until, settings } => Kind::Invited(cluster::Invited {
                room: room.bits(),
                seat: seat.number(),
                code: code.bits(),
                by: by.as_ref().map(Into::into),
                by_rating: by_rating.map(Into::into),
                until: until.map(|until| until.0),
                settings: Some((&*settings).into()),
            }),
            Notice::InvitationEnded { room, seat, guest, outcome } => Kind::InvitationEnded(cluster::InvitationEnded {
                room: room.bits(),
                seat: seat.number(),
                guest: Some((&guest).into()),
                end: Some(outcome.into()),
            }),
            Notice::Tournament { tournament, news } => {
                Kind::Tournament(cluster::TournamentNotice { tournament: tournament.bits(), news: Some(news.into()) })
            }
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
            Kind::GameStarted(started) => Notice::GameStarted {
                game: required(started.game, "game")?.read()?,
                side: Color::read(started.side)?,
                opponent: required(started.opponent, "seat")?.read()?,
                present: started.present,
                series: started.series.map(v1::Series::read).transpose()?,
                meeting: started.meeting.map(v1::MeetingRef::read).transpose()?,
            },
            Kind::GameEnded(ended) => Notice::GameEnded {
                game: required(ended.game, "game")?.read()?,
                side: Color::read(ended.side)?,
                end: required(ended.end, "end of a game")?.read()?,
                position: required(ended.position, "position")?.read()?,
                series: ended.series.map(v1::Series::read).transpose()?,
            },
            Kind::RatingChanged(changed) => {
                let (before_black, black) = required(changed.black, "black")?.read()?;
                let (before_white, white) = required(changed.white, "white")?.read()?;
                Notice::RatingChanged {
                    game: required(changed.game, "game")?.read()?,
                    side: Color::read(changed.side)?,
                    before: ByColor::new(before_black, before_white),
                    changes: ByColor::new(black, white),
                }
            }
            Kind::OfferChanged(changed) => Notice::Offer {
                game: required(changed.game, "game")?.read()?,
                offer: Offer::read(changed.offer)?,
                status: read_status(changed.status())?,
                own: changed.own,
            },
            Kind::SeriesEnded(room) => Notice::SeriesEnded(read_room(room)?),
            Kind::Kicked(kicked) => Notice::Kicked { room: read_room(kicked.room)?, banned: kicked.banned },
            Kind::RoomClosed(room) => Notice::RoomClosed(read_room(room)?),
            Kind::Invited(invited) => Notice::Invited {
                room: read_room(invited.room)?,
                seat: Color::read(invited.seat)?,
                code: read_code(invited.code)?,
                by: invited.by.map(v1::Profile::read).transpose()?,
                by_rating: invited.by_rating.map(|rating| narrow(rating, "rating")).transpose()?,
                until: invited.until.map(Timestamp),
                settings: Box::new(required(invited.settings, "settings")?.read()?),
            },
            Kind::InvitationEnded(ended) => Notice::InvitationEnded {
                room: read_room(ended.room)?,
                seat: Color::read(ended.seat)?,
                guest: required(ended.guest, "guest")?.read()?,
                outcome: read_outcome(required(ended.end, "end of an invitation")?)?,
            },
            Kind::Tournament(notice) => Notice::Tournament {
                tournament: required(TournamentId::from_bits(notice.tournament), "id of a tournament")?,
                news: read_news(required(notice.news, "news")?)?,
            },
        })
    }
}

impl From<TournamentNews> for News {
    fn from(news: TournamentNews) -> Self {
        match news {
            TournamentNews::Paired { playoff, round, meeting, room, opponent } => {
                Self::Paired(cluster::TournamentPaired {
                    playoff,
                    round,
                    meeting,
                    room: room.bits(),
                    opponent: opponent.as_ref().map(stored::participant),
                })
            }
            TournamentNews::Forfeited { meeting, lost } => Self::Forfeit(cluster::TournamentForfeit { meeting, lost }),
            TournamentNews::PutAside { put_aside, meetings } => Self::PutAside(v1::TournamentEntrantPutAside {
                entrant: 0,
                put_aside: Some(put_aside.into()),
                meetings,
            }),
            TournamentNews::Decided { meeting, won, why } => {
                Self::Decided(cluster::TournamentDecided { meeting, won, why })
            }
            TournamentNews::Left { excluded } => Self::Left(cluster::TournamentLeft { excluded }),
            TournamentNews::Ended { ending, rank, entrants } => {
                Self::Ended(cluster::TournamentEnded { ending: ending.number(), rank, entrants })
            }
        }
    }
}

fn read_news(news: News) -> Result<TournamentNews, StoredError> {
    Ok(match news {
        News::Paired(paired) => TournamentNews::Paired {
            playoff: paired.playoff,
            round: paired.round,
            meeting: paired.meeting,
            room: read_room(paired.room)?,
            opponent: paired.opponent.map(|who| stored::read_participant(Some(who))).transpose()?,
        },
        News::Forfeit(forfeit) => TournamentNews::Forfeited { meeting: forfeit.meeting, lost: forfeit.lost },
        News::PutAside(aside) => TournamentNews::PutAside {
            put_aside: stored::read_put_aside(required(aside.put_aside, "time aside")?)?,
            meetings: aside.meetings,
        },
        News::Decided(decided) => {
            TournamentNews::Decided { meeting: decided.meeting, won: decided.won, why: decided.why }
        }
        News::Left(left) => TournamentNews::Left { excluded: left.excluded },
        News::Ended(ended) => {
            TournamentNews::Ended { ending: Ending::read(ended.ending)?, rank: ended.rank, entrants: ended.entrants }
        }
    })
}

fn rating_change(before: Option<u16>, change: RatingChange) -> cluster::RatingChange {
    let wire = cluster::RatingChange { before: before.map(u32::from), ..Default::default() };
    match change {
        RatingChange::Rated { after, deviation, weight, limited } => cluster::RatingChange {
            after: after.into(),
            deviation: deviation.into(),
            weight: weight.into(),
            limited,
            ..wire
        },
        RatingChange::Unrated(reason) => cluster::RatingChange { unrated: reason.name().to_owned(), ..wire },
    }
}

impl cluster::RatingChange {
    fn read(self) -> Result<(Option<u16>, RatingChange), StoredError> {
        let Self { before, after, deviation, weight, limited, unrated } = self;
        let before = before.map(|before| narrow(before, "rating")).transpose()?;
        if unrated.is_empty() {
            let (after, deviation) = (narrow(after, "rating")?, narrow(deviation, "deviation")?);
            return Ok((before, RatingChange::Rated { after, deviation, weight: narrow(weight, "weight")?, limited }));
        }
        let reason = UnratedReason::ALL.into_iter().find(|reason| reason.name() == unrated);
        Ok((before, RatingChange::Unrated(reason.ok_or(StoredError::Malformed("reason of an unrated game"))?)))
    }
}

impl From<InvitationOutcome> for invitation_ended::End {
    fn from(outcome: InvitationOutcome) -> Self {
        match outcome {
            InvitationOutcome::Accepted => Self::Accepted(()),
            InvitationOutcome::Declined(reason) => {
                Self::Declined(reason.as_ref().map(ToString::to_string).unwrap_or_default())
            }
            InvitationOutcome::Expired => Self::Expired(()),
            InvitationOutcome::Withdrawn => Self::Withdrawn(()),
        }
    }
}

fn read_outcome(end: invitation_ended::End) -> Result<InvitationOutcome, StoredError> {
    use invitation_ended::End;
    Ok(match end {
        End::Accepted(()) => InvitationOutcome::Accepted,
        End::Declined(reason) if reason.is_empty() => InvitationOutcome::Declined(None),
        End::Declined(reason) => {
            let reason = DeclineReason::from_stored(&reason).map_err(|_| StoredError::Malformed("reason"))?;
            InvitationOutcome::Declined(Some(reason))
        }
        End::Expired(()) => InvitationOutcome::Expired,
        End::Withdrawn(()) => InvitationOutcome::Withdrawn,
    })
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

impl From<Position> for cluster::Position {
    fn from(position: Position) -> Self {
        let discs = |color| position.board().discs(color).0;
        Self { black: discs(Color::Black), white: discs(Color::White), turn: position.turn().number() }
    }
}

impl cluster::Position {
    fn read(self) -> Result<Position, StoredError> {
        let board = required(Board::new(Bitboard(self.black), Bitboard(self.white)).ok(), "position")?;
        Ok(Position::new(board, Color::read(self.turn)?))
    }
}

impl From<TurnRequest> for cluster::TurnRequested {
    fn from(TurnRequest { game, ply, position, last_move, clocks, is_repeat }: TurnRequest) -> Self {
        Self {
            game: Some(game.into()),
            ply: ply.into(),
            position: Some(position.into()),
            last_move: last_move.map(|square| square.index().into()),
            black: clocks.totals.black.map(nanos),
            white: clocks.totals.white.map(nanos),
            left: nanos(clocks.left),
            deadline: clocks.deadline.0,
            repeat: is_repeat,
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
            is_repeat: self.repeat,
        })
    }
}
