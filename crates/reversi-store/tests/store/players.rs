//! Stored players and their tokens.

#[cfg(all(unix, feature = "postgres"))]
use reversi_needs::needs;
use reversi_room::{Availability, DisplayName, EndReason, EngineVersion, GameEnd, GameRecord, Profile};
use reversi_store::{Ban, BanSubject, MemoryStore, PlayerKey, PlayerStore, Store, StoredPlayer};

use crate::{
    archive, at, ban,
    fixtures::test_room::{id, profile},
    games::game,
    on_each, on_each_place, room_id,
};

fn stored_player(who: &str, seats: u16) -> StoredPlayer {
    StoredPlayer {
        profile: profile(who),
        seats,
        token: [u8::try_from(who.len()).unwrap(); 32],
        seen: at(7),
        claimed: false,
        availability: None,
        played: false,
    }
}

async fn known(store: &Store) -> Vec<StoredPlayer> {
    let mut known = store.players.players().await.unwrap();
    known.sort_by_key(|player| player.profile.id);
    known
}

on_each!(players_are_kept_until_removed, async |store| {
    let mut all = vec![stored_player("ada", 1), stored_player("bot-d", 64), stored_player("Zoë ☺", 1)];
    all.sort_by_key(|player| player.profile.id);
    for player in &all {
        store.players.put_player(player.clone()).await.unwrap();
    }
    assert_eq!(known(store).await, all);
    let unknown_player = (id("eve"), at(9));
    store.players.record_seen(vec![(id("ada"), at(8)), unknown_player]).await.unwrap();
    all.iter_mut().filter(|player| player.profile.id == id("ada")).for_each(|ada| ada.seen = at(8));
    assert_eq!(known(store).await, all);
    for gone in ["ada", "eve"] {
        store.players.remove_player(id(gone)).await.unwrap();
    }
    all.retain(|player| player.profile.id != id("ada"));
    assert_eq!(known(store).await, all);
});

/// As a cluster needs to know.
#[cfg(all(unix, feature = "postgres"))]
#[reversi_needs::needs(postgres)]
#[tokio::test]
async fn idle_players_are_found_and_removed_unless_they_come_back() {
    let database = crate::postgres::database();
    let store = &database.open().await;
    let claimed = StoredPlayer { claimed: true, ..stored_player("ada", 1) };
    for player in [claimed, stored_player("bob", 1)] {
        store.players.put_player(player).await.unwrap();
    }
    store.players.record_seen(vec![(id("ada"), at(8)), (id("bob"), at(8))]).await.unwrap();
    // By a node that knows less.
    store.players.record_seen(vec![(id("ada"), at(7))]).await.unwrap();
    let idle = async |others, claimed| store.players.idle_players(at(others), at(claimed), 9).await.unwrap();
    assert_eq!(idle(8, 8).await, []);
    assert_eq!(idle(8, 9).await, [(id("ada"), at(8))]);
    assert_eq!(idle(9, 8).await, [(id("bob"), at(8))]);
    store.players.record_seen(vec![(id("bob"), at(9))]).await.unwrap();
    assert!(!store.players.remove_idle(id("bob"), at(8)).await.unwrap(), "it has come back");
    assert!(store.players.remove_idle(id("bob"), at(9)).await.unwrap());
    assert!(!store.players.remove_idle(id("bob"), at(9)).await.unwrap());
    assert_eq!(store.players.find(PlayerKey::Id(id("bob"))).await.unwrap(), None);
}

on_each_place!(games_of_a_removed_player_stay, async |place| {
    let store = place.open().await;
    store.players.put_player(stored_player("ada", 1)).await.unwrap();
    let game = game(room_id(1), 1, 1, ["ada", "bob"]);
    archive(&store, room_id(1), std::slice::from_ref(&game)).await;
    store.players.remove_player(id("ada")).await.unwrap();
    drop(store);
    let store = place.open().await;
    assert_eq!(known(&store).await, []);
    assert_eq!(store.archive.game(game.id).await.unwrap().as_deref(), Some(&game));
});

on_each!(a_player_has_played_once_a_game_that_counts_is_stored, async |store| {
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|who| stored_player(who, 1));
    for player in [&ada, &bob, &eve] {
        store.players.put_player(player.clone()).await.unwrap();
    }
    let counts = game(room_id(1), 1, 1, ["ada", "mcts:5"]);
    let aborted = GameEnd { winner: None, reason: EndReason::Aborted };
    let aborted = GameRecord { end: aborted, ..game(room_id(1), 2, 2, ["ada", "bob"]) };
    archive(store, room_id(1), &[counts, aborted]).await;
    let mut all = [StoredPlayer { played: true, ..ada }, bob, eve];
    all.sort_by_key(|player| player.profile.id);
    assert_eq!(known(store).await, all);
});

on_each!(the_token_and_the_claim_of_a_player_are_replaced, async |store| {
    let ada = stored_player("ada", 1);
    store.players.put_player(ada.clone()).await.unwrap();
    let changed = StoredPlayer { token: [9; 32], claimed: true, ..ada.clone() };
    assert!(store.players.change_account(changed.clone(), ada.clone()).await.unwrap());
    assert_eq!(known(store).await, std::slice::from_ref(&changed));
    let accepted = Availability { bots: false, games_at_once: Some(2), ..Availability::default() };
    let with_availability = StoredPlayer { availability: Some(accepted), ..changed.clone() };
    assert!(store.players.change_account(with_availability.clone(), changed).await.unwrap());
    let engine_version = Some(EngineVersion::parse("edax 4.6").unwrap());
    let profile = Profile { engine_version, ..ada.profile };
    let with_both = StoredPlayer { profile, ..with_availability.clone() };
    assert!(store.players.change_account(with_both.clone(), with_availability).await.unwrap());
    assert_eq!(known(store).await, std::slice::from_ref(&with_both));
    assert_eq!(store.players.profile(with_both.profile.id).await.unwrap(), Some(with_both.profile));
});

#[tokio::test]
async fn a_change_keeps_what_another_node_has_changed() {
    let (store, ada) = (MemoryStore::default(), stored_player("ada", 1));
    keeps_changes_of_others(&store, ada).await;
}

#[cfg(all(unix, feature = "postgres"))]
#[needs(postgres)]
#[tokio::test]
async fn a_change_keeps_what_another_node_has_changed_in_postgres() {
    let store = crate::postgres::database().open().await;
    keeps_changes_of_others(&*store.players, stored_player("ada", 1)).await;
}

/// Each node knows the player as it was at first.
async fn keeps_changes_of_others(store: &dyn PlayerStore, ada: StoredPlayer) {
    store.put_player(ada.clone()).await.unwrap();
    let availability = Some(Availability { rated: Some(true), ..Availability::default() });
    let engine_version = Some(EngineVersion::parse("edax 4.6").unwrap());
    let profile = Profile { engine_version, ..ada.profile.clone() };
    let changes = [
        StoredPlayer { availability, ..ada.clone() },
        StoredPlayer { profile: profile.clone(), ..ada.clone() },
        StoredPlayer { claimed: true, ..ada.clone() },
    ];
    for change in changes {
        assert!(store.change_account(change, ada.clone()).await.unwrap());
    }
    let all = StoredPlayer { profile, availability, claimed: true, ..ada };
    assert_eq!(store.players().await.unwrap(), [all]);
}

on_each!(bans_are_kept_until_they_end_or_are_replaced, async |store| {
    let put = async |ban: Ban, now| store.players.put_ban(ban, at(now)).await.unwrap();
    let name = BanSubject::Name(DisplayName::parse("192.0.2.0/24").unwrap());
    let name = Ban { subject: name, ..ban("192.0.2.0/24", None) };
    for ban in [ban("Zoë ☺", None), ban("192.0.2.0/24", Some(5)), name.clone(), ban("2001:db8::/32", Some(9))] {
        put(ban, 4).await;
    }
    put(ban("2001:db8::/32", Some(8)), 5).await;
    assert_eq!(all_bans(store).await, [ban("Zoë ☺", None), name.clone(), ban("2001:db8::/32", Some(8))]);
    put(ban("Zoë ☺", Some(6)), 6).await;
    assert_eq!(all_bans(store).await, [name, ban("2001:db8::/32", Some(8))]);
});

on_each_place!(bans_survive_a_restart, async |place| {
    place.open().await.players.put_ban(ban("eve", Some(5)), at(4)).await.unwrap();
    assert_eq!(all_bans(&place.open().await).await, [ban("eve", Some(5))]);
});

async fn all_bans(store: &Store) -> Vec<Ban> {
    let mut bans = store.players.bans().await.unwrap();
    bans.sort_by_key(|ban| (ban.until, std::cmp::Reverse(ban.subject.to_string())));
    bans
}

// Also where another node has given it.
on_each!(a_name_is_that_of_one_player, async |store| {
    let (ada, bob) = (stored_player("ada", 1), stored_player("bob", 1));
    let name = DisplayName::parse("ADA").unwrap();
    let namesake = StoredPlayer { profile: Profile { name, ..bob.profile.clone() }, ..bob.clone() };
    assert!(store.players.put_player(ada.clone()).await.unwrap());
    assert!(!store.players.put_player(namesake.clone()).await.unwrap());
    assert_eq!(known(store).await, [ada]);
    store.players.remove_player(id("ada")).await.unwrap();
    assert!(store.players.put_player(namesake.clone()).await.unwrap());
    assert_eq!(known(store).await, [namesake]);
});

on_each!(a_player_with_a_token_is_found_by_the_id_and_by_the_token, async |store| {
    let ada = StoredPlayer { token: [9; 32], ..stored_player("ada", 1) };
    for player in [ada.clone(), stored_player("bob", 1)] {
        store.players.put_player(player).await.unwrap();
    }
    let keys = [PlayerKey::Id(id("ada")), PlayerKey::Token([9; 32])];
    for key in keys {
        assert_eq!(store.players.find(key).await.unwrap(), Some(ada.clone()));
    }
    archive(store, room_id(1), &[game(room_id(1), 1, 1, ["ada", "bob"])]).await;
    store.players.remove_player(id("ada")).await.unwrap();
    for key in keys.into_iter().chain([PlayerKey::Id(id("eve")), PlayerKey::Token([8; 32])]) {
        assert_eq!(store.players.find(key).await.unwrap(), None, "{key:?}");
    }
});

on_each!(former_players_with_games_are_found_by_id_and_name, async |store| {
    let named = |who: &str, name: &str| {
        let name = DisplayName::parse(name).unwrap();
        StoredPlayer { profile: Profile { name, ..profile(who) }, ..stored_player(who, 1) }
    };
    let later = StoredPlayer { seen: at(9), ..named("bob", "ADA") };
    // One after the other, as a name is that of one player at a time.
    store.players.put_player(named("ada", "Ada")).await.unwrap();
    archive(store, room_id(1), &[game(room_id(1), 1, 1, ["ada", "mcts:5"])]).await;
    store.players.remove_player(id("ada")).await.unwrap();
    store.players.put_player(named("eve", "ada")).await.unwrap();
    store.players.remove_player(id("eve")).await.unwrap();
    store.players.put_player(later.clone()).await.unwrap();
    archive(store, room_id(2), &[game(room_id(2), 1, 1, ["bob", "mcts:5"])]).await;
    let ids = async |limit| {
        let found = store.players.named(DisplayName::parse("aDa").unwrap(), limit).await.unwrap();
        found.into_iter().map(|profile| profile.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(9).await, [id("bob"), id("ada")], "the last seen is the first");
    assert_eq!(ids(1).await, [id("bob")]);
    store.players.remove_player(id("bob")).await.unwrap();
    assert_eq!(ids(9).await, [id("bob"), id("ada")]);
    assert_eq!(store.players.profile(id("bob")).await.unwrap(), Some(later.profile));
    assert_eq!(store.players.profile(id("eve")).await.unwrap(), None);
});
