//! The calls about running games. Changes answer with the number of the last event that they caused.

use super::{ClientError, GameId, Incoming, Offer, PlayEvent, RoomId, Session, settings::wire_count};
use crate::{rules::Square, v1};

/// All of these fail with a [`ClientError::Refused`] that says why, or with a broken connection.
#[allow(clippy::missing_errors_doc)]
impl Session {
    /// What concerns the player. Every turn that waits for an answer is sent first. It replaces the player's older
    /// stream of this kind, and [`Session::play_lane`] too.
    pub async fn turns(&self) -> Result<Incoming<PlayEvent>, ClientError> {
        let events = self.games().watch_turns(v1::WatchTurnsRequest {}).await?.into_inner();
        Ok(Incoming::new(events, |response: v1::WatchTurnsResponse| PlayEvent::read(response.event)))
    }

    /// Moves in `game` at `ply`. The same move again is no error.
    pub async fn play(&self, game: &GameId, ply: u32, square: Square) -> Result<u64, ClientError> {
        let request =
            v1::PlayMoveRequest { game_id: game.to_string(), ply: wire_count(ply), square: square.to_string() };
        Ok(self.games().play_move(request).await?.into_inner().seq)
    }

    /// Gives up.
    pub async fn resign(&self, game: &GameId) -> Result<u64, ClientError> {
        let request = v1::ResignRequest { game_id: game.to_string() };
        Ok(self.games().resign(request).await?.into_inner().seq)
    }

    /// Ends the game without a winner: either player before both have moved, the owner when no human is seated.
    pub async fn abort(&self, game: &GameId) -> Result<u64, ClientError> {
        let request = v1::AbortGameRequest { game_id: game.to_string() };
        Ok(self.games().abort_game(request).await?.into_inner().seq)
    }

    /// Offers a draw in the running game, or a rematch after it.
    pub async fn offer(&self, room: &RoomId, offer: Offer) -> Result<u64, ClientError> {
        let request = v1::MakeOfferRequest { room_id: room.to_string(), offer: v1::Offer::from(offer).into() };
        Ok(self.games().make_offer(request).await?.into_inner().seq)
    }

    /// Takes or declines what the opponent has offered.
    pub async fn answer(&self, room: &RoomId, offer: Offer, accept: bool) -> Result<u64, ClientError> {
        let request =
            v1::AnswerOfferRequest { room_id: room.to_string(), offer: v1::Offer::from(offer).into(), accept };
        Ok(self.games().answer_offer(request).await?.into_inner().seq)
    }
}
