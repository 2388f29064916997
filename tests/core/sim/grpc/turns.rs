//! The stream of turns of a simulated client: `Play` or `WatchTurns`.

use futures_util::{StreamExt as _, stream::BoxStream};
use reversi::{
    client,
    proto::v1::{self, play_event::Event},
    room::GameId,
    rules::Square,
    runtime::{Notice, StreamEnd, TurnEnd},
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::{Failure, client::GrpcClient};
use crate::sim::{client::OpenTurn, event_log::SimEvent, server::SimServer};

/// Capacity for moves that are not sent yet.
const UNSENT: usize = 64;

/// What a stream of turns says about a turn or a game.
pub(crate) enum TurnNews {
    Asked(GameId, u16),
    Played(GameId, u16, Square),
    GameEnded(GameId),
}

impl TurnNews {
    pub(crate) fn of_notice(notice: &Notice) -> Option<Self> {
        match notice {
            Notice::TurnRequested(request) => Some(Self::Asked(request.game, request.ply)),
            Notice::TurnClosed { game, ply, end: TurnEnd::Played(square) } => Some(Self::Played(*game, *ply, *square)),
            Notice::GameEnded { game, .. } => Some(Self::GameEnded(*game)),
            _ => None,
        }
    }

    pub(crate) fn of_event(event: &Event) -> Option<Self> {
        let game = |id: &str| id.parse().expect("the id of a game");
        let ply = |ply: i32| u16::try_from(ply).expect("a ply");
        match event {
            Event::TurnRequested(turn) => Some(Self::Asked(game(&turn.game_id), ply(turn.ply))),
            Event::TurnClosed(turn) if turn.reason() == v1::TurnCloseReason::Played => {
                Some(Self::Played(game(&turn.game_id), ply(turn.ply), turn.square.parse().expect("a square")))
            }
            Event::GameEnded(ended) => Some(Self::GameEnded(game(&ended.game_id))),
            _ => None,
        }
    }
}

/// The events of a stream of turns.
pub(crate) type PlayEvents = BoxStream<'static, Result<Option<v1::PlayEvent>, Status>>;

/// Where the moves of a `Play` stream are sent.
pub(crate) struct PlayMoves(mpsc::Sender<v1::PlayRequest>);

impl PlayMoves {
    /// Sends a move, unless the stream has ended.
    pub(crate) fn send(&self, game: GameId, ply: u16, square: Square) -> bool {
        let (game_id, square) = (game.to_string(), square.to_string());
        self.0.try_send(v1::PlayRequest { game_id, ply: ply.into(), square }).is_ok()
    }
}

impl GrpcClient {
    /// Opens a stream of turns, with a way to send moves if it is `Play`.
    pub(crate) async fn turns(&self, is_play: bool) -> Result<(PlayEvents, Option<PlayMoves>), Status> {
        if !is_play {
            let turns = self.games().watch_turns(v1::WatchTurnsRequest::default()).await?.into_inner();
            return Ok((turns.map(|message| message.map(|message| message.event)).boxed(), None));
        }
        let (sender, moves) = mpsc::channel(UNSENT);
        let turns = self.games().play(ReceiverStream::new(moves)).await?.into_inner();
        Ok((turns.map(|message| message.map(|message| message.event)).boxed(), Some(PlayMoves(sender))))
    }
}

/// Reads a stream of turns until it ends or `stop` is cancelled. Returns why the server ended it.
pub(crate) async fn read_turns(
    server: &SimServer,
    (client, stream): (usize, u64),
    mut events: PlayEvents,
    asked: &mpsc::Sender<OpenTurn>,
    stop: &CancellationToken,
) -> Option<StreamEnd> {
    let mut end = None;
    loop {
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            next = events.next() => next,
        };
        let event = match next {
            None => return end,
            Some(Err(status)) => {
                server.log.note(SimEvent::StreamFailed {
                    client,
                    stream: Some(stream),
                    failure: Failure::from(&status),
                });
                return end;
            }
            Some(Ok(event)) => event.and_then(|event| event.event).expect("an event"),
        };
        match &event {
            Event::Heartbeat(_) => continue,
            Event::Closing(closing) => end = Some(stream_end(closing)),
            Event::TurnRequested(turn) => {
                let turn = client::Turn::try_from(turn.clone()).expect("a turn");
                let (game, ply) =
                    (turn.game.to_string().parse().expect("an id"), u16::try_from(turn.ply).expect("a ply"));
                let _ = asked.try_send(OpenTurn { game, ply, position: turn.position });
            }
            _ => {}
        }
        server.log.note(SimEvent::PlayEventReceived { stream, event: Box::new(event) });
    }
}

/// The reason in the last message of a stream.
pub(super) fn stream_end(closing: &v1::Closing) -> StreamEnd {
    match closing.reason() {
        v1::CloseReason::RoomClosed => StreamEnd::RoomClosed,
        v1::CloseReason::Kicked => StreamEnd::Kicked,
        v1::CloseReason::Superseded => StreamEnd::Superseded,
        v1::CloseReason::Draining => StreamEnd::Draining,
        v1::CloseReason::SlowConsumer => StreamEnd::SlowConsumer,
        v1::CloseReason::LoggedOut => StreamEnd::LoggedOut,
        v1::CloseReason::Banned => StreamEnd::Banned,
        v1::CloseReason::Unavailable => StreamEnd::Unavailable,
        reason @ (v1::CloseReason::Unspecified | v1::CloseReason::GameOver) => panic!("a stream ends with {reason:?}"),
    }
}
