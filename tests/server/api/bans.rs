//! Bans of names and networks by an administrator.

use std::{sync::Arc, time::Duration};

use reversi::{
    grpc::Access,
    proto::v1::{
        self, ban::Subject, lobby_service_client::LobbyServiceClient, session_service_client::SessionServiceClient,
    },
    room::{DisplayName, Timestamp},
    runtime::{Ban, BanSubject, Clock, Limits, Token},
    store::{MemoryStore, PlayerStore as _, Store},
};
use tokio::time::timeout;
use tonic::{Code, Request};

use crate::harness::in_process::{
    Answer, Player, SeatedRoom, ServerOptions, TestServer, field, named, refusal, refused,
};

const SECRET: &str = "5ec4e70123456789abcdef0123456789abcdef0123456789abcdef0123456789";

/// A server with an administrator, behind a proxy that it trusts.
async fn server(store: &Arc<MemoryStore>, clock: Clock) -> (TestServer, Player) {
    let admin = Some(SECRET.parse::<Token>().unwrap());
    let access = Access { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..Access::default() };
    let options = ServerOptions { admin, access, store: Store::shared(store), clock, ..Default::default() };
    let server = TestServer::with(options).await;
    let admin = server.with_admin(&server.human("Root").await, SECRET).await;
    (server, admin)
}

async fn server_with_admin() -> (TestServer, Player) {
    server(&Arc::default(), Clock::default()).await
}

fn name(text: &str) -> Subject {
    Subject::Name(text.into())
}

/// Bans for an hour.
async fn ban(admin: &Player, subject: Subject) -> Answer<v1::Ban> {
    let ban = Some(v1::Ban { subject: Some(subject), reason: "spam".into(), ..Default::default() });
    let duration = Some(prost_types::Duration { seconds: 3_600, nanos: 0 });
    Ok(admin.sessions().add_ban(v1::AddBanRequest { ban, duration }).await?.into_inner().ban.unwrap())
}

/// Returns the number of bans that end.
async fn unban(admin: &Player, subject: Subject) -> usize {
    let ban = Some(v1::Ban { subject: Some(subject), ..Default::default() });
    admin.sessions().remove_ban(v1::RemoveBanRequest { ban }).await.unwrap().into_inner().bans.len()
}

/// A request through the proxy.
fn request<T>(message: T, address: &str, headers: &[(&'static str, &str)]) -> Request<T> {
    let mut request = Request::new(message);
    for (key, value) in [("x-forwarded-for", address)].iter().chain(headers) {
        request.metadata_mut().insert(*key, value.parse().unwrap());
    }
    request
}

async fn log_in(server: &TestServer, name: &str, address: &str, headers: &[(&'static str, &str)]) -> Answer<()> {
    let message = v1::LogInRequest { display_name: name.into(), ..Default::default() };
    let mut sessions = SessionServiceClient::new(server.channel().await);
    sessions.log_in(request(message, address, headers)).await.map(drop)
}

async fn look(server: &TestServer, address: &str, headers: &[(&'static str, &str)]) -> Answer<()> {
    let mut lobby = LobbyServiceClient::new(server.channel().await);
    lobby.list_rooms(request(v1::ListRoomsRequest::default(), address, headers)).await.map(drop)
}

#[tokio::test]
async fn a_banned_name_is_refused_and_its_streams_end_until_an_unban_gives_it_back() {
    let (server, admin) = server_with_admin().await;
    let SeatedRoom { black, white, room, game } = server.two_player_game(named("game")).await;
    let (mut turns, mut watched, mut beside) = (black.turns().await, black.watch(&room).await, white.turns().await);
    ban(&admin, name("\u{412}EA")).await.unwrap();
    let closed = timeout(Duration::from_secs(5), turns.close_reason()).await;
    assert_eq!(closed, Ok(v1::CloseReason::Banned), "before a heartbeat");
    watched.snapshot().await;
    assert_eq!(watched.close_reason().await, v1::CloseReason::Banned);
    let refused_move = refusal(black.play(&game, 0, "d3").await);
    assert!(refused_move.message().ends_with("Z: spam"), "{}", refused_move.message());
    let details = refused(Err::<(), _>(refused_move), Code::PermissionDenied, "BANNED");
    let metadata = details.error_info().unwrap().metadata.clone();
    assert_eq!((&*metadata["scope"], &*metadata["ban_reason"]), ("name", "spam"));
    assert!(metadata["until"].ends_with('Z'), "{metadata:?}");
    for same in ["Bea", "BEA "] {
        refused(log_in(&server, same, "192.0.2.7", &[]).await, Code::PermissionDenied, "BANNED");
    }
    refused(black.try_watch(&room, None).await, Code::PermissionDenied, "BANNED");
    assert_eq!(white.room(&room).await.members.len(), 2, "the seat stays");

    ban(&admin, name("Bea")).await.unwrap();
    assert_eq!(unban(&admin, name("bea")).await, 1, "it has replaced the ban of a name alike");
    assert_eq!(black.turns().await.turn_request().await.game_id, game);
    black.play(&game, 0, "d3").await.unwrap();
    assert_eq!(beside.turn_request().await.ply, 1, "the other player's stream is the same");
}

#[tokio::test]
async fn a_banned_network_is_refused_but_an_administrator_is_not() {
    let (server, admin) = server_with_admin().await;
    let bearer = format!("Bearer {}", server.human("Ada").await.token);
    let (token, secret) = (("authorization", bearer.as_str()), ("reversi-admin", SECRET));
    for (network, inside, outside) in
        [("192.0.2.9/24", "192.0.2.7", "192.0.3.7"), ("2001:db8:1:200::5", "2001:db8:1:2ff::1", "2001:db8:1:300::1")]
    {
        let subject = ban(&admin, Subject::Network(network.into())).await.unwrap().subject.unwrap();
        let calls = [
            log_in(&server, "Bob", inside, &[]).await,
            look(&server, inside, &[]).await,
            look(&server, inside, &[token]).await,
            look(&server, inside, &[token, ("reversi-admin", "no secret")]).await,
        ];
        for call in calls {
            let details = refused(call, Code::PermissionDenied, "BANNED");
            assert_eq!(details.error_info().unwrap().metadata["scope"], "network");
        }
        log_in(&server, network, inside, &[secret]).await.unwrap();
        look(&server, inside, &[token, secret]).await.unwrap();
        look(&server, outside, &[]).await.unwrap();
        look(&server, outside, &[token]).await.unwrap();
        assert_eq!(unban(&admin, subject).await, 1);
        look(&server, inside, &[token]).await.unwrap();
    }
}

#[tokio::test]
async fn log_ins_of_others_at_its_address_do_not_keep_an_administrator_out() {
    let access = Access { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..Access::default() };
    let limits = Limits { log_in_burst: 1, ..Limits::default() };
    let admin = Some(SECRET.parse::<Token>().unwrap());
    let server = TestServer::with(ServerOptions { admin, access, limits, ..Default::default() }).await;
    let address = "192.0.2.7";
    log_in(&server, "Ada", address, &[]).await.unwrap();
    refused(log_in(&server, "Bob", address, &[]).await, Code::ResourceExhausted, "RATE");
    for name in ["Root", "Operator"] {
        log_in(&server, name, address, &[("reversi-admin", SECRET)]).await.unwrap();
    }
}

#[tokio::test]
async fn a_ban_outlives_a_restart_and_ends_in_time() {
    let store = Arc::default();
    let (first, admin) = server(&store, Clock::default()).await;
    let eve = first.human("Eve").await;
    let now = first.runtime.clock().now();
    ban(&admin, name("Eve")).await.unwrap();
    admin.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    for (minutes, is_banned) in [(59, true), (61, false)] {
        let clock = Clock::starting(now.after(Duration::from_secs(60 * minutes)));
        let (next, admin) = server(&store, clock).await;
        let back = Player::new(next.channel().await, eve.profile.clone(), &eve.token);
        let called = back.sessions().get_me(v1::GetMeRequest {}).await;
        assert_eq!(called.is_err(), is_banned, "after {minutes} minutes: {called:?}");
        let bans = admin.sessions().list_bans(v1::ListBansRequest::default()).await.unwrap().into_inner().bans;
        assert_eq!(bans.len(), usize::from(is_banned));
        admin.sessions().log_out(v1::LogOutRequest::default()).await.unwrap();
    }
}

#[tokio::test]
async fn bans_are_for_administrators_bounded_and_listed_in_pages() {
    let store = Arc::<MemoryStore>::default();
    for number in 0..1_000 {
        let subject = BanSubject::Name(DisplayName::parse(&format!("bot {number}")).unwrap());
        store.put_ban(Ban { subject, reason: None, since: Timestamp(1), until: None }, Timestamp(1)).await.unwrap();
    }
    let (server, admin) = server(&store, Clock::default()).await;
    refused(ban(&server.human("Ada").await, name("Root")).await, Code::PermissionDenied, "NOT_ADMIN");
    for (network, problem) in [("127.0.0.1", "loopback"), ("0.0.0.0/0", "/8"), ("here", "such as 192.0.2.7")] {
        let status = refusal(ban(&admin, Subject::Network(network.into())).await);
        assert!(status.message().contains(problem), "{network}: {}", status.message());
        assert_eq!(field(&refused(Err::<(), _>(status), Code::InvalidArgument, "BAD_ARGUMENT")), "ban.subject");
    }
    let reason = "x".repeat(201);
    let wordy = Some(v1::Ban { subject: Some(name("Eve")), reason, ..Default::default() });
    let wordy = admin.sessions().add_ban(v1::AddBanRequest { ban: wordy, duration: None }).await;
    assert_eq!(field(&refused(wordy, Code::InvalidArgument, "BAD_ARGUMENT")), "ban.reason");
    refused(ban(&admin, name("Eve")).await, Code::ResourceExhausted, "QUOTA_BANS");
    ban(&admin, name("bot 7")).await.unwrap();
    let (mut pages, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListBansRequest { page_size: 200, page_token };
        let page = admin.sessions().list_bans(request).await.unwrap().into_inner();
        pages.push(page.bans.len());
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
        // Of those already listed: no other is passed over.
        let listed = page.bans[0].subject.clone();
        let listed = Some(v1::Ban { subject: listed, ..Default::default() });
        admin.sessions().remove_ban(v1::RemoveBanRequest { ban: listed }).await.unwrap();
    }
    assert_eq!(pages, [200; 5]);
}
