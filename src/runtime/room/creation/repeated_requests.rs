//! Requests with ids, which take effect once. The event that a request causes carries it, and the store keeps what it
//! did in the same commit: so a repeat has the same result after a restart, at another node, and from two nodes at
//! once.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::{
    room::{Command, GameId, PlayerId, Request, RoomId},
    runtime::{
        outcome::{Accepted, RoomError},
        player::player::Player,
        room::rooms::Rooms,
    },
    store::DoneRequest,
};

/// A player's request with an id, by the name of its method and its encoded body.
#[must_use]
pub fn request_with_id(player: PlayerId, id: &str, method: &str, body: &[u8]) -> Request {
    let hash = |parts: &[&[u8]]| {
        let mut hash = Sha256::new_with_prefix(player.bits().to_le_bytes());
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    };
    Request { key: hash(&[id.as_bytes()]), digest: hash(&[id.as_bytes(), method.as_bytes(), body]) }
}

impl Rooms {
    /// Runs a request, unless it has an id and was done before: then returns the result of `again`.
    ///
    /// # Errors
    /// [`RoomError::RequestIdReused`] if another request with this id was done.
    pub(in crate::runtime::room) async fn once<T>(
        &self,
        player: &Player,
        request: Option<Request>,
        run: impl AsyncFnOnce() -> Result<T, RoomError>,
        again: impl AsyncFnOnce(DoneRequest) -> Result<T, RoomError>,
    ) -> Result<T, RoomError> {
        if request.is_none() {
            return run().await;
        }
        let _turn = player.requesting.lock().await;
        if let Some(done) = self.done(request).await? {
            return again(done).await;
        }
        let outcome = run().await;
        let Err(error) = &outcome else { return outcome };
        match self.done(request).await {
            // The same request was done at another node meanwhile, or by this call, if only the answer was lost.
            Ok(Some(done)) => again(done).await,
            Err(RoomError::RequestIdReused) => Err(RoomError::RequestIdReused),
            // Another node is writing a request with this id.
            _ if matches!(error, RoomError::RequestIdReused) => Err(RoomError::Busy),
            _ => outcome,
        }
    }

    /// What a request did before.
    pub(in crate::runtime::room) async fn done(
        &self,
        request: Option<Request>,
    ) -> Result<Option<DoneRequest>, RoomError> {
        let Some(Request { key, digest }) = request else { return Ok(None) };
        let context = &self.host.context;
        let done = context.journal.done_request(key, context.clock.now()).await?;
        if done.is_some_and(|done| done.digest != digest) { Err(RoomError::RequestIdReused) } else { Ok(done) }
    }

    /// Starts a game. A repeated request returns the first answer, if the room is open.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub async fn start_game(
        &self,
        player: &Arc<Player>,
        room: RoomId,
        request: Option<Request>,
    ) -> Result<Accepted, RoomError> {
        let (this, player) = (self.clone(), Arc::clone(player));
        let start = async move {
            let start = async || this.command(&player, room, Command::Start(request)).await;
            let again = async |DoneRequest { room, seq, game, .. }: DoneRequest| {
                this.snapshot_as_admin(room).await?;
                Ok(Accepted { seq, changed: false, game: Some(GameId { room, number: game }) })
            };
            this.once(&player, request, start, again).await
        };
        self.host.context.lifecycle.run_to_end(start).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_request_is_told_from_others(
            (player, other) in (any::<u32>(), any::<u32>()),
            (id, method, body) in (".{0,9}", ".{0,9}", ".{0,9}"),
            (id2, method2, body2) in (".{0,9}", ".{0,9}", ".{0,9}"),
        ) {
            let of = |player: u32, id: &str, method: &str, body: &str| {
                request_with_id(PlayerId::from_random(player.into()), id, method, body.as_bytes())
            };
            let (one, two) = (of(player, &id, &method, &body), of(other, &id2, &method2, &body2));
            prop_assert_eq!(one, of(player, &id, &method, &body));
            prop_assert_eq!(one.key == two.key, (player, &id) == (other, &id2));
            let is_same = (player, &id, &method, &body) == (other, &id2, &method2, &body2);
            prop_assert_eq!(one.digest == two.digest, is_same);
            // The method and the body count apart.
            prop_assert_eq!(one.digest == of(player, &id, &body, &method).digest, method == body);
            prop_assert_ne!(one.digest, of(player, &id, &format!("{method}x"), &body).digest);
        }
    }
}
