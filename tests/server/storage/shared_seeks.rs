//! Thirty players with ratings and ranges of welcome ratings, at three real servers that share the rooms, look for a game
//! at the same time.

use futures_util::future::join_all;
use reversi::proto::v1;
use reversi_needs::needs;
use tokio::time::{sleep, timeout};
use tonic::Code;

use super::shared_rooms::{AGAIN, TIMEOUT, balanced, start};
use crate::harness::{postgres::database, process::Player};

struct Seeker {
    rating: i32,
    range: [i32; 2],
    player: Player,
}

impl Seeker {
    fn accepts(&self, other: &Self) -> bool {
        (self.range[0]..=self.range[1]).contains(&other.rating)
    }

    fn accept_each_other(&self, other: &Self) -> bool {
        self.accepts(other) && other.accepts(self)
    }

    /// The room in which the player plays or waits.
    async fn seek(&self) -> String {
        let [min_rating, max_rating] = self.range;
        let settings = v1::RoomSettings {
            rated: true,
            opponents: Some(v1::Opponents { kinds: Vec::new(), min_rating, max_rating }),
            ..Default::default()
        };
        let request = v1::QuickStartRequest {
            opponent: Some(v1::quick_start_request::Opponent::Anyone(v1::Anyone::default())),
            settings: Some(settings),
            request_id: "once".into(),
            ..Default::default()
        };
        let found = async {
            loop {
                match self.player.lobby().quick_start(request.clone()).await {
                    Ok(found) => return found.into_inner().room.unwrap().room_id,
                    Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status}"),
                }
                sleep(AGAIN).await;
            }
        };
        timeout(TIMEOUT, found).await.expect("a room")
    }
}

#[needs(postgres)]
#[tokio::test(flavor = "multi_thread")]
async fn players_of_all_servers_meet_who_accept_each_other_and_none_waits_for_one_who_waits() {
    let database = database();
    let servers = [(); 3].map(|()| start(&database));
    balanced(&database, 3).await;
    let seekers = (0..30_i32).map(async |number| {
        let server = &servers[usize::try_from(number % 3).unwrap()];
        let player = Player::bot(&server.url, &format!("bot {number}"), 1).await;
        // The next ones are some 70 points away, and the narrow ranges have a few of them.
        let rating = 1_000 + number * 7 % 30 * 35;
        let range = 60 + number * 11 % 5 * 40;
        let me = player.sessions().get_me(v1::GetMeRequest {}).await.unwrap().into_inner().player.unwrap();
        database.sql(&format!(
            "INSERT INTO standings VALUES ('{}', '{}', 0, 0, 0, 0, 0, 0, 0, 0, 0, DEFAULT, DEFAULT, DEFAULT, {rating}, 60, 0.06, 30)",
            me.player_id, me.display_name
        ));
        let turns = player.turns().await;
        (Seeker { rating, range: [rating - range, rating + range], player }, turns)
    });
    let (seekers, _turns): (Vec<_>, Vec<_>) = join_all(seekers).await.into_iter().unzip();
    let rooms = join_all(seekers.iter().map(Seeker::seek)).await;
    let mut waiting = Vec::new();
    for (seeker, room) in seekers.iter().zip(&rooms) {
        let others = seekers.iter().zip(&rooms).filter(|(_, other)| *other == room).count();
        let held = seeker.player.sessions().get_me(v1::GetMeRequest {}).await.unwrap().into_inner().seats;
        assert_eq!(held.iter().map(|seat| &seat.room_id).collect::<Vec<_>>(), [room], "one seat each");
        match others {
            1 => waiting.push(seeker),
            2 => assert_eq!(seeker.player.room(room).await.phase(), v1::RoomPhase::Playing),
            more => panic!("{more} players are in one room"),
        }
    }
    for (number, (one, room)) in seekers.iter().zip(&rooms).enumerate() {
        let pairs = seekers.iter().zip(&rooms).skip(number + 1).filter(|(_, other)| *other == room);
        pairs.for_each(|(other, _)| assert!(one.accept_each_other(other)));
    }
    for (number, one) in waiting.iter().enumerate() {
        assert!(waiting[number + 1..].iter().all(|other| !one.accept_each_other(other)), "two wait for each other");
    }
    assert!(waiting.len() < 15, "{} of 30 wait", waiting.len());
}
