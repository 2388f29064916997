//! Stored players and their tokens.

use reversi::store::{Store, StoredPlayer};

use crate::{
    room::test_room::{id, profile},
    store::{archive, at, folder, games::game, on_each, open, room_id},
};

fn stored_player(who: &str, seats: u16) -> StoredPlayer {
    StoredPlayer { profile: profile(who), seats, token: [u8::try_from(who.len()).unwrap(); 32], seen: at(7) }
}

async fn known(store: &Store) -> Vec<StoredPlayer> {
    let mut known = store.players.players().await.unwrap();
    known.sort_by_key(|player| player.profile.id);
    known
}

#[tokio::test]
async fn players_are_kept_until_removed() {
    on_each(async |store| {
        let mut all = vec![stored_player("ada", 1), stored_player("bot-d", 64), stored_player("Zoë ☺", 1)];
        all.sort_by_key(|player| player.profile.id);
        for player in &all {
            store.players.insert_player(player.clone()).await.unwrap();
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
    })
    .await;
}

#[tokio::test]
async fn games_of_a_removed_player_stay() {
    let folder = folder();
    let store = open(&folder);
    store.players.insert_player(stored_player("ada", 1)).await.unwrap();
    let game = game(room_id(1), 1, 1, ["ada", "bob"]);
    archive(&store, room_id(1), std::slice::from_ref(&game)).await;
    store.players.remove_player(id("ada")).await.unwrap();
    drop(store);
    let store = open(&folder);
    assert_eq!(known(&store).await, []);
    assert_eq!(store.archive.game(game.id).await.unwrap().as_deref(), Some(&game));
}
