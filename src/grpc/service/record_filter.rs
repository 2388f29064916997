//! The filters of finished games, of the explorer and of the ranking, as requests give them.

use tonic::Status;

use crate::{
    proto::{
        convert::{self, Malformed},
        v1,
    },
    room::{PlayerId, Timestamp},
    rules::{Color, Position, opening_names},
    runtime::{ExplorerFilter, GameFilter, GameResult, OpponentKind, RankingFilter},
};

pub(super) fn read_games(wire: v1::GameFilter, viewer: PlayerId, now: Timestamp) -> Result<GameFilter, Status> {
    let room = (!wire.room_id.is_empty()).then(|| convert::read_id("filter.room_id", &wire.room_id));
    let player = (!wire.player_id.is_empty()).then(|| convert::read_id("filter.player_id", &wire.player_id));
    let tournament =
        (!wire.tournament_id.is_empty()).then(|| convert::read_id("filter.tournament_id", &wire.tournament_id));
    Ok(GameFilter {
        viewer,
        now,
        room: room.transpose()?,
        tournament: tournament.transpose()?,
        player: player.transpose()?,
        kind: read_kind("filter.kind", wire.kind)?,
        result: read_result(wire.result)?,
        rated: wire.rated,
        min_rating: read_rating("filter.min_rating", wire.min_rating)?,
        ended_from: read_time("filter.ended_from", wire.ended_from)?,
        ended_before: read_time("filter.ended_before", wire.ended_before)?,
        opening: read_opening(&wire.opening)?,
    })
}

pub(super) fn read_explorer(wire: &v1::ExplorePositionRequest) -> Result<ExplorerFilter, Status> {
    Ok(ExplorerFilter {
        kind: read_kind("kind", wire.kind)?,
        min_rating: read_rating("min_rating", wire.min_rating)?,
        max_rating: read_rating("max_rating", wire.max_rating)?,
    })
}

pub(super) fn read_ranking(wire: &v1::ListRatingsRequest) -> Result<RankingFilter, Status> {
    Ok(RankingFilter { kind: read_kind("kind", wire.kind)?, provisional: wire.provisional })
}

/// The position to explore, after a forced pass.
pub(super) fn read_position(subject: Option<v1::explore_position_request::Subject>) -> Result<Position, Status> {
    use v1::explore_position_request::Subject;
    let position = match subject {
        Some(Subject::Position(position)) => convert::read_board(&position)?,
        Some(Subject::Transcript(text)) => convert::read_transcript(&text)?.position(),
        None => return Err(Malformed::argument("subject", "must be a position or a transcript").into()),
    };
    Ok(position.after_forced_pass().0)
}

fn read_kind(field: &str, wire: i32) -> Result<Option<OpponentKind>, Malformed> {
    match v1::ParticipantKind::try_from(wire) {
        Ok(v1::ParticipantKind::Unspecified) => Ok(None),
        Ok(v1::ParticipantKind::Human) => Ok(Some(OpponentKind::Human)),
        Ok(v1::ParticipantKind::Bot) => Ok(Some(OpponentKind::Bot)),
        Ok(v1::ParticipantKind::Ai) => Ok(Some(OpponentKind::Ai)),
        Err(_) => Err(Malformed::argument(field, "must be a known value")),
    }
}

fn read_result(wire: i32) -> Result<Option<GameResult>, Malformed> {
    match v1::GameResult::try_from(wire) {
        Ok(v1::GameResult::Unspecified) => Ok(None),
        Ok(v1::GameResult::BlackWins) => Ok(Some(GameResult::Won(Color::Black))),
        Ok(v1::GameResult::WhiteWins) => Ok(Some(GameResult::Won(Color::White))),
        Ok(v1::GameResult::Draw) => Ok(Some(GameResult::Drawn)),
        Ok(v1::GameResult::Aborted) => Ok(Some(GameResult::Aborted)),
        Err(_) => Err(Malformed::argument("filter.result", "must be a known value")),
    }
}

/// A rating; none for 0.
pub(super) fn read_rating(field: &str, wire: i32) -> Result<Option<u16>, Malformed> {
    let rating = u16::try_from(wire).map_err(|_| Malformed::argument(field, "must be 0 to 65535"))?;
    Ok((rating > 0).then_some(rating))
}

fn read_time(field: &str, wire: Option<prost_types::Timestamp>) -> Result<Option<Timestamp>, Malformed> {
    wire.map(|wire| convert::read_timestamp(field, wire)).transpose()
}

fn read_opening(name: &str) -> Result<Option<&'static str>, Malformed> {
    if name.is_empty() {
        return Ok(None);
    }
    let known = opening_names::all().find(|known| *known == name);
    known.map(Some).ok_or_else(|| Malformed::argument("filter.opening", "must be the name of an opening, as \"Tiger\""))
}
