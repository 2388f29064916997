//! The statistics of a player: results of finished games, and a rating.

pub(crate) mod glicko;
pub(crate) mod recent_games;

use reversi_engine::rules::{ByColor, Color};
use reversi_room::{GameRecord, Participant, PlayerKind, RatingChange, UnratedReason};

use glicko::{Rating, RatingWeight};
use recent_games::RecentGames;

use super::{anchor, contestant::Contestant, journal::EndedGame};

/// The kind of an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpponentKind {
    /// A person.
    Human,
    /// A program that has logged in.
    Bot,
    /// An AI of the server.
    Ai,
}

/// Results of finished games; aborted ones do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// Won.
    pub won: u32,
    /// Drawn.
    pub drawn: u32,
    /// Lost.
    pub lost: u32,
}

/// The results and the rating of a contestant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayerStats {
    /// Against people.
    pub humans: Results,
    /// Against bots.
    pub bots: Results,
    /// Against AI seats.
    pub ais: Results,
    /// `None` before the first rated game.
    pub rating: Option<Rating>,
}

/// What a finished game changes.
pub(super) struct Settlement {
    /// The game, with the ratings before it and what it did to them.
    pub(super) record: GameRecord,
    /// The statistics of both contestants after it; none if the game does not count. A game of an AI against itself
    /// counts twice, unrated.
    pub(super) stats: Vec<(Contestant, PlayerStats)>,
}

/// Settles a game, from the statistics `before` it and the `recent` games of its contestants without this one. The rating
/// of an anchor stays as it is.
pub(super) fn settlement<E>(
    EndedGame { record, weight }: &EndedGame,
    mut before: impl FnMut(&Contestant) -> Result<PlayerStats, E>,
    mut recent: impl FnMut(&Contestant) -> Result<RecentGames, E>,
) -> Result<Settlement, E> {
    let who = ByColor::from_fn(|side| Contestant::from(&record.players[side]));
    let mut standings = ByColor::new(before(&who.black)?, before(&who.white)?);
    for side in Color::ALL {
        if let Some(constant) = anchor::rating_of(&who[side]) {
            let games = standings[side].rating.map_or(0, |rating| rating.games);
            standings[side].rating = Some(Rating { games, ..constant });
        }
    }
    let rounded = |side: Color| standings[side].rating.map(|rating| rating.rounded());
    let unrated = |side| record.unrated(side).unwrap_or(UnratedReason::SameAddress);
    let mut record = GameRecord {
        ratings: ByColor::from_fn(rounded),
        rating_changes: ByColor::from_fn(|side| Some(RatingChange::Unrated(unrated(side)))),
        ..record.clone()
    };
    if !record.end.counts() {
        return Ok(Settlement { record, stats: Vec::new() });
    }
    if who.black == who.white {
        let mut both = standings.black;
        Color::ALL.into_iter().for_each(|side| both.count(&record, side));
        record.rating_changes = ByColor::from_fn(|_| Some(RatingChange::Unrated(UnratedReason::Unrated)));
        return Ok(Settlement { record, stats: vec![(who.black, both)] });
    }
    if record.changes_ratings() && *weight != RatingWeight::NONE {
        let recent = ByColor::new(recent(&who.black)?, recent(&who.white)?);
        let weight = Color::ALL
            .into_iter()
            .fold(*weight, |weight, side| weight.min(recent[side].weight(record.ended, &who[side.opposite()])));
        let ratings = ByColor::from_fn(|side| standings[side].rating.unwrap_or_default());
        let (black, white) = ratings.black.meets(ratings.white, record.end.winner, weight);
        for (side, full) in [(Color::Black, black), (Color::White, white)] {
            if record.unrated(side).is_none() {
                let highest = recent[side].highest(record.ended, ratings[side]);
                let risen = ratings[side].risen(full, highest);
                let (after, is_limited) = match anchor::rating_of(&who[side]) {
                    Some(constant) => (Rating { games: full.games, ..constant }, false),
                    None => (risen, risen.value < full.value),
                };
                standings[side].rating = Some(after);
                record.rating_changes[side] = Some(after.change(weight, is_limited));
            }
        }
    }
    for side in Color::ALL {
        standings[side].count(&record, side);
    }
    Ok(Settlement { record, stats: vec![(who.black, standings.black), (who.white, standings.white)] })
}

impl PlayerStats {
    /// The sum over all kinds of opponents.
    #[must_use]
    pub fn total(&self) -> Results {
        let all = [self.humans, self.bots, self.ais];
        let sum = |count: fn(&Results) -> u32| all.iter().map(count).sum();
        Results { won: sum(|stats| stats.won), drawn: sum(|stats| stats.drawn), lost: sum(|stats| stats.lost) }
    }

    pub(super) fn against(&mut self, kind: OpponentKind) -> &mut Results {
        match kind {
            OpponentKind::Human => &mut self.humans,
            OpponentKind::Bot => &mut self.bots,
            OpponentKind::Ai => &mut self.ais,
        }
    }

    fn count(&mut self, record: &GameRecord, side: Color) {
        let opponent = OpponentKind::from(&record.players[side.opposite()]);
        self.against(opponent).count(side, record.end.winner);
    }
}

impl Results {
    /// Games that counted.
    #[must_use]
    pub fn played(&self) -> u32 {
        self.won + self.drawn + self.lost
    }

    pub(super) fn add(&mut self, other: Self) {
        self.won += other.won;
        self.drawn += other.drawn;
        self.lost += other.lost;
    }

    pub(super) fn subtract(&mut self, other: Self) {
        self.won -= other.won;
        self.drawn -= other.drawn;
        self.lost -= other.lost;
    }

    pub(super) fn count(&mut self, side: Color, winner: Option<Color>) {
        match winner {
            Some(winner) if winner == side => self.won += 1,
            Some(_) => self.lost += 1,
            None => self.drawn += 1,
        }
    }
}

impl From<&Participant> for OpponentKind {
    fn from(participant: &Participant) -> Self {
        match participant {
            Participant::Player(profile) if profile.kind == PlayerKind::Human => Self::Human,
            Participant::Player(_) => Self::Bot,
            Participant::Ai(_) => Self::Ai,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, convert::Infallible};

    use proptest::{collection::vec, prelude::*, sample::select};
    use reversi_room::{AiSeat, DisplayName, EndReason, GameEnd, PlayerId, Profile, Thought, Timestamp};

    use super::recent_games::RecentGame;
    use super::*;

    const BLACK: Option<Color> = Some(Color::Black);
    const WHITE: Option<Color> = Some(Color::White);

    /// A participant; the prefix of the name gives the kind: `bot-`, `ai-`, or a human.
    fn participant(name: &str) -> Participant {
        if let Some(kind) = name.strip_prefix("ai-") {
            return Participant::Ai(AiSeat { kind: kind.into(), level: 1, seed: 5 });
        }
        let kind = if name.starts_with("bot-") { PlayerKind::Bot } else { PlayerKind::Human };
        let id = PlayerId::from_random(name.bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte)));
        Participant::Player(Profile { id, name: DisplayName::parse(name).unwrap(), kind, engine_version: None })
    }

    fn game([black, white]: [&str; 2], winner: Option<Color>, reason: EndReason) -> GameRecord {
        let players = ByColor::new(participant(black), participant(white));
        GameRecord::sample(players, Timestamp(1), GameEnd { winner, reason })
    }

    #[derive(Default)]
    struct StatsTable {
        stats: HashMap<Contestant, PlayerStats>,
        /// With the ratings before them.
        games: Vec<GameRecord>,
        /// Ratings as they were before there were bounds.
        is_unbounded: bool,
    }

    impl StatsTable {
        fn after(games: &[GameRecord]) -> Self {
            let mut table = Self::default();
            for game in games {
                table.add(game, RatingWeight::FULL);
            }
            table
        }

        fn add(&mut self, game: &GameRecord, weight: RatingWeight) {
            let ended = EndedGame { record: game.clone(), weight };
            let recent = |who: &Contestant| Ok(self.recent(who, game.ended));
            let Ok(Settlement { record, stats }) = settlement(&ended, |who| Ok::<_, Infallible>(self.of(who)), recent);
            self.games.push(record);
            self.stats.extend(stats);
        }

        fn recent(&self, who: &Contestant, at: Timestamp) -> RecentGames {
            let mut recent = RecentGames::default();
            let within = |game: &&GameRecord| !self.is_unbounded && at.0 - game.ended.0 < RecentGames::PERIOD;
            for game in self.games.iter().filter(within) {
                for side in Color::ALL.into_iter().filter(|&side| Contestant::from(&game.players[side]) == *who) {
                    recent.add(who, RecentGame::of(game, side));
                }
            }
            recent
        }

        fn of(&self, who: &Contestant) -> PlayerStats {
            self.stats.get(who).copied().unwrap_or_default()
        }

        fn named(&self, name: &str) -> PlayerStats {
            self.of(&Contestant::from(&participant(name)))
        }
    }

    fn stats(won: u32, drawn: u32, lost: u32) -> Results {
        Results { won, drawn, lost }
    }

    #[test]
    fn results_count_for_both_sides_by_the_kind_of_opponent() {
        let table = StatsTable::after(&[
            game(["ada", "bob"], BLACK, EndReason::Discs),
            game(["bot-d", "ada"], BLACK, EndReason::Timeout),
            game(["ada", "ai-roxanne"], None, EndReason::Agreed),
            game(["ai-roxanne", "ada"], WHITE, EndReason::Resignation),
        ]);
        let ada = table.named("ada");
        assert_eq!((ada.humans, ada.bots, ada.ais), (stats(1, 0, 0), stats(0, 0, 1), stats(1, 1, 0)));
        assert_eq!((ada.total(), ada.total().played()), (stats(2, 1, 1), 4));
        assert_eq!(table.named("bob").humans, stats(0, 0, 1));
        assert_eq!(table.named("bot-d").humans, stats(1, 0, 0));
        assert_eq!(table.named("ai-roxanne").humans, stats(0, 1, 1));
        assert_eq!(ada.rating.unwrap().games, 4);
    }

    /// A game of some of five contestants that ended in any way, and its weight.
    fn any_game() -> impl Strategy<Value = (GameRecord, RatingWeight)> {
        let name = || select(vec!["ada", "bob", "bot-d", "ai-greedy", "ai-mcts"]);
        let weight = select(vec![RatingWeight::NONE, RatingWeight::after(10), RatingWeight::FULL]);
        let end = (select(vec![BLACK, WHITE, None]), select(EndReason::ALL.to_vec()));
        (name(), name(), end, 0_u16..3, any::<bool>(), weight).prop_map(
            |(black, white, (winner, reason), opening, rated, weight)| {
                let winner = winner.filter(|_| reason.counts());
                (GameRecord { opening, rated, ..game([black, white], winner, reason) }, weight)
            },
        )
    }

    proptest! {
        #[test]
        fn each_game_says_what_it_did_to_both_ratings(games in vec(any_game(), 1..60)) {
            let mut table = StatsTable::default();
            for (number, (record, weight)) in games.into_iter().enumerate() {
                let record = GameRecord { ended: Timestamp(number as i64 * 60_000_000), ..record };
                let who = ByColor::from_fn(|side| Contestant::from(&record.players[side]));
                let before = ByColor::from_fn(|side| table.of(&who[side]).rating);
                table.add(&record, weight);
                let after = ByColor::from_fn(|side| table.of(&who[side]).rating);
                let said = table.games.last().unwrap();
                for side in Color::ALL {
                    match said.rating_changes[side] {
                        Some(RatingChange::Rated { after: value, deviation, weight: by, limited }) => {
                            let (was, is) = (before[side].unwrap_or_default(), after[side].unwrap());
                            prop_assert_eq!((value, is.games), (is.rounded(), was.games + 1));
                            prop_assert_eq!(deviation, is.deviation.round() as u16);
                            prop_assert!((1..=weight.sixteenths()).contains(&by));
                            prop_assert!(!limited || record.end.winner != Some(side.opposite()), "a loss is not limited");
                        }
                        Some(RatingChange::Unrated(_)) => prop_assert_eq!(before[side], after[side]),
                        None => prop_assert!(false, "nothing is said"),
                    }
                }
            }
        }
    }

    #[test]
    fn aborted_games_are_not_counted() {
        for reason in EndReason::ALL.into_iter().filter(|reason| !reason.counts()) {
            assert!(StatsTable::after(&[game(["ada", "bob"], None, reason)]).stats.is_empty(), "{reason:?}");
        }
    }

    #[test]
    fn an_unrated_game_is_counted_only() {
        let casual = GameRecord { rated: false, ..game(["ada", "bob"], BLACK, EndReason::Discs) };
        let rated = StatsTable::after(&[game(["ada", "bob"], BLACK, EndReason::Discs)]).named("ada");
        let both = StatsTable::after(&[casual.clone(), game(["ada", "bob"], BLACK, EndReason::Discs)]).named("ada");
        assert_eq!(StatsTable::after(&[casual]).named("ada").rating, None);
        assert_eq!((both.rating, both.humans.won), (rated.rating, 2));
    }

    #[test]
    fn an_ai_against_itself_is_counted_twice_and_not_rated() {
        let itself = ["ai-mcts", "ai-mcts"];
        let table = StatsTable::after(&[game(itself, WHITE, EndReason::Discs), game(itself, None, EndReason::Discs)]);
        assert_eq!(table.named("ai-mcts"), PlayerStats { ais: stats(1, 2, 1), ..PlayerStats::default() });
        let other = StatsTable::after(&[game(["ai-mcts", "ai-greedy"], WHITE, EndReason::Discs)]);
        assert!(other.named("ai-greedy").rating.unwrap().value > other.named("ai-mcts").rating.unwrap().value);
    }

    #[test]
    fn a_game_given_up_at_once_gives_no_points() {
        for reason in
            [EndReason::Resignation, EndReason::Left, EndReason::Kicked, EndReason::Timeout, EndReason::Agreed]
        {
            let winner = if reason == EndReason::Agreed { None } else { BLACK };
            let long = game(["ada", "bob"], winner, reason);
            let short = GameRecord { opening: 1, ..long.clone() };
            let table = StatsTable::after(&[short]);
            assert_eq!((table.named("ada").humans.played(), table.named("ada").rating), (1, None), "{reason:?}");
            let loser = table.named("bob").rating.map(|rating| rating.value.round());
            assert_eq!(loser, winner.and(Some(1338.0)), "who gives it up loses in full: {reason:?}");
            assert!(StatsTable::after(&[long]).named("ada").rating.is_some(), "{reason:?}");
        }
        let wiped_out = GameRecord { opening: 1, ..game(["ada", "bob"], BLACK, EndReason::Discs) };
        assert!(StatsTable::after(&[wiped_out]).named("ada").rating.is_some());
    }

    #[test]
    fn an_ai_that_has_too_little_time_for_a_move_gives_no_points() {
        let cut_short = Thought { evaluation: None, depth: 0, nodes: 0, line: [].into(), cut_short: true };
        let table = StatsTable::after(&[GameRecord {
            thoughts: vec![(1, cut_short)],
            ..game(["ada", "ai-mcts"], BLACK, EndReason::Discs)
        }]);
        let unrated = Some(RatingChange::Unrated(UnratedReason::HouseShort));
        assert_eq!(table.games[0].rating_changes, ByColor::new(unrated, unrated));
        assert_eq!((table.named("ada").rating, table.named("ada").ais.won), (None, 1));
    }

    #[test]
    fn the_rating_of_an_anchor_stays_as_it_is() {
        let constant = anchor::rating_of(&Contestant::from(&participant("ai-expert"))).unwrap();
        let table = StatsTable::after(&[
            game(["ada", "ai-expert"], BLACK, EndReason::Discs),
            game(["ai-expert", "bob"], WHITE, EndReason::Discs),
        ]);
        assert_eq!(table.named("ai-expert").rating, Some(Rating { games: 2, ..constant }));
        let won = |name: &str| table.named(name).rating.unwrap().value;
        assert!(won("ada") > 1500.0 && won("ada") < 1662.0, "less than over an unknown one of 1500");
        assert_eq!(won("ada").round(), won("bob").round());
        assert_eq!(table.games[1].ratings.black, Some(constant.rounded()));
        let beaten = StatsTable::after(&[game(["ai-expert", "cy"], BLACK, EndReason::Discs)]);
        let Some(RatingChange::Rated { after, limited, .. }) = beaten.games[0].rating_changes.black else { panic!() };
        assert_eq!((after, limited), (constant.rounded(), false));
    }

    #[test]
    fn an_ai_that_runs_out_of_time_gives_no_points() {
        let table = StatsTable::after(&[game(["ada", "ai-mcts"], BLACK, EndReason::Timeout)]);
        assert_eq!((table.named("ada").rating, table.named("ai-mcts").rating), (None, None));
        assert!(
            StatsTable::after(&[game(["ada", "ai-mcts"], WHITE, EndReason::Timeout)]).named("ada").rating.is_some()
        );
    }

    /// A game that black wins, at this second.
    fn won_at(second: i64, black: &str, white: &str) -> GameRecord {
        GameRecord { ended: Timestamp(second * 1_000_000), ..game([black, white], BLACK, EndReason::Resignation) }
    }

    /// Ways to buy a rating, each as games of Ada and of her helpers.
    fn ways() -> [(&'static str, Vec<GameRecord>, f64); 4] {
        // Each level is another AI, with the rating of a beginner on a new server.
        let experts = (0..6).map(|number| won_at(60 * number, "ada", &format!("ai-expert{number}"))).collect();
        let hurried = (0..28_i64).map(|number| {
            let (ai, at) = (format!("ai-{number}"), number / 14);
            if number % 4 == 3 { won_at(at, &ai, "ada") } else { won_at(at, "ada", &ai) }
        });
        // Each helper loses to the next one, and the last to Ada.
        let helpers = ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "ada"];
        let tower = |day: i64| {
            let pairs = helpers.iter().zip(&helpers[1..]);
            let games = pairs
                .flat_map(|(loser, winner)| (0..if *winner == "ada" { 10 } else { 6 }).map(move |_| (winner, loser)));
            (0..).zip(games).map(move |(number, (winner, loser))| won_at(86_400 * day + 61 * number, winner, loser))
        };
        [
            ("six wins over expert", experts, 1700.0),
            ("28 games in two seconds, every fourth lost", hurried.collect(), 1700.0),
            ("eight helpers, 52 games in a day", tower(0).collect(), 1700.0),
            ("eight helpers, 52 games on each of seven days", (0..7).flat_map(tower).collect(), 2900.0),
        ]
    }

    #[test]
    fn no_way_to_buy_a_rating_gives_more_than_200_points_a_day() {
        for (way, games, most) in ways() {
            let [before, after] = [true, false].map(|is_unbounded| {
                let mut table = StatsTable { is_unbounded, ..StatsTable::default() };
                games.iter().for_each(|game| table.add(game, RatingWeight::FULL));
                table.named("ada").rating.unwrap()
            });
            let [value, deviation] = [after.value.round(), after.deviation.round()];
            println!("{way}: {:.0} ± {:.0} before, {value} ± {deviation} now", before.value, before.deviation);
            assert!(value <= most && before.value > value - 1.0, "{way}");
        }
    }

    /// The ratings of two beginners after games of the first against others, and then this one.
    fn after(games: impl IntoIterator<Item = GameRecord>, last: &GameRecord) -> [f64; 2] {
        let mut table = StatsTable::default();
        games.into_iter().for_each(|game| table.add(&game, RatingWeight::FULL));
        table.add(last, RatingWeight::FULL);
        ["ada", "bob"].map(|name| table.named(name).rating.map_or(1500.0, |rating| rating.value))
    }

    #[test]
    fn at_any_pace_a_loss_counts_for_both() {
        let lost = won_at(60, "bob", "ada");
        let [loser, winner] = after([], &lost);
        let unrated =
            (0..60).map(|at| GameRecord { rated: false, ..won_at(at, ["ada", "cy"][at as usize % 2], "dee") });
        assert_eq!(after(unrated, &lost), [loser, winner], "after 60 unrated games");
        let busy = (0..12).map(|at| {
            let opponent = format!("o{at}");
            if at % 2 == 0 { won_at(at, "ada", &opponent) } else { won_at(at, &opponent, "ada") }
        });
        let before = after(busy.clone(), &won_at(60, "cy", "dee"))[0];
        let [loser, winner] = after(busy, &lost);
        assert!(loser < before - 20.0 && winner > 1600.0, "after twelve: {before} {loser} {winner}");
    }

    #[test]
    fn a_game_of_no_weight_is_counted_and_not_rated() {
        let mut table = StatsTable::default();
        table.add(&game(["ada", "bob"], BLACK, EndReason::Discs), RatingWeight::NONE);
        assert_eq!((table.named("ada").humans.won, table.named("ada").rating), (1, None));
    }

    /// The values in the documentation of `skillratings` for two new players.
    #[test]
    fn a_first_game_rates_as_documented() {
        let table = StatsTable::after(&[game(["ada", "bob"], BLACK, EndReason::Discs)]);
        let [winner, loser] = ["ada", "bob"].map(|name| table.named(name).rating.unwrap());
        assert_eq!([winner.value.round(), winner.deviation.round()], [1662.0, 290.0]);
        assert_eq!([loser.value.round(), loser.deviation.round()], [1338.0, 290.0]);
        assert_eq!([winner.games, loser.games], [1, 1]);
    }
}
