//! Playing: sends turn requests to the client and receives its moves.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_util::future::BoxFuture;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

use super::{
    Services,
    game_record::participant,
    streaming::{End, HeartbeatSchedule, ResponseStream, StreamMessage},
    tournament,
};
use crate::{
    grpc::{
        layer::{
            caller::{Reply, Role, caller, caller_with_role, game_id, open, refusal},
            refusals, request_id,
        },
        status,
    },
    proto::{
        EncodedMessage,
        convert::{self, WireEnum as _},
        generated_services::game_service_server::GameService,
        v1,
    },
    room::{Command, GameId},
    rules::{Color, Square},
    runtime::{
        Accepted, InvitationOutcome, Notice, OfferStatus, Play, Player, RoomError, Runtime, TournamentNews, TurnEnd,
        Turns, WakeGate,
    },
};

/// The method that a rejected move belongs to.
const PLAY: &str = "GameService/Play";

#[tonic::async_trait]
impl GameService for Services {
    type PlayStream = ResponseStream<v1::PlayResponse, PlayStream>;

    async fn play(&self, request: Request<Streaming<v1::PlayRequest>>) -> Reply<Self::PlayStream> {
        let (player, schedule) = (caller(&request)?, HeartbeatSchedule::of(&request));
        let turns = self.runtime.streams.turns(&player).await.map_err(|error| refusal(&request, error))?;
        let (runtime, moves) = (self.runtime.clone(), Some(request.into_inner()));
        let source = PlayStream { runtime, player, turns, moves, gate: WakeGate::default(), pending: None };
        Ok(ResponseStream::new(self.runtime.clock(), schedule, source))
    }

    // A `WatchTurnsResponse` has the same bytes as the `PlayResponse` of its event.
    type WatchTurnsStream = ResponseStream<v1::PlayResponse, TurnStream>;

    async fn watch_turns(&self, request: Request<v1::WatchTurnsRequest>) -> Reply<Self::WatchTurnsStream> {
        let (player, schedule) = (caller(&request)?, HeartbeatSchedule::of(&request));
        let schedule = schedule.every(request.get_ref().heartbeat_seconds)?;
        let turns = self.runtime.streams.turns(&player).await.map_err(|error| refusal(&request, error))?;
        Ok(ResponseStream::new(self.runtime.clock(), schedule, TurnStream(turns)))
    }

    async fn play_move(&self, request: Request<v1::PlayMoveRequest>) -> Reply<v1::PlayMoveResponse> {
        let (player, wire) = open(request)?;
        let made = PlayedMove::read(&wire.game_id, wire.ply, &wire.square)?;
        let accepted = match made.play(&self.runtime, &player).await {
            Err(refusal) => made.accept_repeat(&self.runtime, &player, refusal).await?,
            Ok(accepted) => accepted,
        };
        Ok(Response::new(v1::PlayMoveResponse { seq: accepted.seq.0, already_applied: !accepted.changed }))
    }

    async fn resign(&self, request: Request<v1::ResignRequest>) -> Reply<v1::ResignResponse> {
        let (player, wire) = open(request)?;
        let game = game_id(&wire.game_id)?;
        let resign = Command::Resign { game: game.number };
        let accepted = self.runtime.rooms.command(&player, game.room, resign).await;
        let accepted = accepted.map_err(RoomError::or_game_not_found)?;
        Ok(Response::new(v1::ResignResponse { seq: accepted.seq.0 }))
    }

    async fn abort_game(&self, request: Request<v1::AbortGameRequest>) -> Reply<v1::AbortGameResponse> {
        let (player, role) = caller_with_role(&request)?;
        let game = game_id(&request.into_inner().game_id)?;
        let accepted = match role {
            Role::Player => self.runtime.games.abort(&player, game).await,
            Role::Admin => {
                let abort = Command::Abort { game: game.number };
                let done = self.runtime.rooms.command_as_admin(game.room, abort).await;
                match &done {
                    Ok(_) => tracing::info!(%game, by = %player.id(), "aborted by an administrator"),
                    Err(why) => tracing::info!(%game, by = %player.id(), %why, "an administrator's abort was refused"),
                }
                done
            }
        };
        let accepted = accepted.map_err(RoomError::or_game_not_found)?;
        Ok(Response::new(v1::AbortGameResponse { seq: accepted.seq.0 }))
    }

    async fn claim_game(&self, request: Request<v1::ClaimGameRequest>) -> Reply<v1::ClaimGameResponse> {
        let (player, wire) = open(request)?;
        let game = game_id(&wire.game_id)?;
        let claim = Command::Claim { game: game.number, claim: convert::read_claim(wire.claim)? };
        let accepted = self.runtime.rooms.command(&player, game.room, claim).await;
        let accepted = accepted.map_err(RoomError::or_game_not_found)?;
        Ok(Response::new(v1::ClaimGameResponse { seq: accepted.seq.0 }))
    }

    async fn make_offer(&self, request: Request<v1::MakeOfferRequest>) -> Reply<v1::MakeOfferResponse> {
        let (player, wire) = open(request)?;
        let (room, game) = convert::read_offered(&wire.room_id, &wire.game_id)?;
        game.into_iter().for_each(|number| request_id::note_game(GameId { room, number }));
        let command = Command::Offer(convert::read_offer(wire.offer)?, game);
        let accepted = self.runtime.rooms.command(&player, room, command).await?;
        Ok(Response::new(v1::MakeOfferResponse { seq: accepted.seq.0 }))
    }

    async fn answer_offer(&self, request: Request<v1::AnswerOfferRequest>) -> Reply<v1::AnswerOfferResponse> {
        let (player, wire) = open(request)?;
        let (room, game) = convert::read_offered(&wire.room_id, &wire.game_id)?;
        game.into_iter().for_each(|number| request_id::note_game(GameId { room, number }));
        let command = Command::Answer(convert::read_offer(wire.offer)?, game, wire.accept);
        let accepted = self.runtime.rooms.command(&player, room, command).await?;
        Ok(Response::new(v1::AnswerOfferResponse { seq: accepted.seq.0 }))
    }
}

/// A move that a client has sent.
#[derive(Clone, Copy)]
struct PlayedMove {
    game: GameId,
    ply: u16,
    square: Square,
}

impl PlayedMove {
    fn read(game: &str, ply: i32, square: &str) -> Result<Self, Status> {
        Ok(Self { game: game_id(game)?, ply: convert::read_ply(ply)?, square: convert::read_square(square)? })
    }

    fn play(self, runtime: &Runtime, player: &Player) -> Play {
        runtime.rooms.play(player, self.game, self.ply, self.square)
    }

    /// The outcome of a refused move.
    fn accept_repeat(self, runtime: &Runtime, player: &Arc<Player>, refusal: RoomError) -> Outcome {
        let (games, player) = (runtime.games.clone(), Arc::clone(player));
        let made = (self.game, self.ply, self.square);
        Box::pin(async move { games.accept_repeat(&player, made, refusal).await })
    }
}

type Outcome = BoxFuture<'static, Result<Accepted, RoomError>>;

/// What a move waits for.
enum Pending {
    Room(Play),
    /// Whether it was made in a game that has ended.
    Archive(Outcome),
}

pub(crate) struct TurnStream(Turns);

impl Stream for TurnStream {
    type Item = Result<EncodedMessage, End>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let notice = ready!(self.0.poll_next(context));
        Poll::Ready(Some(notice.map(encode).map_err(End::from)))
    }
}

/// The turn events of a player, and the moves that the client sends on the same stream, one at a time.
pub(crate) struct PlayStream {
    turns: Turns,
    /// Polls `moves` only when they have woken the stream; three other sources also wake it for each move.
    gate: WakeGate,
    /// The move that waits for its outcome.
    pending: Option<(PlayedMove, Pending)>,
    player: Arc<Player>,
    runtime: Runtime,
    /// None after the client has closed its side.
    moves: Option<Streaming<v1::PlayRequest>>,
}

impl PlayStream {
    fn start(&self, request: &v1::PlayRequest) -> Result<(PlayedMove, Pending), Status> {
        self.player.admit()?;
        let made = PlayedMove::read(&request.game_id, request.ply, &request.square)?;
        Ok((made, Pending::Room(made.play(&self.runtime, &self.player))))
    }

    fn reject(&self, game: String, ply: i32, refusal: &Status) -> v1::MoveRejected {
        refusals::note(&self.player, self.runtime.clock().now(), PLAY, refusal, game.parse().ok());
        status::move_rejected(game, ply, refusal)
    }

    /// One step: the result of the pending move, or the next move. Returns the rejection of a move, if any.
    fn poll_moves(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<v1::MoveRejected>, End>> {
        if let Some((made, pending)) = &mut self.pending {
            let (made, outcome) = (
                *made,
                match pending {
                    Pending::Room(play) => ready!(Pin::new(play).poll(context)).map_err(|error| (error, true)),
                    Pending::Archive(outcome) => ready!(outcome.as_mut().poll(context)).map_err(|error| (error, false)),
                },
            );
            let rejected = match outcome {
                Ok(_) => None,
                Err((refusal, true)) => {
                    let outcome = made.accept_repeat(&self.runtime, &self.player, refusal);
                    self.pending = Some((made, Pending::Archive(outcome)));
                    return self.poll_moves(context);
                }
                Err((refusal, false)) => Some(self.reject(made.game.to_string(), made.ply.into(), &refusal.into())),
            };
            self.pending = None;
            // A move that was played is reported by a notice.
            return Poll::Ready(Ok(rejected));
        }
        let Some(moves) = &mut self.moves else { return Poll::Pending };
        Poll::Ready(match ready!(self.gate.poll(context, |context| Pin::new(&mut *moves).poll_next(context))) {
            Some(Ok(request)) => match self.start(&request) {
                Ok(started) => {
                    self.pending = Some(started);
                    Ok(None)
                }
                Err(refusal) => {
                    // The id in the server's spelling, as in every other rejection.
                    let game = request.game_id.parse::<GameId>().map_or(request.game_id, |game| game.to_string());
                    Ok(Some(self.reject(game, request.ply, &refusal)))
                }
            },
            None => {
                self.moves = None;
                Ok(None)
            }
            // No more moves can be read.
            Some(Err(failure)) => Err(status::of_transport(&failure).map_or(End::Done, End::Failed)),
        })
    }
}

impl Stream for PlayStream {
    type Item = Result<EncodedMessage, End>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            // Notices first: a flood of moves must not delay them, and the effect of a move comes before its result.
            if let Poll::Ready(notice) = self.turns.poll_next(context) {
                return Poll::Ready(Some(notice.map(encode).map_err(End::from)));
            }
            if let Some(rejected) = ready!(self.poll_moves(context)).transpose() {
                let message = rejected.map(|rejected| event(v1::play_event::Event::MoveRejected(rejected)));
                return Poll::Ready(Some(message));
            }
        }
    }
}

impl StreamMessage for v1::PlayResponse {
    fn heartbeat(heartbeat: v1::Heartbeat) -> Self {
        response(v1::play_event::Event::Heartbeat(heartbeat))
    }

    fn closing(closing: v1::Closing) -> Self {
        response(v1::play_event::Event::Closing(closing))
    }
}

fn response(event: v1::play_event::Event) -> v1::PlayResponse {
    v1::PlayResponse { event: Some(v1::PlayEvent { event: Some(event) }) }
}

/// A `PlayResponse`. It has the same bytes as a `WatchTurnsResponse` with this event.
fn event(event: v1::play_event::Event) -> EncodedMessage {
    EncodedMessage::new(&response(event))
}

/// A notice as a `PlayResponse`.
fn encode(notice: Notice) -> EncodedMessage {
    use v1::play_event::Event;
    event(match notice {
        Notice::TurnRequested(request) => return convert::turn_requested(&request),
        Notice::TurnClosed { game, ply, end } => return turn_closed(game, ply, end),
        Notice::GameStarted { game, side, opponent, present, series, meeting } => {
            Event::GameStarted(v1::PlayerGameStarted {
                room_id: game.room.to_string(),
                game_id: game.to_string(),
                side: side.wire().into(),
                opponent: Some(convert::lone_seat(&opponent, present)),
                series: series.map(convert::series),
                meeting: meeting.map(convert::room_meeting),
            })
        }
        Notice::GameEnded { game, side, end, position, series } => Event::GameEnded(v1::PlayerGameEnded {
            room_id: game.room.to_string(),
            game_id: game.to_string(),
            side: side.wire().into(),
            outcome: Some(convert::outcome(end, position)),
            position: Some(convert::final_position(position)),
            series: series.map(convert::series),
        }),
        Notice::RatingChanged { game, side, before, changes } => {
            let of = |side: Color| Some(convert::rating_change(before[side], changes[side]));
            Event::RatingChanged(v1::PlayerRatingChanged {
                room_id: game.room.to_string(),
                game_id: game.to_string(),
                side: side.wire().into(),
                own: of(side),
                opponent: of(side.opposite()),
            })
        }
        Notice::Offer { game, offer, status, own } => Event::Offer(v1::PlayerOffer {
            room_id: game.room.to_string(),
            game_id: game.to_string(),
            offer: offer.wire().into(),
            status: offer_status(status).into(),
            own,
        }),
        Notice::Tournament { tournament, news } => {
            let news = Some(tournament_news(news));
            Event::Tournament(v1::PlayerTournament { tournament_id: tournament.to_string(), news })
        }
        Notice::SeriesEnded(room) => Event::SeriesEnded(v1::PlayerSeriesEnded { room_id: room.to_string() }),
        Notice::Kicked { room, banned } => Event::Kicked(v1::PlayerKicked { room_id: room.to_string(), banned }),
        Notice::RoomClosed(room) => Event::RoomClosed(v1::PlayerRoomClosed { room_id: room.to_string() }),
        Notice::Invited { room, seat, code, by, by_rating, until, settings } => Event::Invited(v1::PlayerInvited {
            room_id: room.to_string(),
            seat: convert::seat_number(seat),
            join_code: code.to_string(),
            by: by.as_ref().map(convert::player),
            by_rating: by_rating.unwrap_or_default().into(),
            expires_at: until.map(convert::timestamp),
            settings: Some(convert::room_settings(&settings)),
        }),
        Notice::InvitationEnded { room, seat, guest, outcome } => {
            let (reason, message) = invitation_end(&outcome);
            Event::InvitationEnded(v1::PlayerInvitationEnded {
                room_id: room.to_string(),
                seat: convert::seat_number(seat),
                player: Some(convert::player(&guest)),
                reason: reason.into(),
                message,
            })
        }
    })
}

/// Why an invitation ended, and the words of the player who declined.
fn invitation_end(outcome: &InvitationOutcome) -> (v1::InvitationEndReason, String) {
    let words = match outcome {
        InvitationOutcome::Declined(Some(reason)) => reason.to_string(),
        _ => String::new(),
    };
    let reason = match outcome {
        InvitationOutcome::Accepted => v1::InvitationEndReason::Accepted,
        InvitationOutcome::Declined(_) => v1::InvitationEndReason::Declined,
        InvitationOutcome::Expired => v1::InvitationEndReason::Expired,
        InvitationOutcome::Withdrawn => v1::InvitationEndReason::Withdrawn,
    };
    (reason, words)
}

fn offer_status(status: OfferStatus) -> v1::OfferStatus {
    match status {
        OfferStatus::Open => v1::OfferStatus::Open,
        OfferStatus::Accepted => v1::OfferStatus::Accepted,
        OfferStatus::Closed => v1::OfferStatus::Closed,
    }
}

fn turn_closed(game: GameId, ply: u16, end: TurnEnd) -> EncodedMessage {
    let (reason, square) = match end {
        TurnEnd::Played(square) => (v1::TurnCloseReason::Played, Some(square)),
        TurnEnd::TimedOut => (v1::TurnCloseReason::TimedOut, None),
        TurnEnd::GameEnded => (v1::TurnCloseReason::GameEnded, None),
    };
    convert::turn_closed(game, ply, reason, square)
}

fn tournament_news(news: TournamentNews) -> v1::player_tournament::News {
    use v1::player_tournament::News;

    let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    match news {
        TournamentNews::Paired { playoff, round, meeting, room, opponent } => News::Paired(v1::TournamentPaired {
            playoff,
            round: count(round),
            meeting: count(meeting),
            room_id: opponent.as_ref().map(|_| room.to_string()).unwrap_or_default(),
            opponent: opponent.as_ref().map(participant),
        }),
        TournamentNews::Forfeited { meeting, lost } => {
            News::Forfeit(v1::TournamentForfeit { meeting: count(meeting), lost })
        }
        TournamentNews::PutAside { put_aside, meetings } => News::PutAside(v1::TournamentPutAside {
            until: Some(convert::timestamp(put_aside.until)),
            fault: tournament::fault(put_aside.reason).into(),
            meetings: meetings.into_iter().map(count).collect(),
        }),
        TournamentNews::Decided { meeting, won, why } => {
            News::Decided(v1::TournamentDecided { meeting: count(meeting), won, why })
        }
        TournamentNews::Left { excluded } => News::Left(v1::TournamentLeft { excluded }),
        TournamentNews::Ended { ending, rank, entrants } => News::Ended(v1::TournamentEnded {
            phase: tournament::end_phase(ending).into(),
            cancel_reason: tournament::cancel_reason(ending).into(),
            rank: count(rank),
            entrants: count(entrants),
        }),
    }
}
