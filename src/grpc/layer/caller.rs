//! Who calls: a player that the gate has let in, and perhaps an administrator besides.

use std::sync::Arc;

use tonic::{Request, Status};

use crate::{
    grpc::status,
    {
        room::{PasswordHash, RoomId},
        runtime::Player,
    },
};

/// By what power somebody calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    /// A player's own.
    Player,
    /// An administrator's.
    Admin,
}

/// The player whose call it is, as the gate has found.
pub(crate) fn caller<T>(request: &Request<T>) -> Result<Arc<Player>, Status> {
    caller_with_power(request).map(|(player, _)| player)
}

/// As [`caller`], and by what power.
pub(crate) fn caller_with_power<T>(request: &Request<T>) -> Result<(Arc<Player>, Power), Status> {
    request.extensions().get().cloned().ok_or_else(status::token_missing)
}

/// A room id; one that cannot be is a room that there is not.
pub(crate) fn room_id(text: &str) -> Result<RoomId, Status> {
    text.parse().map_err(|_| status::refused(crate::room::Rejection::RoomNotFound))
}

/// A game id; one that cannot be is a game that there is not.
pub(crate) fn game_id(text: &str) -> Result<crate::room::GameId, Status> {
    text.parse().map_err(|_| status::refused(crate::room::Rejection::GameNotFound))
}

/// The password of a request, hashed; none when it is empty.
pub(crate) fn password(text: &str) -> Result<Option<PasswordHash>, Status> {
    let password = crate::proto::convert::read_password(text).map_err(status::malformed)?;
    Ok(password.map(crate::runtime::hash_password))
}
