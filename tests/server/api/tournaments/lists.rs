//! What lists of tournaments and of meetings can leave out.

use std::collections::BTreeSet;

use tokio::task::JoinSet;
use tonic::{Code, Status};

use super::{TestServer, refused, swiss, v1};

#[tokio::test]
async fn the_list_can_leave_out_tournaments_that_have_ended() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(organiser.organise(swiss(3)).await.unwrap().tournament_id);
    }
    for over in [ids.remove(3), ids.remove(1)] {
        organiser.control(&over, v1::TournamentControl::Cancel).await.unwrap();
    }
    let list = async |request: v1::ListTournamentsRequest| {
        let answer = organiser.tournaments().list_tournaments(request).await?.into_inner();
        let ids: Vec<_> = answer.tournaments.into_iter().map(|one| one.tournament_id).collect();
        Ok::<_, Status>((ids, answer.next_page_token))
    };
    let one = v1::ListTournamentsRequest { unfinished: true, page_size: 1, ..Default::default() };
    let (mut listed, page_token) = list(one.clone()).await.unwrap();
    let (second, _) = list(v1::ListTournamentsRequest { page_token: page_token.clone(), ..one }).await.unwrap();
    listed.extend(second);
    assert_eq!(listed.iter().collect::<BTreeSet<_>>(), ids.iter().collect());
    let all = v1::ListTournamentsRequest::default();
    assert_eq!(list(all.clone()).await.unwrap().0.len(), 4);
    let of_another_list = list(v1::ListTournamentsRequest { page_token, ..all }).await;
    refused(of_another_list, Code::InvalidArgument, "BAD_PAGE_TOKEN");
}

#[tokio::test]
async fn rounds_of_a_playoff_are_announced_and_listed_as_such() {
    let server = TestServer::open().await;
    let organiser = server.human("Organiser").await;
    let with_final = v1::TournamentSettings { playoff: 2, ..swiss(1) };
    let id = organiser.organise(with_final).await.unwrap().tournament_id;
    let mut plays = JoinSet::new();
    for name in ["Ada", "Bea"] {
        let bot = server.bot(name).await;
        bot.enter(&id).await.unwrap();
        plays.spawn(bot.plays_rounds(id.clone()));
    }
    organiser.control(&id, v1::TournamentControl::Start).await.unwrap();
    let [one, other] = plays.join_all().await.try_into().unwrap();
    assert!(one.0 + other.0 == 3 && one.1 == [(false, 1), (true, 1)] && one.1 == other.1, "{one:?} {other:?}");
    for (round, playoff, numbers) in
        [(0, false, &[1, 2][..]), (1, false, &[1]), (2, false, &[]), (0, true, &[2]), (1, true, &[2]), (2, true, &[])]
    {
        let request = v1::ListMeetingsRequest { tournament_id: id.clone(), round, playoff, ..Default::default() };
        let listed = organiser.tournaments().list_meetings(request).await.unwrap().into_inner().meetings;
        assert_eq!(listed.iter().map(|one| one.number).collect::<Vec<_>>(), numbers, "{round} {playoff}");
    }
    let request = v1::ListMeetingsRequest { tournament_id: id, round: -1, ..Default::default() };
    refused(organiser.tournaments().list_meetings(request).await, Code::InvalidArgument, "BAD_ARGUMENT");
}
