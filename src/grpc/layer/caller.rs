//! Who calls: the player that the auth layer found by the token, and the role.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::{
    grpc::status,
    proto::convert,
    room::{GameId, PasswordHash, PlayerId, Rejection, RoomId},
    runtime::{self, Player},
};

/// The result of a method.
pub(crate) type Reply<T> = Result<Response<T>, Status>;

/// In which role a player calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Player,
    Admin,
}

/// The caller of a request.
pub(crate) fn caller<T>(request: &Request<T>) -> Result<Arc<Player>, Status> {
    caller_with_role(request).map(|(player, _)| player)
}

/// The caller of a request and the role.
pub(crate) fn caller_with_role<T>(request: &Request<T>) -> Result<(Arc<Player>, Role), Status> {
    request.extensions().get().cloned().ok_or_else(status::token_missing)
}

/// The caller of a request and its message.
pub(crate) fn open<T>(request: Request<T>) -> Result<(Arc<Player>, T), Status> {
    Ok((caller(&request)?, request.into_inner()))
}

/// A room id. One that cannot be parsed is of no room.
pub(crate) fn room_id(text: &str) -> Result<RoomId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::RoomNotFound))
}

/// A game id. One that cannot be parsed is of no game.
pub(crate) fn game_id(text: &str) -> Result<GameId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::GameNotFound))
}

/// A player id. One that cannot be parsed is of no player.
pub(crate) fn player_id(text: &str) -> Result<PlayerId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::PlayerNotFound))
}

/// The hash of a request's password; none when it is empty.
pub(crate) fn password(text: &str) -> Result<Option<PasswordHash>, Status> {
    Ok(convert::read_password(text)?.map(runtime::hash_password))
}
