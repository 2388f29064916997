//! The caller of a request: the player and the role that the auth layer found.

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::request_id;
use crate::{
    grpc::status,
    room::{GameId, PlayerId, Rejection, RoomId},
    runtime::{BanCheck, Player, RoomError},
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

/// Called when the body is here, which may be long after the head: the token may have been replaced, or the player
/// banned, meanwhile.
pub(crate) fn caller_with_role<T>(request: &Request<T>) -> Result<(Arc<Player>, Role), Status> {
    let caller = request.extensions().get::<(Arc<Player>, Role)>().ok_or_else(status::token_missing)?;
    request.extensions().get::<BanCheck>().map_or(Ok(()), BanCheck::run)?;
    if caller.0.is_replaced() { Err(status::token_invalid()) } else { Ok(caller.clone()) }
}

/// The refusal of a call that failed: whose player was banned, or whose token was replaced, while it was in progress
/// learns that.
pub(crate) fn refusal<T>(request: &Request<T>, error: RoomError) -> Status {
    caller(request).err().unwrap_or_else(|| error.into())
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
    let game = text.parse().map_err(|_| status::refused(Rejection::GameNotFound))?;
    request_id::note_game(game);
    Ok(game)
}

/// Parses a player id. An id that cannot be parsed is reported as PLAYER_NOT_FOUND.
pub(crate) fn player_id(text: &str) -> Result<PlayerId, Status> {
    text.parse().map_err(|_| status::refused(Rejection::PlayerNotFound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        room::{DisplayName, PlayerKind, Timestamp},
        runtime::{Ban, BanSubject, Players, RandomSource, StreamEnd, Token},
    };

    #[test]
    fn a_call_whose_token_was_replaced_before_its_body_came_is_refused() {
        let players = Players::default();
        let (ada, _) = players.log_in(DisplayName::parse("Ada").unwrap(), PlayerKind::Human, 0).unwrap();
        let mut request = Request::new(());
        request.extensions_mut().insert((Arc::clone(&ada), Role::Player));
        assert!(caller(&request).is_ok());
        let next = Token::generate(&RandomSource::default());
        players.replace(&ada, next.hash(), StreamEnd::LoggedOut);
        assert_eq!(caller(&request).unwrap_err().code(), tonic::Code::Unauthenticated);
        let next = players.bearer(&next).unwrap();
        request.extensions_mut().insert((next, Role::Player));
        assert!(caller(&request).is_ok());
    }

    #[test]
    fn a_stream_that_opens_at_the_moment_of_a_ban_is_refused_with_it() {
        let players = Players::default();
        let (eve, _) = players.log_in(DisplayName::parse("Eve").unwrap(), PlayerKind::Human, 0).unwrap();
        let mut request = Request::new(());
        request.extensions_mut().insert((Arc::clone(&eve), Role::Player));
        request.extensions_mut().insert(players.bans.check(Some(&eve), None));
        let subject = BanSubject::Name(eve.name.clone());
        players.bans.set(vec![Ban { subject, reason: None, since: Timestamp(1), until: None }]);
        players.replace(&eve, eve.token_hash(), StreamEnd::Banned);
        assert_eq!(refusal(&request, RoomError::TokenReplaced).code(), tonic::Code::PermissionDenied);
    }
}
