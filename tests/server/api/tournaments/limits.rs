//! Limits and rates of tournaments, and entrants whose players no longer exist.

use reversi::store::{SqliteStore, Store};
use tokio::task::JoinSet;
use tonic::{Code, Status};

use super::{Player, ServerOptions, TestServer, refused, swiss, v1, within};

/// A server that stores on a disk, so that calls overlap, with limits of one address.
async fn limited(folder: &tempfile::TempDir, at_a_time: usize, per_hour: [u32; 2]) -> TestServer {
    let mut options =
        ServerOptions { store: Store::of(SqliteStore::open(folder.path()).unwrap()), ..ServerOptions::default() };
    options.limits.tournaments_per_address = at_a_time;
    [options.limits.tournaments_per_hour, options.limits.tournaments_per_hour_per_address] = per_hour;
    TestServer::with(options).await
}

/// The ids of the tournaments that the players create at once, each of them `calls`, and the refusals.
async fn created_at_once(players: &[Player], calls: usize) -> (Vec<Vec<String>>, Vec<Status>) {
    let mut creations = JoinSet::new();
    for (number, player) in players.iter().enumerate() {
        for _ in 0..calls {
            let player = player.clone();
            creations.spawn(async move { (number, player.organise(swiss(3)).await) });
        }
    }
    let (mut created, mut refusals) = (vec![Vec::new(); players.len()], Vec::new());
    for (number, answer) in creations.join_all().await {
        match answer {
            Ok(tournament) => created[number].push(tournament.tournament_id),
            Err(refusal) => refusals.push(refusal),
        }
    }
    (created, refusals)
}

#[tokio::test]
async fn creations_at_once_exceed_neither_the_limit_of_a_player_nor_of_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let server = limited(&folder, 10, [0, 0]).await;
    let one = [server.human("Ada").await];
    let (created, refusals) = created_at_once(&one, 20).await;
    assert_eq!((created[0].len(), refusals.len()), (4, 16));
    let others = [server.human("Bea").await, server.human("Cleo").await, server.human("Dan").await];
    let (of_others, refusals) = created_at_once(&others, 20).await;
    assert_eq!(of_others.iter().map(Vec::len).sum::<usize>(), 6, "ten of the address: {of_others:?}");
    assert!(of_others.iter().all(|own| own.len() <= 4), "{of_others:?}");
    for refusal in refusals {
        refused::<()>(Err(refusal), Code::ResourceExhausted, "QUOTA_TOURNAMENTS");
    }
    let one_too_many = others[0].organise(swiss(3)).await;
    refused(one_too_many, Code::ResourceExhausted, "QUOTA_TOURNAMENTS");
    // The place of one that is over is free again, also at the address.
    one[0].control(&created[0][0], v1::TournamentControl::Cancel).await.unwrap();
    one[0].organise(swiss(3)).await.unwrap();
    refused(one[0].organise(swiss(3)).await, Code::ResourceExhausted, "QUOTA_TOURNAMENTS");
}

#[tokio::test]
async fn tournaments_have_a_rate_by_player_and_by_address() {
    let folder = tempfile::tempdir().unwrap();
    let server = limited(&folder, 20, [2, 3]).await;
    let (ada, bea) = (server.human("Ada").await, server.human("Bea").await);
    let create_and_cancel = async |player: &Player| {
        let id = player.organise(swiss(3)).await?.tournament_id;
        player.control(&id, v1::TournamentControl::Cancel).await.map(drop)
    };
    create_and_cancel(&ada).await.unwrap();
    create_and_cancel(&ada).await.unwrap();
    let details = refused(create_and_cancel(&ada).await, Code::ResourceExhausted, "RATE");
    let delay = details.retry_info().unwrap().retry_delay.unwrap().as_secs();
    assert!((29 * 60..=30 * 60).contains(&delay), "{delay}");
    create_and_cancel(&bea).await.unwrap();
    refused(create_and_cancel(&bea).await, Code::ResourceExhausted, "RATE");
}

#[tokio::test]
async fn an_entrant_who_logs_out_for_good_leaves_and_one_who_keeps_its_name_stays() {
    let server = TestServer::open().await;
    let [organiser, ada, bea] = [server.human("Organiser").await, server.human("Ada").await, server.human("Bea").await];
    let settings = v1::TournamentSettings { max_entrants: 2, ..swiss(1) };
    let id = organiser.organise(settings).await.unwrap().tournament_id;
    let room = ada.quick_start_with_ai("random", v1::SidePreference::Black).await.unwrap();
    ada.resign(&room.game.unwrap().game_id).await.unwrap();
    ada.sessions().claim_name(v1::ClaimNameRequest {}).await.unwrap();
    for entrant in [&ada, &bea] {
        entrant.enter(&id).await.unwrap();
    }
    for player in [ada, bea] {
        player.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    }
    let has_left = |view: &v1::TournamentView| view.tournament.as_ref().unwrap().entrants == 1;
    within(organiser.watched(&id, has_left)).await;
    let standings = organiser.tournament(&id).await.unwrap().standings;
    assert_eq!(standings.len(), 1, "{standings:?}");
    organiser.enter(&id).await.unwrap();
}
