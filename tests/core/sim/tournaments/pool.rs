//! A bot that is left in a pool, among others who come and go.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::join_all;
use reversi::{
    room::{Opponents, TimeControl, Timestamp},
    runtime::Pool,
    tournament::{Event, Fact},
};

use super::{
    machine::{Kill, Machine},
    players::{Attendant, Habit},
};

const SEEDS: u64 = 6;

/// For how long the bot stays.
const STAY: Duration = Duration::from_secs(8 * 60 * 60);

/// The bots who are always there, of whom the first is looked at, and those who come and go.
const STEADY: usize = 8;
const RESTLESS: usize = 20;

#[test]
#[ignore = "a quarter of a minute for each seed"]
fn a_bot_of_a_pool_plays_nearly_always_and_against_many() {
    let mut shares = Vec::new();
    for seed in 0..SEEDS {
        let time =
            TimeControl { per_move: None, total: Some(Duration::from_secs(60)), increment: Duration::from_secs(1) };
        let admits = Opponents { people: false, ..Opponents::default() };
        let pool = Pool { name: "60+1".into(), time, admits, rated: true };
        let mut machine = Machine::new(seed);
        machine.pools.push(pool.clone());
        let stayed = machine.run(Kill::Never, async |runtime, _| {
            let mut attendants = Vec::new();
            for number in 0..STEADY + RESTLESS {
                let habit = if number < STEADY { Habit::Steady } else { Habit::Restless };
                let mut bot = Attendant::enter(runtime, seed, number, habit, pool.id()).await;
                bot.thinks = 4_000;
                attendants.push(bot);
            }
            let began = runtime.clock().now();
            let all = join_all(attendants.iter_mut().map(|one| one.attend(runtime, pool.id())));
            let _ = tokio::time::timeout(STAY, all).await;
            let tournament = runtime.tournaments.get(pool.id()).await.expect("a pool");
            let bot = tournament.entrants().iter().find(|(_, entrant)| entrant.who.is(attendants[0].id));
            (*bot.expect("an entrant").0, [began, runtime.clock().now()])
        });
        let (bot, [began, ended]) = stayed.expect("not killed");
        let (mut playing, mut opponents) = (BTreeMap::<u32, Timestamp>::new(), BTreeMap::new());
        let mut played = Duration::ZERO;
        for Event { at, fact, .. } in machine.history() {
            match fact {
                Fact::Paired { meetings, .. } => {
                    for meeting in
                        meetings.iter().filter(|meeting| [Some(meeting.first), meeting.second].contains(&Some(bot)))
                    {
                        let opponent = if meeting.first == bot { meeting.second } else { Some(meeting.first) };
                        *opponents.entry(opponent).or_insert(0) += 1;
                        playing.insert(meeting.number, at);
                    }
                }
                Fact::Finished { number, .. } => {
                    played += playing.remove(&number).map_or(Duration::ZERO, |from| at.since(from))
                }
                _ => {}
            }
        }
        played += playing.values().map(|from| ended.since(*from)).sum::<Duration>();
        let share = played.div_duration_f64(ended.since(began));
        let meetings: u32 = opponents.values().sum();
        let most = opponents.values().copied().max().unwrap_or_default();
        let figures = format!(
            "{:.1} % of the time in {meetings} meetings with {} opponents, at most {most} with one",
            100.0 * share,
            opponents.len()
        );
        println!("{figures}");
        assert!(share > 0.94 && opponents.len() >= 15 && most * 10 <= meetings, "seed {seed}: {figures}");
        shares.push(share);
    }
    let mean = shares.iter().sum::<f64>() / f64::from(u32::try_from(shares.len()).expect("few seeds"));
    assert!(mean >= 0.95, "{:.2} % of the time", 100.0 * mean);
}
