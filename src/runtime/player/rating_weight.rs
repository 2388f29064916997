//! How much a game counts for the ratings of its players: the less, the more rated games they have had with each other
//! within 24 hours, so that ratings cannot be raised by arranged games, by many accounts, or against AIs. Kept in
//! memory only, because addresses are not stored. After a restart the archive still counts the games of each two
//! accounts, and limits how fast a rating rises.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    room::{GameRecord, Timestamp},
    rules::{ByColor, Color},
    runtime::limit::client_address::Prefix,
    store::{Contestant, RatingWeight},
};

/// Time for which a game counts as a meeting, in microseconds.
const PERIOD: i64 = 24 * 60 * 60 * 1_000_000;

/// Maximum number of meetings kept of a pairing. More do not lower the weight further.
const MEETINGS: usize = 50;

/// Maximum number of pairings kept. Beyond it, the one with the oldest last meeting is removed.
const CAPACITY: usize = 1 << 16;

/// An opponent. `None` stands for any AI that plays against a player.
type Opponent = Option<Contestant>;

/// All players of one address, or one contestant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Group {
    Address(Prefix),
    Opponent(Opponent),
}

/// The latest rated games of each pairing, by the time of their ends, oldest first.
#[derive(Debug, Default)]
pub(super) struct Pairings(Mutex<HashMap<(Group, Opponent), VecDeque<Timestamp>>>);

impl Pairings {
    /// Counts a game that ends now. Returns its weight for ratings. `homes` are the addresses of its players. The next
    /// game of these players, or of others at their addresses, may count less.
    pub(super) fn note(&self, game: &GameRecord, homes: &ByColor<Option<Prefix>>) -> RatingWeight {
        if !game.changes_ratings() || (homes.black.is_some() && homes.black == homes.white) {
            return RatingWeight::NONE;
        }
        let mut pairings = self.lock();
        let counts = keys(game, homes).map(|key| {
            if pairings.len() >= CAPACITY && !pairings.contains_key(&key) {
                let meets = |end: &Timestamp| game.ended.0.saturating_sub(end.0) < PERIOD;
                pairings.retain(|_, ends| ends.back().is_some_and(meets));
            }
            if pairings.len() >= CAPACITY && !pairings.contains_key(&key) {
                let oldest = pairings.iter().min_by_key(|(_, ends)| ends.back().copied());
                if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                    pairings.remove(&oldest);
                }
            }
            let ends = pairings.entry(key).or_default();
            ends.retain(|end| game.ended.0.saturating_sub(end.0) < PERIOD);
            let before = ends.len();
            if before == MEETINGS {
                ends.pop_front();
            }
            ends.push_back(game.ended);
            before
        });
        RatingWeight::after(counts[0].max(counts[1]))
    }

    /// Undoes [`Pairings::note`] for a game that could not be stored.
    pub(super) fn forget(&self, game: &GameRecord, homes: &ByColor<Option<Prefix>>) {
        let mut pairings = self.lock();
        for key in keys(game, homes) {
            let ends = pairings.get_mut(&key);
            if let Some(ends) = ends
                && let Some(index) = ends.iter().rposition(|end| *end == game.ended)
            {
                ends.remove(index);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Group, Opponent), VecDeque<Timestamp>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each side's address, or the side itself, with its opponent.
fn keys(game: &GameRecord, homes: &ByColor<Option<Prefix>>) -> [(Group, Opponent); 2] {
    Color::ALL.map(|side| {
        let meets_player = |side: Color| game.players[side.opposite()].id().is_some();
        let is_ai = |side: Color| game.players[side].id().is_none();
        let who = |side| (!is_ai(side) || !meets_player(side)).then(|| Contestant::from(&game.players[side]));
        let group = homes[side].map_or_else(|| Group::Opponent(who(side)), Group::Address);
        (group, who(side.opposite()))
    })
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::{
        room::{AiSeat, DisplayName, EndReason, GameEnd, Participant, PlayerId, PlayerKind, Profile},
        runtime::{
            limit::{client_address::ClientAddresses, limits::Limits},
            player::directory::Players,
        },
    };

    const FULL: RatingWeight = RatingWeight::FULL;
    const NONE: RatingWeight = RatingWeight::NONE;

    fn player(number: u64) -> Participant {
        let name = DisplayName::parse(&format!("p{number}")).unwrap();
        Participant::Player(Profile {
            id: PlayerId::from_random(number),
            name,
            kind: PlayerKind::Human,
            engine_version: None,
        })
    }

    fn game(black: Participant, white: Participant, ended: i64) -> GameRecord {
        let end = GameEnd { winner: Some(Color::Black), reason: EndReason::Resignation };
        GameRecord::sample(ByColor::new(black, white), Timestamp(ended), end)
    }

    fn address(last: u8) -> Option<Prefix> {
        Some(Prefix::from(IpAddr::from([192, 0, 2, last])))
    }

    #[test]
    fn games_of_a_pairing_count_less_and_less_within_a_day() {
        let pairings = Pairings::default();
        let unknown = ByColor::default();
        let meet = |at| pairings.note(&game(player(1), player(2), at), &unknown);
        let weights: Vec<_> = (0..60).map(meet).collect();
        for (number, weight) in weights.into_iter().enumerate() {
            assert_eq!(weight, RatingWeight::after(number), "game {number}");
        }
        assert_eq!(pairings.note(&game(player(2), player(1), 61), &unknown), RatingWeight::after(60), "colors swapped");
        assert_eq!(pairings.note(&game(player(1), player(3), 62), &unknown), FULL, "another pairing");
        assert_eq!(meet(PERIOD + 62), FULL, "a day later");
    }

    #[test]
    fn accounts_of_one_address_are_one_pairing_with_an_opponent() {
        let pairings = Pairings::default();
        let homes = ByColor::new(address(1), address(2));
        for number in 0..10 {
            assert_eq!(pairings.note(&game(player(number), player(100), 1), &homes), FULL);
        }
        assert_eq!(pairings.note(&game(player(50), player(100), 1), &homes), RatingWeight::after(10));
        let elsewhere = ByColor::new(address(3), address(2));
        assert_eq!(pairings.note(&game(player(51), player(100), 1), &elsewhere), FULL);
        assert_eq!(pairings.note(&game(player(52), player(101), 1), &homes), FULL);
    }

    #[test]
    fn all_ais_are_one_opponent_for_all_accounts_of_an_address() {
        let pairings = Pairings::default();
        let ai = |level| Participant::Ai(AiSeat { kind: "greedy".into(), level, seed: 0 });
        let homes = ByColor::new(address(1), None);
        let meet = |number| pairings.note(&game(player(number), ai(number as u8), 1), &homes);
        let weights: Vec<_> = (0..11).map(meet).collect();
        assert_eq!((weights[9], weights[10]), (FULL, RatingWeight::after(10)));
    }

    #[test]
    fn players_of_one_address_do_not_rate_each_other() {
        let pairings = Pairings::default();
        let homes = ByColor::new(address(1), address(1));
        assert_eq!(pairings.note(&game(player(1), player(2), 1), &homes), NONE);
        let casual = GameRecord { rated: false, ..game(player(1), player(2), 1) };
        assert_eq!(pairings.note(&casual, &ByColor::default()), NONE);
        assert!(pairings.lock().is_empty());
    }

    #[test]
    fn players_are_known_by_the_address_of_their_log_in_except_loopback() {
        let (players, addresses) = (Players::default(), ClientAddresses::new(Limits::default()));
        let log_in = |name: &str, address: [u8; 4]| {
            let name = DisplayName::parse(name).unwrap();
            let (player, _) = players.log_in(name, PlayerKind::Human, 0).unwrap();
            player.set_home(&addresses.entry(address.into()));
            Participant::Player(player.profile())
        };
        let [ada, bob] = ["ada", "bob"].map(|name| log_in(name, [192, 0, 2, 1]));
        let [cy, dee] = ["cy", "dee"].map(|name| log_in(name, [127, 0, 0, 1]));
        assert_eq!(players.weigh(game(ada.clone(), bob, 1)).weight, NONE);
        assert_eq!(players.weigh(game(cy.clone(), dee, 1)).weight, FULL);
        assert_eq!(players.weigh(game(ada, cy, 1)).weight, FULL);
    }

    #[test]
    fn a_game_that_was_not_stored_does_not_count() {
        let pairings = Pairings::default();
        let homes = ByColor::new(address(1), None);
        for _ in 0..20 {
            let lost = game(player(1), player(2), 1);
            assert_eq!(pairings.note(&lost, &homes), FULL);
            pairings.forget(&lost, &homes);
        }
    }

    #[test]
    fn a_bounded_number_of_pairings_is_kept() {
        let pairings = Pairings::default();
        for number in 0..=CAPACITY as u64 / 2 {
            pairings.note(&game(player(2 * number), player(2 * number + 1), number as i64), &ByColor::default());
        }
        assert_eq!(pairings.lock().len(), CAPACITY);
    }
}
