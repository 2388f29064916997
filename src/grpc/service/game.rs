//! Playing: turns down, moves up.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

use super::streaming::{End, Feed, Pulse, Told, pour};
use crate::{
    grpc::{
        layer::caller::{Power, caller, caller_with_power, game_id, room_id},
        status,
    },
    {
        proto::{Frame, convert, server::game_service_server::GameService, v1},
        room::{Command, GameId},
        runtime::{Bell, Notice, Play, Player, Runtime, TurnEnd, Turns},
    },
};

/// The game service over a runtime.
pub(crate) struct Games {
    pub(crate) runtime: Runtime,
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
        let (player, pulse) = (caller(&request)?, Pulse::of(&request));
        let turns = self.runtime.turns(&player).await.map_err(status::failed)?;
        let (runtime, moves) = (self.runtime.clone(), Some(request.into_inner()));
        Ok(pour(
            self.runtime.clock(),
            pulse,
            PlayLane { runtime, player, turns, moves, bell: Bell::default(), in_hand: None },
        ))
    }

    type WatchTurnsStream = Feed<v1::WatchTurnsResponse>;

    async fn watch_turns(
        &self,
        request: Request<v1::WatchTurnsRequest>,
    ) -> Result<Response<Self::WatchTurnsStream>, Status> {
        let player = caller(&request)?;
        let turns = self.runtime.turns(&player).await.map_err(status::failed)?;
        Ok(pour(self.runtime.clock(), Pulse::of(&request), TurnFeed { turns }))
    }

    async fn play_move(&self, request: Request<v1::PlayMoveRequest>) -> Result<Response<v1::PlayMoveResponse>, Status> {
        let player = caller(&request)?;
        let v1::PlayMoveRequest { game_id, ply, square } = request.into_inner();
        let (_, play) = play(&self.runtime, &player, &game_id, ply, &square)?;
        let accepted = play.await.map_err(status::failed)?;
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

fn play(runtime: &Runtime, player: &Player, game: &str, ply: i32, square: &str) -> Result<(GameId, Play), Status> {
    let game = game_id(game)?;
    let ply = convert::read_ply(ply).map_err(status::malformed)?;
    let square = convert::read_square(square).map_err(status::malformed)?;
    Ok((game, runtime.play(player, game, ply, square)))
}

/// A player's turns.
struct TurnFeed {
    turns: Turns,
}

impl Stream for TurnFeed {
    type Item = Result<Frame, End>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let notice = ready!(self.turns.poll_next(context));
        Poll::Ready(Some(notice.map(told).map_err(End::from)))
    }
}

/// A player's turns, with moves coming up the same stream, one at a time. In this order, as most of what is looked at each
/// time lies side by side then.
#[repr(C)]
struct PlayLane {
    turns: Turns,
    /// Rings for moves. For each there are three other reasons to look here.
    bell: Bell,
    /// A move on its way to its room, with the game and the ply that it is for.
    in_hand: Option<(GameId, i32, Play)>,
    player: Arc<Player>,
    runtime: Runtime,
    /// Absent once the client has closed its side.
    moves: Option<Streaming<v1::PlayRequest>>,
}

impl PlayLane {
    /// Sends a move on its way.
    fn take(&self, request: &v1::PlayRequest) -> Result<(GameId, Play), Status> {
        self.player.admit().map_err(status::too_fast)?;
        play(&self.runtime, &self.player, &request.game_id, request.ply, &request.square)
    }

    /// Goes a step on with what comes up: hears of the move in hand, or takes the next one. What is to be said of it, if
    /// anything.
    fn poll_moves(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<v1::MoveRejected>, End>> {
        if let Some((game, ply, play)) = &mut self.in_hand {
            let outcome = ready!(Pin::new(play).poll(context));
            let refusal = outcome.map_err(status::failed).err();
            let rejected = refusal.map(|refusal| status::move_rejected(game.to_string(), *ply, &refusal));
            self.in_hand = None;
            // That it was played comes as a notice.
            return Poll::Ready(Ok(rejected));
        }
        let Some(moves) = &mut self.moves else { return Poll::Pending };
        Poll::Ready(match ready!(self.bell.poll(context, |context| Pin::new(&mut *moves).poll_next(context))) {
            Some(Ok(request)) => match self.take(&request) {
                Ok((game, play)) => {
                    self.in_hand = Some((game, request.ply, play));
                    Ok(None)
                }
                Err(refusal) => {
                    // By the same name, whatever a move is rejected for.
                    let game = request.game_id.parse::<GameId>().map_or(request.game_id, |game| game.to_string());
                    Ok(Some(status::move_rejected(game, request.ply, &refusal)))
                }
            },
            None => {
                self.moves = None;
                Ok(None)
            }
            // Behind it no move can be read any more.
            Some(Err(failure)) => Err(status::unreadable(&failure).map_or(End::Broken, End::Failed)),
        })
    }
}

impl Stream for PlayLane {
    type Item = Result<Frame, End>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            // What the server has to say comes first, so that no flood of moves keeps it back, and what a move does is told
            // before what became of it.
            if let Poll::Ready(notice) = self.turns.poll_next(context) {
                return Poll::Ready(Some(notice.map(told).map_err(End::from)));
            }
            if let Some(rejected) = ready!(self.poll_moves(context)).transpose() {
                let told = rejected.map(|rejected| frame(v1::play_event::Event::MoveRejected(rejected)));
                return Poll::Ready(Some(told));
            }
        }
    }
}

impl Told for v1::PlayResponse {
    fn heartbeat(beat: v1::Heartbeat) -> Self {
        wire(v1::play_event::Event::Heartbeat(beat))
    }

    fn closing(closing: v1::Closing) -> Self {
        wire(v1::play_event::Event::Closing(closing))
    }
}

impl Told for v1::WatchTurnsResponse {
    fn heartbeat(beat: v1::Heartbeat) -> Self {
        Self { event: v1::PlayResponse::heartbeat(beat).event }
    }

    fn closing(closing: v1::Closing) -> Self {
        Self { event: v1::PlayResponse::closing(closing).event }
    }
}

fn wire(event: v1::play_event::Event) -> v1::PlayResponse {
    v1::PlayResponse { event: Some(v1::PlayEvent { event: Some(event) }) }
}

/// A `PlayResponse`, which has the same bytes as such a `WatchTurnsResponse`.
fn frame(event: v1::play_event::Event) -> Frame {
    Frame::of(&wire(event))
}

/// A notice, for the wire.
fn told(notice: Notice) -> Frame {
    use v1::play_event::Event;
    frame(match notice {
        Notice::TurnRequested(request) => return convert::turn_requested(&request),
        Notice::TurnClosed { game, ply, end } => return turn_closed(game, ply, end),
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
    })
}

fn turn_closed(game: GameId, ply: u16, end: TurnEnd) -> Frame {
    let (reason, square) = match end {
        TurnEnd::Played(square) => (v1::TurnCloseReason::Played, Some(square)),
        TurnEnd::TimedOut => (v1::TurnCloseReason::TimedOut, None),
        TurnEnd::GameEnded => (v1::TurnCloseReason::GameEnded, None),
    };
    convert::turn_closed(game, ply, reason, square)
}
