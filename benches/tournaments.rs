//! The time that pairing and standings take: `cargo bench --bench tournaments`. Prints the median, the 99th percentile
//! and the maximum of many rounds, in milliseconds.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark fails if it cannot be set up, and prints")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::time::{Duration, Instant};

use reversi::{
    match_statistics::{Points, Score},
    room::{
        DisplayName, Issuer, Participant, PlayerId, PlayerKind, Profile, RoomName, Settings as RoomSettings, Timestamp,
        TournamentId,
    },
    tournament::{Command, Control, Creation, Format, Outcome, Settings, Tournament, standings},
};

/// Rounds of a tournament in which its time is taken.
const ROUNDS: u8 = 12;
/// Tournaments for each size, so that there are enough rounds for a 99th percentile.
const TOURNAMENTS: u64 = 10;

const ORGANISER: Issuer = Issuer::Player(PlayerId::from_random(1 << 40));

/// A tournament with its clock.
struct Bench {
    tournament: Tournament,
    now: Timestamp,
}

impl Bench {
    /// A Swiss tournament that has started.
    fn started(entrants: u16, seed: u64) -> Self {
        let name = RoomName::parse("bench").unwrap();
        let format = Format::Swiss { rounds: ROUNDS };
        let settings = Settings {
            max_entrants: entrants,
            max_running: Settings::MAX_ENTRANTS / 2,
            seed,
            ..Settings::new(name.clone(), format, RoomSettings::named(name))
        };
        let organiser = PlayerId::from_random(1 << 40);
        let now = Timestamp(1);
        let creation = Creation { id: TournamentId::from_random(seed), organiser, settings };
        let mut bench = Self { tournament: Tournament::new(creation, now), now };
        for number in 0..u64::from(entrants) {
            let id = PlayerId::from_random(number);
            let name = DisplayName::parse(&format!("p{number}")).unwrap();
            let who = Participant::Player(Profile { id, name, kind: PlayerKind::Bot, engine_version: None });
            let rating = 1_000 + (number * 7 % 1_000) as u16;
            bench.execute(Issuer::Player(id), Command::Join { who, rating, password: None });
        }
        bench.execute(ORGANISER, Command::Control(Control::Start));
        bench
    }

    fn execute(&mut self, issuer: Issuer, command: Command) {
        let events = self.tournament.decide(self.now, issuer, command).unwrap();
        events.iter().for_each(|event| self.tournament.apply(event));
    }

    /// Pairs a round. Returns the time of the decision.
    fn pair(&mut self) -> Duration {
        self.now = self.now.max(self.tournament.deadline().unwrap());
        let began = Instant::now();
        let events = self.tournament.decide(self.now, Issuer::Server, Command::Tick { random: 7 }).unwrap();
        let took = began.elapsed();
        events.iter().for_each(|event| self.tournament.apply(event));
        took
    }

    /// Plays all meetings of the round. Returns the times of the standings after some of the results.
    fn play(&mut self, random: &mut u64) -> Vec<Duration> {
        let mut times = Vec::new();
        let running: Vec<u32> = self.tournament.running().map(|meeting| meeting.pairing.number).collect();
        for number in running {
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut score = Score::default();
            for (index, bit) in [(0, 40), (1, 41)] {
                score.count(index, if *random >> bit & 1 == 0 { Points::Win } else { Points::Loss });
            }
            let outcome = Outcome::Played { score, discs: [64, 64], faults: [None; 2] };
            self.execute(Issuer::Server, Command::Finish { number, outcome });
            if number.is_multiple_of(50) {
                let began = Instant::now();
                let rows = standings(&self.tournament);
                times.push(began.elapsed());
                assert_eq!(rows.len(), self.tournament.entrants().len());
            }
        }
        times
    }
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1e3;
    println!("{what:<32} {:>9.3} {:>9.3} {:>9.3}   n = {}", at(50), at(99), at(100), times.len());
}

fn main() {
    println!("{:<32} {:>9} {:>9} {:>9}", "ms", "median", "p99", "max");
    for entrants in [100, 1_000] {
        let (mut pairing, mut standing) = (Vec::new(), Vec::new());
        for seed in 0..TOURNAMENTS {
            let (mut bench, mut random) = (Bench::started(entrants, seed), seed);
            for _ in 0..ROUNDS {
                pairing.push(bench.pair());
                standing.extend(bench.play(&mut random));
            }
        }
        report(&format!("pairing of {entrants}"), pairing);
        report(&format!("standings of {entrants}"), standing);
    }
}
