//! Connections that end, or are held, while something is written.

use std::{pin::pin, time::Duration};

use futures_util::future::join_all;
use reversi_needs::needs;
use reversi_room::{Command, DisplayName, Event, PlayerId, Profile, Seq};
use reversi_store::{AppendError, Journal as _, PlayerKey, PlayerStore as _, PostgresStore, StoreError, StoredPlayer};

use super::{
    proxy::{Point, Proxy},
    server::{Database, PostgresServer, database},
    sharing::info,
};
use crate::{
    at, creation_of,
    fixtures::test_room::{TestRoom, chat, profile},
    moved, room_id, write,
};

/// Long enough for any test.
const PATIENT: Duration = Duration::from_secs(60);

/// Soon over, and enough to connect on a busy machine.
const IMPATIENT: Duration = Duration::from_secs(1);

/// A room and two lines of chat, of which the second is written by each test.
fn history() -> Vec<Event> {
    let mut test = TestRoom::lobby();
    test.ok("ada", chat("one"));
    test.ok("ada", chat("two"));
    moved(test.history, room_id(1))
}

async fn append(store: &PostgresStore, expected: u64, events: &[Event]) -> Result<(), AppendError> {
    write(store, room_id(1), Seq(expected), events).await
}

/// Writes all but the last line. Statements are then prepared.
async fn begin(store: &PostgresStore, history: &[Event]) {
    append(store, 0, &history[..1]).await.unwrap();
    append(store, 1, &history[1..2]).await.unwrap();
}

async fn last(store: &PostgresStore) -> Result<Option<Seq>, StoreError> {
    Ok(store.load(room_id(1)).await?.map(|history| history.latest().seq()))
}

/// A link to an empty database.
fn link() -> (Database, Proxy) {
    let database = database();
    let proxy = Proxy::of(&database);
    (database, proxy)
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_answer_was_lost_is_found_and_not_repeated() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, PATIENT).await;
    let history = history();
    begin(&store, &history).await;
    proxy.hold_answers();
    let cut = async {
        proxy.stopped().await;
        assert_eq!(database.sql("SELECT seq FROM room"), "3", "it is written");
        proxy.cut();
        proxy.release();
    };
    assert_eq!(tokio::join!(append(&store, 2, &history[2..]), cut).0, Ok(()));
    assert_eq!(last(&store).await, Ok(Some(Seq(3))));
    assert_eq!(append(&store, 2, &history[2..]).await, Err(AppendError::Conflict(Seq(3))));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_close_that_is_interrupted_is_done_all_the_same() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, PATIENT).await;
    let mut test = TestRoom::lobby();
    test.ok("ada", Command::Close);
    let history = moved(test.history, room_id(1));
    append(&store, 0, &history[..1]).await.unwrap();
    proxy.hold_answers();
    let cut = async {
        proxy.stopped().await;
        proxy.cut();
        proxy.release();
    };
    assert_eq!(tokio::join!(append(&store, 1, &history[1..]), cut).0, Ok(()));
    assert_eq!(last(&store).await, Ok(None));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_did_not_arrive_is_sent_again() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, PATIENT).await;
    let history = history();
    begin(&store, &history).await;
    proxy.hold_requests();
    let cut = async {
        proxy.stopped().await;
        assert_eq!(database.sql("SELECT seq FROM room"), "2", "it has not arrived");
        proxy.cut();
    };
    assert_eq!(tokio::join!(append(&store, 2, &history[2..]), cut).0, Ok(()));
    assert_eq!(last(&store).await, Ok(Some(Seq(3))));
}

/// After the patience the outcome is unknown, and the room cannot be read until it is certain.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_room_is_not_read_while_a_write_may_still_arrive() {
    let (database, proxy) = link();
    let store = proxy.open(&database, IMPATIENT).await;
    let history = history();
    begin(&store, &history).await;
    assert_eq!(last(&store).await, Ok(Some(Seq(2))));
    proxy.hold_answers();
    let unknown = append(&store, 2, &history[2..]).await;
    assert!(matches!(unknown, Err(AppendError::Unknown(_))), "{unknown:?}");
    assert!(matches!(last(&store).await, Err(StoreError::Unavailable(_))));
    let unavailable = append(&store, 2, &history[2..]).await;
    assert!(matches!(unavailable, Err(AppendError::Unavailable(_))), "it was not sent: {unavailable:?}");
    proxy.release();
    let found = loop {
        if let Ok(found) = last(&store).await {
            break found;
        }
    };
    assert_eq!(found, Some(Seq(3)), "it was written");
}

/// The write of a connection that was given up arrives after that of the next connection.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn a_late_write_changes_nothing() {
    let (database, mut proxy) = link();
    let store = proxy.open(&database, IMPATIENT).await;
    let history = history();
    begin(&store, &history).await;
    proxy.hold_requests();
    let held = async { proxy.stopped().await };
    let (unknown, ()) = tokio::join!(append(&store, 2, &history[2..]), held);
    assert!(matches!(unknown, Err(AppendError::Unknown(_))), "{unknown:?}");
    // By a new connection, as the old one is held.
    while last(&store).await.is_err() {}
    assert_eq!(last(&store).await, Ok(Some(Seq(2))));
    proxy.release();
    assert_eq!(last(&store).await, Ok(Some(Seq(2))), "the old one has ended before it arrived");
    assert_eq!(append(&store, 2, &history[2..]).await, Ok(()));
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_the_server_is_killed() {
    const ROOMS: u64 = 40;
    let server = PostgresServer::start();
    let database = server.database();
    let store = database.try_open().await.unwrap();
    let events: Vec<_> = (0..ROOMS).map(|room| (room_id(room), creation_of(room_id(room)))).collect();
    let create = events.iter().map(|(room, events)| write(&store, *room, Seq(0), events));
    assert!(join_all(create).await.iter().all(Result::is_ok));
    let mut test = TestRoom::lobby();
    (0..60).for_each(|line| drop(test.ok("ada", chat(&format!("line {line}")))));
    let lines = &test.history[1..];
    let drive = events.iter().map(async |(room, _)| {
        for event in lines {
            write(&store, *room, Seq(event.seq.0 - 1), std::slice::from_ref(event)).await.expect("written");
        }
    });
    let restart = tokio::task::spawn_blocking(move || {
        for _ in 0..3 {
            server.kill();
            server.run();
        }
    });
    let (_, restarted) = tokio::join!(join_all(drive), restart);
    restarted.unwrap();
    for (room, _) in &events {
        let kept = store.load(*room).await.unwrap().expect("an open room").latest();
        assert_eq!(kept.seq(), Seq(61));
    }
}

/// A change of an account.
#[derive(Clone, Copy, Debug)]
enum Change {
    LogIn,
    LogOut,
    Claim,
    /// By a token that begins with this byte.
    Replace(u8),
}

/// The first byte of the token, and whether the name is claimed.
type Account = Option<(u8, bool)>;

impl Change {
    /// Whether it is made, and the account after it.
    fn expected(self, account: Account) -> (bool, Account) {
        match (self, account) {
            (Self::LogIn, None) => (true, Some((0, false))),
            (Self::LogOut, _) => (true, None),
            (Self::Claim, Some((0, _))) => (true, Some((0, true))),
            (Self::Replace(token), Some((0, claimed))) => (true, Some((token, claimed))),
            (_, account) => (false, account),
        }
    }

    /// By a node that knows the player's first token.
    async fn make(self, store: &PostgresStore, player: &StoredPlayer) -> bool {
        let mut after = player.clone();
        match self {
            Self::LogIn => return store.put_player(after).await.unwrap(),
            Self::LogOut => return store.remove_player(player.profile.id).await.map(|()| true).unwrap(),
            Self::Claim => after.claimed = true,
            Self::Replace(token) => after.token[0] = token,
        }
        store.change_account(after, player.clone()).await.unwrap()
    }
}

/// It is cut before and after each request of each change, and another node makes each other change before the first
/// one connects again.
#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_an_account_at_two_nodes_are_as_if_made_one_after_the_other() {
    const CHANGES: [Change; 4] = [Change::LogIn, Change::LogOut, Change::Claim, Change::Replace(1)];
    let (database, mut proxy) = link();
    let first = Database::member_at(&proxy.url(&database), info("one"), PATIENT).await;
    let second = database.member("two").await;
    let others = [Change::LogOut, Change::Claim, Change::Replace(2)];
    let mut players = 0_u8;
    for (change, other) in CHANGES.into_iter().flat_map(|change| others.map(|other| (change, other))) {
        let mut points = 0;
        for point in (1..).flat_map(|request| [Point::Before(request), Point::After(request)]) {
            players += 1;
            let player = player(players);
            let before = match change {
                Change::LogIn => None,
                _ => Change::LogIn.make(&second, &player).await.then_some((0, false)),
            };
            proxy.hold_at(point);
            let mut making = pin!(change.make(&first, &player));
            let is_held = tokio::select! {
                biased;
                () = proxy.stopped() => true,
                _ = &mut making => false,
            };
            if !is_held {
                proxy.release();
                break;
            }
            proxy.hold_all_requests();
            proxy.cut();
            let other_made = other.make(&second, &player).await;
            proxy.release();
            let made = making.await;
            let found = second.find(PlayerKey::Id(player.profile.id)).await.unwrap();
            let account = found.map(|found| (found.token[0], found.claimed));
            let in_order = |[one, two]: [Change; 2]| {
                let (one_made, account) = one.expected(before);
                let (two_made, account) = two.expected(account);
                (one_made, two_made, account)
            };
            // The second try of the first one may find that the other one was made after the first try.
            let (first_made, then_made, then_account) = in_order([change, other]);
            let is_first = (other_made, account) == (then_made, then_account) && made <= first_made;
            let is_second = (other_made, made, account) == in_order([other, change]);
            assert!(is_first || is_second, "{change:?} {point:?} {other:?}: {made} {other_made} {account:?}");
            points += 1;
        }
        assert!(points >= 6, "{change:?} {points}");
    }
}

/// A new player, with a token that begins with 0.
fn player(number: u8) -> StoredPlayer {
    let mut token = [number; 32];
    token[0] = 0;
    let name = DisplayName::parse(&format!("Ada {number}")).unwrap();
    let profile = Profile { id: PlayerId::from_random(number.into()), name, ..profile("ada") };
    StoredPlayer { profile, seats: 1, token, seen: at(7), claimed: false, availability: None, played: false }
}
