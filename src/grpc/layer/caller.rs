//! The caller of a request: the player and the role that the auth layer found.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::{
    grpc::status,
    room::{GameId, PlayerId, Rejection, RoomId},
    runtime::Player,
};

pub(crate) type Reply<T> = Result<Response<T>, Status>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Player,
    Admin,
}

pub(crate) fn caller<T>(request: &Request<T>) -> Result<Arc<Player>, Status> {
    caller_with_role(request).map(|(player, _)| player)
}

pub(crate) fn caller_with_role<T>(request: &Request<T>) -> Result<(Arc<Player>, Role), Status> {
    request.extensions().get().cloned().ok_or_else(status::token_missing)
}

/// Splits a request into its caller and its message.
pub(crate) fn open<T>(request: Request<T>) -> Result<(Arc<Player>, T), Status> {
    Ok((caller(&request)?, request.into_inner()))
}

/// Parses a room id. An id that cannot be parsed is reported as ROOM_NOT_FOUND.
pub(crate) fn room_id(text: &str) -> Result<RoomId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::RoomNotFound))
}

/// Parses a game id. An id that cannot be parsed is reported as GAME_NOT_FOUND.
pub(crate) fn game_id(text: &str) -> Result<GameId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::GameNotFound))
}

/// Parses a player id. An id that cannot be parsed is reported as PLAYER_NOT_FOUND.
pub(crate) fn player_id(text: &str) -> Result<PlayerId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::PlayerNotFound))
}
