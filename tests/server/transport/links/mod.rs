//! The links between two nodes of a cluster, over sockets.

mod list;
mod pair;

use std::pin::pin;

use futures_util::FutureExt as _;
use reversi::{
    grpc::NodeTls,
    proto::{
        cluster::{
            ExchangeRequest, ExchangeResponse, Hello, exchange_request::Kind, node_service_client::NodeServiceClient,
        },
        v1::{CloseReason, room_event::Event},
    },
    room::{DisplayName, RoomId},
    runtime::{
        Ask, Assignment, Audience, Ban, BanSubject, FeedEnd, FeedItem, LinkError, NodeId, Peers as _, Question, Reply,
        Shard,
    },
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Code, Status, Streaming,
    transport::{Certificate, ClientTlsConfig, Endpoint, Identity},
};

use self::pair::{Pair, TestNode};
use super::tls::Authority;
use crate::harness::in_process::{Player, Watcher, named, refused, within};

/// A room of the first node. A player of the second one has taken its other seat, over the link.
struct SharedRoom {
    black: Player,
    white: Player,
    id: String,
}

async fn shared_room(nodes: &[TestNode; 2]) -> SharedRoom {
    let (black, white) = (nodes[0].server.human("Bea").await, nodes[1].server.human("Wim").await);
    let id = black.create_with(named("shared"), ["me", "open"]).await.room_id;
    assert_eq!(id.parse::<RoomId>().unwrap().bits() >> 48 & 1, 0, "a room of the first node");
    white.join(&id).await.unwrap();
    white.sit(&id, 1).await.unwrap();
    white.ready(&id).await.unwrap();
    SharedRoom { black, white, id }
}

fn snapshot(room: &str) -> Ask {
    Ask { room: room.parse().unwrap(), what: Question::Snapshot }
}

#[tokio::test]
async fn a_ban_at_one_node_ends_the_streams_at_the_other() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
    let (mut turns, mut watcher) = (white.turns().await, black.watch(&id).await);
    watcher.snapshot().await;
    let runtime = &pair.nodes[0].server.runtime;
    let subject = BanSubject::Name(DisplayName::parse("Wim").unwrap());
    let ban = Ban { subject, reason: None, since: runtime.clock().now(), until: None };
    assert_eq!(runtime.sessions.add_ban(ban).await, Ok(true));
    assert_eq!(turns.close_reason().await, CloseReason::Banned);
    assert!(!presence(&mut watcher, &white.id).await, "the seat is that of an absent player");
    refused(white.try_room(&id).await, Code::PermissionDenied, "BANNED");
    pair.stop().await;
}

async fn presence(watcher: &mut Watcher, player: &str) -> bool {
    let present = |event| match event {
        Event::PresenceChanged(changed) if changed.player_id == player => Some(changed.present),
        _ => None,
    };
    watcher.until(present).await
}

#[tokio::test]
async fn commands_events_and_turns_cross_the_links() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
    let mut watcher = pair.nodes[1].server.human("Eve").await.watch(&id).await;
    let first = watcher.snapshot().await.seq;
    let mut turns = white.turns().await;
    let game = black.start(&id).await.unwrap().game_id;
    black.play(&game, 0, "f5").await.unwrap();
    let turn = turns.turn_request().await;
    assert_eq!((turn.game_id.as_str(), turn.ply), (game.as_str(), 1));
    white.play(&game, 1, "d6").await.unwrap();
    for line in 0..8 {
        white.chat(&id, &format!("line {line}")).await.unwrap();
    }
    let last = black.chat(&id, "well").await.unwrap();
    assert!(last > first + 8);
    for seq in first + 1..=last {
        assert_eq!(watcher.event().await.seq, seq);
    }
    let mut late = pair.nodes[1].server.human("Ida").await.watch_after(&id, first).await;
    assert_eq!(late.event().await.seq, first + 1, "a watcher who resumes gets what it has missed");
    pair.stop().await;
}

/// It asks the node that tells that it serves the room. From the others it learns nothing.
#[tokio::test]
async fn a_call_that_waits_for_a_room_goes_to_the_node_that_serves_it_now() {
    let mut pair = Pair::start([None, None]).await;
    let SharedRoom { id, .. } = shared_room(&pair.nodes).await;
    let third = pair.add_third().await;
    let next = &pair.nodes[1];
    within(next.links.reached().wait_for(|reached| reached.contains(&third.id))).await.unwrap();
    let moved = Assignment { shard: Shard::of(id.parse().unwrap()), node: next.id, version: 2 };
    pair.nodes.iter().for_each(|node| node.server.runtime.node().learn([moved]));
    let waiting = third.server.human("Eve").await;
    let mut room = pin!(waiting.try_room(&id));
    assert!(room.as_mut().now_or_never().is_none());
    next.server.runtime.node().serve_shards(&[(moved, None)]).await.unwrap();
    assert_eq!(within(room).await.unwrap().room_id, id);
    pair.stop().await;
}

/// In both directions, or in one.
#[tokio::test]
async fn nodes_that_do_not_reach_each_other_are_linked_through_a_third() {
    for cut in [&[0, 1][..], &[0], &[1]] {
        let mut pair = Pair::start([None, None]).await;
        let third = pair.add_third().await;
        let all_reached = async |pair: &Pair, count: &dyn Fn(NodeId) -> usize| {
            for node in pair.nodes.iter().chain([&third]) {
                within(node.links.reached().wait_for(|reached| reached.len() == count(node.id))).await.unwrap();
            }
        };
        all_reached(&pair, &|_| 2).await;
        let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
        let mut turns = white.turns().await;
        let game = black.start(&id).await.unwrap().game_id;
        cut.iter().for_each(|node| pair.nodes[*node].cable.cut());
        // The node whose way to the other one is cut.
        all_reached(&pair, &|id| if cut.iter().any(|node| pair.nodes[1 - node].id == id) { 1 } else { 2 }).await;
        black.play(&game, 0, "f5").await.unwrap();
        assert_eq!(turns.turn_request().await.ply, 1);
        white.play(&game, 1, "d6").await.unwrap();
        let mut watcher = white.watch(&id).await;
        let seen = watcher.snapshot().await.seq;
        black.chat(&id, "through a third").await.unwrap();
        assert_eq!(watcher.event().await.seq, seen + 1);

        pair.nodes.iter().for_each(|node| node.cable.open());
        all_reached(&pair, &|_| 2).await;
        white.chat(&id, "and directly again").await.unwrap();
        pair.stop().await;
    }
}

#[tokio::test]
async fn a_broken_link_is_dialled_again_and_attaches_players_again() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
    let mut watcher = black.watch(&id).await;
    watcher.snapshot().await;
    // From the end of a stream on, only another one makes the player present.
    drop(white.turns().await);
    assert!(!presence(&mut watcher, &white.id).await);
    let mut turns = white.turns().await;
    assert!(presence(&mut watcher, &white.id).await);
    let game = black.start(&id).await.unwrap().game_id;
    let (to, links, cable) = (pair.nodes[0].id, &pair.nodes[1].links, &pair.nodes[0].cable);
    let answer = links.ask(to, snapshot(&id)).await;
    assert!(matches!(answer, Ok(Reply::Snapshot(_))), "{answer:?}");

    cable.hold();
    let ask = links.ask(to, snapshot(&id));
    let (lost, ()) = tokio::join!(ask, async {
        cable.holds(&id.parse::<RoomId>().unwrap().bits().to_le_bytes()).await;
        cable.cut();
    });
    assert!(matches!(lost, Err(LinkError::Lost)), "{lost:?}");
    let down = links.ask(to, snapshot(&id)).await;
    assert!(matches!(down, Err(LinkError::Down)), "{down:?}");
    black.play(&game, 0, "f5").await.unwrap();

    cable.open();
    assert_eq!(turns.turn_request().await.ply, 1);
    white.play(&game, 1, "d6").await.unwrap();
    let seen = |event| match event {
        Event::PresenceChanged(changed) => Some(Some(changed.present)),
        Event::MovePlayed(played) if played.ply.as_ref().is_some_and(|ply| ply.square == "d6") => Some(None),
        _ => None,
    };
    assert_eq!(watcher.until(seen).await, None, "nobody but its node knows whether a player is there");
    drop(turns);
    assert!(!presence(&mut watcher, &white.id).await);
    pair.stop().await;
}

#[tokio::test]
async fn a_stream_that_ends_while_the_link_is_down_is_told_over_the_next_one() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
    let mut watcher = black.watch(&id).await;
    watcher.snapshot().await;
    drop(white.turns().await);
    assert!(!presence(&mut watcher, &white.id).await);
    let turns = white.turns().await;
    assert!(presence(&mut watcher, &white.id).await);
    let cable = &pair.nodes[0].cable;
    cable.cut();
    within(async {
        while !pair.nodes[1].links.linked().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    drop(turns);
    cable.open();
    assert!(!presence(&mut watcher, &white.id).await);
    pair.stop().await;
}

#[tokio::test]
async fn players_of_a_node_that_no_longer_lives_are_absent() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
    let mut watcher = black.watch(&id).await;
    watcher.snapshot().await;
    drop(white.turns().await);
    assert!(!presence(&mut watcher, &white.id).await);
    let _turns = white.turns().await;
    assert!(presence(&mut watcher, &white.id).await);
    pair.nodes[0].server.runtime.node().learn_nodes([]);
    assert!(!presence(&mut watcher, &white.id).await);
    pair.stop().await;
}

/// Only the link from the owner to the player's node is cut. The turn comes while it is down.
#[tokio::test]
async fn a_turn_that_was_lost_with_one_direction_of_the_links_is_asked_again() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, white, id } = shared_room(&pair.nodes).await;
    let mut turns = white.turns().await;
    let game = black.start(&id).await.unwrap().game_id;
    let (there, links, cable) = (pair.nodes[1].id, &pair.nodes[0].links, &pair.nodes[1].cable);
    cable.cut();
    within(async {
        while links.linked().contains(&there) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    black.play(&game, 0, "f5").await.unwrap();
    cable.open();
    assert_eq!(turns.turn_request().await.ply, 1);
    white.play(&game, 1, "d6").await.unwrap();
    pair.stop().await;
}

#[tokio::test]
async fn a_mirror_follows_again_after_its_link_was_cut() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, id, .. } = shared_room(&pair.nodes).await;
    let mut watcher = pair.nodes[1].server.human("Eve").await.watch(&id).await;
    let first = watcher.snapshot().await.seq;
    pair.nodes[0].cable.cut();
    let last = black.chat(&id, "unheard").await.unwrap();
    pair.nodes[0].cable.open();
    let mut seq = first;
    while seq < last {
        seq += 1;
        assert_eq!(watcher.event().await.seq, seq);
    }
    pair.stop().await;
}

/// Watchers do not see this: a mirror that misses an event begins anew.
#[tokio::test]
async fn a_feed_has_every_event_and_ends_with_its_follower_or_its_link() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { black, id, .. } = shared_room(&pair.nodes).await;
    let (to, links, room) = (pair.nodes[0].id, &pair.nodes[1].links, id.parse::<RoomId>().unwrap());
    let mut feed = links.follow(to, room, Audience::Live, None);
    let Some(FeedItem::Base(base)) = within(feed.recv()).await else { panic!("a feed begins with the state") };
    for line in 0..8 {
        black.chat(&id, &format!("line {line}")).await.unwrap();
    }
    let mut resumed = links.follow(to, room, Audience::Live, Some(base.seq()));
    for feed in [&mut feed, &mut resumed] {
        for step in 1..=8 {
            let Some(FeedItem::Event(event)) = within(feed.recv()).await else { panic!("no event {step}") };
            assert_eq!(event.seq, base.seq().plus(step));
        }
    }
    drop(resumed);
    let watchers = async || match within(links.ask(to, snapshot(&id))).await {
        Ok(Reply::Snapshot(snapshot)) => snapshot.watchers,
        other => panic!("{other:?}"),
    };
    within(async { while watchers().await != 1 {} }).await;
    let elsewhere = RoomId::from_bits(room.bits() ^ 1 << 48).unwrap();
    let ended = within(links.follow(to, elsewhere, Audience::Live, None).recv()).await;
    let known = Shard::of(elsewhere);
    assert!(matches!(&ended, Some(FeedItem::Ended(FeedEnd::Moved(Some(owned)))) if owned.shard == known), "{ended:?}");
    pair.nodes[0].cable.cut();
    assert!(within(feed.recv()).await.is_none());
    pair.stop().await;
}

#[tokio::test]
async fn more_asks_than_a_link_takes_wait_for_their_turn() {
    let pair = Pair::start([None, None]).await;
    let SharedRoom { id, .. } = shared_room(&pair.nodes).await;
    let (to, links) = (pair.nodes[0].id, &pair.nodes[1].links);
    pair.nodes[0].cable.hold();
    let mut asks: Vec<_> = (0..1_024).map(|_| links.ask(to, snapshot(&id))).collect();
    assert!(asks.iter_mut().all(|ask| ask.now_or_never().is_none()));
    let mut next = links.ask(to, snapshot(&id));
    assert!((&mut next).now_or_never().is_none());
    pair.nodes[0].cable.open();
    for ask in asks {
        assert!(matches!(within(ask).await, Ok(Reply::Snapshot(_))));
    }
    assert!(within(next).await.is_ok());
    pair.stop().await;
}

/// The version of the messages.
const PROTOCOL: u32 = 14;

/// Begins a link to a node as another one would.
async fn dial(
    endpoint: Endpoint,
    hello: Option<Hello>,
) -> Result<(mpsc::Sender<ExchangeRequest>, Streaming<ExchangeResponse>), Status> {
    let channel = endpoint.connect().await.map_err(|error| Status::from_error(error.into()))?;
    let (requests, sent) = mpsc::channel(4);
    let kind = hello.map_or(Kind::LoggedOut(1), Kind::Hello);
    requests.send(ExchangeRequest { kind: Some(kind) }).await.unwrap();
    let answer = within(NodeServiceClient::new(channel).exchange(ReceiverStream::new(sent))).await?;
    Ok((requests, answer.into_inner()))
}

fn endpoint(node: &TestNode, scheme: &str) -> Endpoint {
    Endpoint::from_shared(format!("{scheme}://{}", node.cable.address)).unwrap()
}

#[tokio::test]
async fn only_nodes_that_know_each_other_are_linked() {
    let pair = Pair::start([None, None]).await;
    let dial = |hello| dial(endpoint(&pair.nodes[0], "http"), hello);
    let good = Hello { protocol: PROTOCOL, from: 2, to: 1 };
    for bad in [
        Some(Hello { to: 3, ..good }),
        Some(Hello { from: 3, ..good }),
        Some(Hello { from: 1, ..good }),
        Some(Hello { protocol: PROTOCOL - 1, ..good }),
    ] {
        assert_eq!(dial(bad).await.unwrap_err().code(), Code::FailedPrecondition, "{bad:?}");
    }
    assert_eq!(dial(None).await.unwrap_err().code(), Code::InvalidArgument);
    assert!(dial(Some(good)).await.is_ok());
    pair.stop().await;
}

#[tokio::test]
async fn a_newer_link_ends_the_older_one_and_a_node_that_is_gone_has_none() {
    let pair = Pair::start([None, None]).await;
    let [first, second] = &pair.nodes;
    // It does not dial by itself.
    second.links.set_nodes(second.id, &[]);
    let hello = Some(Hello { protocol: PROTOCOL, from: 2, to: 1 });
    let (_old, mut older) = dial(endpoint(first, "http"), hello).await.unwrap();
    let (_new, mut newer) = dial(endpoint(first, "http"), hello).await.unwrap();
    assert!(!matches!(within(older.message()).await, Ok(Some(_))));
    first.links.set_nodes(first.id, &[]);
    assert!(!matches!(within(newer.message()).await, Ok(Some(_))));
    assert_eq!(dial(endpoint(first, "http"), hello).await.unwrap_err().code(), Code::FailedPrecondition);
    pair.stop().await;
}

#[tokio::test]
async fn a_node_that_rejoins_with_a_new_number_is_linked_again() {
    let pair = Pair::start([None, None]).await;
    let [first, second] = &pair.nodes;
    let SharedRoom { id, .. } = shared_room(&pair.nodes).await;
    let third = NodeId(3);
    first.links.set_nodes(first.id, &[(third, format!("http://{}", second.cable.address))]);
    second.links.set_nodes(third, &[(first.id, format!("http://{}", first.cable.address))]);
    second.server.runtime.node().rejoin_as(third);
    let chat = second.server.human("Eve").await;
    chat.join(&id).await.unwrap();
    chat.chat(&id, "with a new number").await.unwrap();
    pair.stop().await;
}

#[tokio::test]
async fn links_need_certificates_of_one_authority_on_both_sides() {
    let (authority, other) = (Authority::new(), Authority::new());
    let tls = |authority: &Authority| {
        let (chain, key) = authority.sign("127.0.0.1");
        Some(NodeTls::from_pem(&chain, &key, authority.pem.as_bytes()).unwrap())
    };
    let pair = Pair::start([tls(&authority), tls(&authority)]).await;
    shared_room(&pair.nodes).await;
    let with = |identity: Option<(Vec<u8>, Vec<u8>)>| {
        let config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&authority.pem));
        let config = match identity {
            Some((chain, key)) => config.identity(Identity::from_pem(chain, key)),
            None => config,
        };
        dial(
            endpoint(&pair.nodes[0], "https").tls_config(config).unwrap(),
            Some(Hello { protocol: PROTOCOL, from: 2, to: 1 }),
        )
    };
    assert!(with(None).await.is_err(), "without a certificate");
    assert!(with(Some(other.sign("127.0.0.1"))).await.is_err(), "of another authority");
    assert!(with(Some(authority.sign("127.0.0.1"))).await.is_ok());
    let plain = dial(endpoint(&pair.nodes[0], "http"), Some(Hello { protocol: PROTOCOL, from: 2, to: 1 }));
    assert!(plain.await.is_err(), "without TLS");
    pair.stop().await;
}

#[tokio::test]
async fn new_certificates_leave_the_links_and_are_required_of_new_ones() {
    let (old, new) = (Authority::new(), Authority::new());
    let tls = |authority: &Authority| {
        let (chain, key) = authority.sign("127.0.0.1");
        NodeTls::from_pem(&chain, &key, authority.pem.as_bytes()).unwrap()
    };
    let present = [tls(&old), tls(&old)];
    let pair = Pair::start(present.clone().map(Some)).await;
    let SharedRoom { white, id, .. } = shared_room(&pair.nodes).await;
    present.iter().for_each(|present| present.replace(&tls(&new)));
    white.chat(&id, "over the same link").await.unwrap();
    let with = |authority: &Authority| {
        let (chain, key) = authority.sign("127.0.0.1");
        let config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&new.pem));
        dial(
            endpoint(&pair.nodes[0], "https").tls_config(config.identity(Identity::from_pem(chain, key))).unwrap(),
            Some(Hello { protocol: PROTOCOL, from: 2, to: 1 }),
        )
    };
    assert!(with(&old).await.is_err(), "of the old authority");
    assert!(with(&new).await.is_ok());
    // The second node dials again, with the new certificates on both sides.
    pair.nodes[0].cable.cut();
    pair.nodes[0].cable.open();
    white.room(&id).await;
    pair.stop().await;
}

/// The port of clients does not know the service of the links.
#[tokio::test]
async fn clients_do_not_reach_the_links() {
    let pair = Pair::start([None, None]).await;
    let endpoint = Endpoint::from_shared(format!("http://{}", pair.nodes[0].server.address)).unwrap();
    let refused = dial(endpoint, Some(Hello { protocol: PROTOCOL, from: 2, to: 1 })).await.unwrap_err();
    assert!(matches!(refused.code(), Code::Unimplemented | Code::Unauthenticated), "{refused:?}");
    pair.stop().await;
}
