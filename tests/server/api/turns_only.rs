//! Clients that read only their stream of turns: it has all that they need to play, to answer offers and to end a
//! series.

use reversi::proto::v1::{self, Offer, OfferStatus, play_event::Event};
use tonic::Code;

use crate::harness::in_process::{Player, SeatedRoom, TestServer, Turns, refused};

impl Player {
    async fn offer(&self, room: &str, offer: Offer) {
        let request = v1::MakeOfferRequest { room_id: room.into(), offer: offer.into(), ..Default::default() };
        self.games().make_offer(request).await.unwrap();
    }

    async fn answer(&self, offered: &v1::PlayerOffer, accept: bool) {
        let (room_id, game_id) = (offered.room_id.clone(), offered.game_id.clone());
        let request = v1::AnswerOfferRequest { room_id, game_id, offer: offered.offer, accept };
        self.games().answer_offer(request).await.unwrap();
    }

    async fn end_series(&self, room: &str) -> Result<u64, tonic::Status> {
        Ok(self.rooms().end_series(v1::EndSeriesRequest { room_id: room.into() }).await?.into_inner().seq)
    }
}

impl Turns {
    /// The next offer, with whether the player made it; other events are skipped.
    async fn offered(&mut self) -> (v1::PlayerOffer, OfferStatus, bool) {
        loop {
            if let Event::Offer(offer) = self.next().await.expect("an open stream") {
                let (status, own) = (offer.status(), offer.own);
                return (offer, status, own);
            }
        }
    }

    async fn started(&mut self) -> v1::PlayerGameStarted {
        loop {
            if let Event::GameStarted(started) = self.next().await.expect("an open stream") {
                return started;
            }
        }
    }
}

async fn game(settings: v1::RoomSettings) -> (TestServer, SeatedRoom, Turns, Turns) {
    let server = TestServer::open().await;
    let seated = server.two_player_game(settings).await;
    let (black, white) = (seated.black.turns().await, seated.white.turns().await);
    (server, seated, black, white)
}

#[tokio::test]
async fn offers_are_made_withdrawn_declined_and_accepted() {
    let (_server, seated, mut black, mut white) = game(v1::RoomSettings::default()).await;
    let SeatedRoom { black: bea, white: wim, room, game } = &seated;

    bea.offer(room, Offer::Draw).await;
    let (offer, status, own) = white.offered().await;
    assert_eq!((status, own, offer.offer(), &offer.game_id), (OfferStatus::Open, false, Offer::Draw, game));
    let (_, status, own) = black.offered().await;
    assert_eq!((status, own), (OfferStatus::Open, true));
    bea.answer(&offer, false).await;
    assert_eq!(white.offered().await.1, OfferStatus::Closed, "withdrawn");
    assert_eq!(black.offered().await.1, OfferStatus::Closed);

    wim.offer(room, Offer::Draw).await;
    assert_eq!(black.offered().await.1, OfferStatus::Open);
    bea.play(game, 0, "d3").await.unwrap();
    assert_eq!(black.offered().await.1, OfferStatus::Closed, "a move declines");

    for ply in 1..=10 {
        let mover = if ply % 2 == 0 { bea } else { wim };
        let square = mover.room(room).await.game.unwrap().position.unwrap().legal_moves.swap_remove(0);
        mover.play(game, ply, &square).await.unwrap();
    }
    wim.offer(room, Offer::Draw).await;
    let (offer, ..) = black.offered().await;
    bea.answer(&offer, true).await;
    assert_eq!(black.offered().await.1, OfferStatus::Accepted);
    let ended = black.game_ended().await;
    assert_eq!((ended.outcome.unwrap().reason(), ended.series), (v1::GameEndReason::Agreed, None));

    bea.offer(room, Offer::Rematch).await;
    let offer = loop {
        match white.offered().await {
            (offer, OfferStatus::Open, false) if offer.offer() == Offer::Rematch => break offer,
            _ => {}
        }
    };
    wim.answer(&offer, true).await;
    assert_eq!(white.offered().await.1, OfferStatus::Accepted);
    assert_ne!(white.started().await.game_id, *game);
}

#[tokio::test]
async fn a_new_stream_gets_the_open_offers() {
    let (_server, seated, mut black, white) = game(v1::RoomSettings::default()).await;
    let SeatedRoom { black: bea, white: wim, room, game } = &seated;
    drop(white);
    bea.offer(room, Offer::Draw).await;
    let (offer, ..) = black.offered().await;
    bea.answer(&offer, false).await;
    wim.offer(room, Offer::Draw).await;
    let mut white = wim.turns().await;
    assert_eq!(white.offered().await.1, OfferStatus::Open);
    // The stream had nothing else: the earlier offers are out of date.
    let mut white = wim.turns().await;
    assert_eq!(white.offered().await.1, OfferStatus::Open, "sent again");
    bea.resign(game).await.unwrap();
    white.game_ended().await;

    bea.offer(room, Offer::Rematch).await;
    assert_eq!(white.offered().await.1, OfferStatus::Open);
    bea.leave(room).await.unwrap();
    assert_eq!(white.offered().await.1, OfferStatus::Closed, "the opponent has left");
}

#[tokio::test]
async fn the_owner_ends_a_series_during_a_game() {
    let (_server, seated, mut black, mut white) = game(v1::RoomSettings { games: 200, ..Default::default() }).await;
    let SeatedRoom { black: bea, white: wim, room, game } = &seated;
    let series = black.started().await.series.unwrap();
    assert_eq!((series.game, series.games), (1, 200));
    refused(wim.end_series(room).await, Code::PermissionDenied, "NOT_OWNER");
    let seq = bea.end_series(room).await.unwrap();
    assert_eq!(bea.end_series(room).await.unwrap(), seq, "it is already the last game");
    loop {
        if let Event::SeriesEnded(ended) = white.next().await.unwrap() {
            break assert_eq!(&ended.room_id, room);
        }
    }
    let running = bea.room(room).await;
    assert_eq!((running.phase(), running.series.unwrap().games), (v1::RoomPhase::Playing, 1));
    bea.resign(game).await.unwrap();
    assert_eq!(white.game_ended().await.series, None, "no game follows");
    assert_eq!(bea.room(room).await.phase(), v1::RoomPhase::Lobby);
    refused(bea.end_series(room).await, Code::FailedPrecondition, "WRONG_PHASE");
}

#[tokio::test]
async fn a_series_ends_between_two_games() {
    let (_server, seated, mut black, _white) = game(v1::RoomSettings { games: 200, ..Default::default() }).await;
    seated.white.resign(&seated.game).await.unwrap();
    assert!(black.game_ended().await.series.unwrap().next_game_at.is_some());
    seated.black.end_series(&seated.room).await.unwrap();
    let room = seated.black.room(&seated.room).await;
    assert_eq!((room.phase(), room.series), (v1::RoomPhase::Lobby, None));
}

#[tokio::test]
async fn a_series_ends_for_the_player_who_stays() {
    let (_server, seated, _black, mut white) = game(v1::RoomSettings { games: 200, ..Default::default() }).await;
    seated.white.resign(&seated.game).await.unwrap();
    assert!(white.game_ended().await.series.is_some());
    seated.black.leave(&seated.room).await.unwrap();
    white.until(|event| matches!(event, Event::SeriesEnded(_)).then_some(())).await;
}

#[tokio::test]
async fn a_turn_tells_what_each_move_flips() {
    let (_server, seated, mut black, mut white) = game(v1::RoomSettings::default()).await;
    let position = black.turn_request().await.position.unwrap();
    assert_eq!(position.legal_moves, ["d3", "c4", "f5", "e6"]);
    let square = |name: &str| 1_u64 << ((name.as_bytes()[1] - b'1') * 8 + name.as_bytes()[0] - b'a');
    assert_eq!(position.flips, ["d4", "d4", "e5", "e5"].map(square));
    seated.black.play(&seated.game, 0, "d3").await.unwrap();
    let after = white.turn_request().await.position.unwrap();
    assert_eq!(after.black, position.black | square("d3") | square("d4"));
    assert_eq!(after.flips.len(), after.legal_moves.len());
}
