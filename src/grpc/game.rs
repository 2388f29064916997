//! Playing: turns down, moves up.

use std::{pin::Pin, sync::Arc};

use tonic::{Request, Response, Status, Streaming};

use super::{
    caller::{Power, caller, caller_with_power, game_id, room_id},
    feed::{End, Feed, Source, feed},
    status,
};
use crate::{
    proto::{convert, server::game_service_server::GameService, v1},
    room::{Command, GameId},
    runtime::{Accepted, Notice, Player, Runtime, TurnEnd, Turns},
};

/// The game service over a runtime.
pub(super) struct Games {
    pub(super) runtime: Runtime,
}

impl Games {
    async fn give_up(&self, request: Request<()>, id: &str) -> Result<u64, Status> {
        let player = caller(&request)?;
        let game = game_id(id)?;
        let accepted = self.runtime.command_game(&player, game, Command::Resign { game: game.number }).await;
        Ok(accepted.map_err(status::failed)?.seq.0)
    }

    async fn abort(&self, request: Request<()>, id: &str) -> Result<u64, Status> {
        let (player, power) = caller_with_power(&request)?;
        let game = game_id(id)?;
        let abort = Command::Abort { game: game.number };
        let accepted = match power {
            Power::Player => self.runtime.command_game(&player, game, abort).await,
            Power::Admin => {
                tracing::info!(%game, by = %player.id(), "aborted by an administrator");
                self.runtime.rule_game(game, abort).await
            }
        };
        Ok(accepted.map_err(status::failed)?.seq.0)
    }

    async fn change(&self, request: Request<()>, room: &str, command: Command) -> Result<u64, Status> {
        let player = caller(&request)?;
        let accepted = self.runtime.command(&player, room_id(room)?, command).await;
        Ok(accepted.map_err(status::failed)?.seq.0)
    }
}

#[tonic::async_trait]
impl GameService for Games {
    type PlayStream = Feed<v1::PlayResponse>;

    async fn play(&self, request: Request<Streaming<v1::PlayRequest>>) -> Result<Response<Self::PlayStream>, Status> {
        let player = caller(&request)?;
        let turns = self.runtime.turns(&player).await.map_err(status::failed)?;
        Ok(feed(
            self.runtime.clock(),
            PlayLane { runtime: self.runtime.clone(), player, turns, moves: Some(request.into_inner()), in_hand: None },
        ))
    }

    type WatchTurnsStream = Feed<v1::WatchTurnsResponse>;

    async fn watch_turns(
        &self,
        request: Request<v1::WatchTurnsRequest>,
    ) -> Result<Response<Self::WatchTurnsStream>, Status> {
        let player = caller(&request)?;
        let turns = self.runtime.turns(&player).await.map_err(status::failed)?;
        Ok(feed(self.runtime.clock(), TurnFeed { turns }))
    }

    async fn play_move(&self, request: Request<v1::PlayMoveRequest>) -> Result<Response<v1::PlayMoveResponse>, Status> {
        let player = caller(&request)?;
        let v1::PlayMoveRequest { game_id, ply, square } = request.into_inner();
        let accepted = play(&self.runtime, &player, &game_id, ply, &square).await?;
        Ok(Response::new(v1::PlayMoveResponse { seq: accepted.seq.0, already_applied: !accepted.changed }))
    }

    async fn resign(&self, request: Request<v1::ResignRequest>) -> Result<Response<v1::ResignResponse>, Status> {
        let (request, wire) = split(request);
        let seq = self.give_up(request, &wire.game_id).await?;
        Ok(Response::new(v1::ResignResponse { seq }))
    }

    async fn abort_game(
        &self,
        request: Request<v1::AbortGameRequest>,
    ) -> Result<Response<v1::AbortGameResponse>, Status> {
        let (request, wire) = split(request);
        let seq = self.abort(request, &wire.game_id).await?;
        Ok(Response::new(v1::AbortGameResponse { seq }))
    }

    async fn make_offer(
        &self,
        request: Request<v1::MakeOfferRequest>,
    ) -> Result<Response<v1::MakeOfferResponse>, Status> {
        let (request, wire) = split(request);
        let offer = convert::read_offer(wire.offer).map_err(status::malformed)?;
        let seq = self.change(request, &wire.room_id, Command::Offer(offer)).await?;
        Ok(Response::new(v1::MakeOfferResponse { seq }))
    }

    async fn answer_offer(
        &self,
        request: Request<v1::AnswerOfferRequest>,
    ) -> Result<Response<v1::AnswerOfferResponse>, Status> {
        let (request, wire) = split(request);
        let offer = convert::read_offer(wire.offer).map_err(status::malformed)?;
        let seq = self.change(request, &wire.room_id, Command::Answer(offer, wire.accept)).await?;
        Ok(Response::new(v1::AnswerOfferResponse { seq }))
    }
}

/// The envelope of a request, and what was in it.
fn split<T>(request: Request<T>) -> (Request<()>, T) {
    let (metadata, extensions, wire) = request.into_parts();
    (Request::from_parts(metadata, extensions, ()), wire)
}

async fn play(runtime: &Runtime, player: &Arc<Player>, game: &str, ply: i32, square: &str) -> Result<Accepted, Status> {
    let game = game_id(game)?;
    let ply = convert::read_ply(ply).map_err(status::malformed)?;
    let square = convert::read_square(square).map_err(status::malformed)?;
    runtime.play(player, game, ply, square).await.map_err(status::failed)
}

/// A player's turns.
struct TurnFeed {
    turns: Turns,
}

impl Source for TurnFeed {
    type Message = v1::WatchTurnsResponse;

    async fn next(&mut self) -> Result<Self::Message, End> {
        let event = told(self.turns.next().await?);
        Ok(v1::WatchTurnsResponse { event: Some(v1::PlayEvent { event: Some(event) }) })
    }

    fn heartbeat(beat: v1::Heartbeat) -> Self::Message {
        let event = v1::play_event::Event::Heartbeat(beat);
        v1::WatchTurnsResponse { event: Some(v1::PlayEvent { event: Some(event) }) }
    }

    fn closing(closing: v1::Closing) -> Self::Message {
        let event = v1::play_event::Event::Closing(closing);
        v1::WatchTurnsResponse { event: Some(v1::PlayEvent { event: Some(event) }) }
    }
}

/// A move on its way to its room, and what came of it.
type InHand = Pin<Box<dyn Future<Output = Result<Accepted, (v1::PlayRequest, Status)>> + Send>>;

/// A player's turns, with moves coming up the same stream, one at a time.
struct PlayLane {
    runtime: Runtime,
    player: Arc<Player>,
    turns: Turns,
    /// Absent once the client has closed its side.
    moves: Option<Streaming<v1::PlayRequest>>,
    in_hand: Option<InHand>,
}

/// What the lane waits for.
enum Came {
    Notice(Notice),
    Move(v1::PlayRequest),
    NoMoreMoves,
    Done(Result<Accepted, (v1::PlayRequest, Status)>),
}

impl PlayLane {
    /// Waits for one thing; a dropped wait loses nothing. What the server has to say comes first, so that no flood of
    /// moves keeps it back.
    async fn wait(&mut self) -> Result<Came, End> {
        let Self { turns, moves, in_hand, .. } = self;
        tokio::select! {
            biased;
            notice = turns.next() => Ok(Came::Notice(notice?)),
            came = work(in_hand, moves) => came,
        }
    }

    /// Sends a move on its way.
    fn take(&self, request: v1::PlayRequest) -> InHand {
        let (runtime, player) = (self.runtime.clone(), Arc::clone(&self.player));
        Box::pin(async move {
            let outcome = match player.admit() {
                Ok(()) => play(&runtime, &player, &request.game_id, request.ply, &request.square).await,
                Err(too_fast) => Err(status::too_fast(too_fast)),
            };
            outcome.map_err(|status| (request, status))
        })
    }
}

/// Waits for the move in hand, or for the next one when there is none.
async fn work(in_hand: &mut Option<InHand>, moves: &mut Option<Streaming<v1::PlayRequest>>) -> Result<Came, End> {
    match (in_hand, moves) {
        (Some(in_hand), _) => Ok(Came::Done(in_hand.await)),
        (None, Some(moves)) => match moves.message().await {
            Ok(Some(request)) => Ok(Came::Move(request)),
            Ok(None) => Ok(Came::NoMoreMoves),
            // Behind it no move can be read any more.
            Err(failure) => Err(status::unreadable(&failure).map_or(End::Broken, End::Failed)),
        },
        (None, None) => std::future::pending().await,
    }
}

impl Source for PlayLane {
    type Message = v1::PlayResponse;

    async fn next(&mut self) -> Result<Self::Message, End> {
        loop {
            let event = match self.wait().await? {
                Came::Notice(notice) => told(notice),
                Came::Move(request) => {
                    self.in_hand = Some(self.take(request));
                    continue;
                }
                Came::NoMoreMoves => {
                    self.moves = None;
                    continue;
                }
                Came::Done(outcome) => {
                    self.in_hand = None;
                    match outcome {
                        // That it was played comes as a notice.
                        Ok(_) => continue,
                        Err((request, status)) => {
                            v1::play_event::Event::MoveRejected(status::move_rejected(&request, &status))
                        }
                    }
                }
            };
            return Ok(v1::PlayResponse { event: Some(v1::PlayEvent { event: Some(event) }) });
        }
    }

    fn heartbeat(beat: v1::Heartbeat) -> Self::Message {
        let event = v1::play_event::Event::Heartbeat(beat);
        v1::PlayResponse { event: Some(v1::PlayEvent { event: Some(event) }) }
    }

    fn closing(closing: v1::Closing) -> Self::Message {
        let event = v1::play_event::Event::Closing(closing);
        v1::PlayResponse { event: Some(v1::PlayEvent { event: Some(event) }) }
    }
}

/// A notice, for the wire.
fn told(notice: Notice) -> v1::play_event::Event {
    use v1::play_event::Event;
    match notice {
        Notice::TurnRequested(sheet) => Event::TurnRequested(convert::turn_requested(&sheet)),
        Notice::TurnClosed { game, ply, end } => Event::TurnClosed(turn_closed(game, ply, end)),
        Notice::GameStarted { game, side, opponent, present } => Event::GameStarted(v1::PlayerGameStarted {
            room_id: game.room.to_string(),
            game_id: game.to_string(),
            side: convert::side(side).into(),
            opponent: Some(convert::lone_seat(&opponent, present)),
        }),
        Notice::GameEnded { game, side, end, position } => Event::GameEnded(v1::PlayerGameEnded {
            room_id: game.room.to_string(),
            game_id: game.to_string(),
            side: convert::side(side).into(),
            outcome: Some(convert::outcome(end, position)),
            position: Some(convert::final_position(position)),
        }),
        Notice::Kicked { room, banned } => Event::Kicked(v1::PlayerKicked { room_id: room.to_string(), banned }),
        Notice::RoomClosed(room) => Event::RoomClosed(v1::PlayerRoomClosed { room_id: room.to_string() }),
        Notice::Invited { room, seat, code, by } => Event::Invited(v1::PlayerInvited {
            room_id: room.to_string(),
            seat: convert::seat_number(seat),
            join_code: code.to_string(),
            by: by.as_ref().map(convert::player),
        }),
    }
}

fn turn_closed(game: GameId, ply: u16, end: TurnEnd) -> v1::TurnClosed {
    let (reason, square) = match end {
        TurnEnd::Played(square) => (v1::TurnCloseReason::Played, square.name().to_owned()),
        TurnEnd::TimedOut => (v1::TurnCloseReason::TimedOut, String::new()),
        TurnEnd::GameEnded => (v1::TurnCloseReason::GameEnded, String::new()),
    };
    v1::TurnClosed { game_id: game.to_string(), ply: ply.into(), reason: reason.into(), square }
}
