//! Scores of opponents differ as little as in the Dutch system of FIDE.

use std::{
    collections::BTreeMap,
    env,
    io::Write,
    process::{Command, Stdio},
};

use reversi_engine::match_statistics::Points;
use reversi_needs::needs;
use reversi_tournament::{Forfeiter, Format, Outcome, Settings, trf};

use crate::trial::{Trial, played, settings};

/// Sizes of fields and numbers of rounds.
const FIELDS: [(usize, u8); 10] =
    [(6, 5), (7, 4), (8, 5), (9, 5), (12, 5), (16, 5), (17, 6), (24, 6), (33, 7), (64, 6)];

/// Entrants in a field size, over all its tournaments.
const ENTRANTS: usize = 600;

/// The pairs of tournaments and the sum of the differences of their scores, in half points.
#[derive(Clone, Copy, Debug, Default)]
struct Gaps {
    pairs: u32,
    sum: u32,
}

impl Gaps {
    fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.sum += other.sum;
    }

    fn mean(self) -> f64 {
        f64::from(self.sum) / f64::from(self.pairs)
    }
}

struct Simulated {
    rounds: u8,
    seed: u32,
    /// What each scores against each, in half points: the same however they are paired.
    points: Vec<Vec<u8>>,
}

impl Simulated {
    /// Strengths fall by 600 Elo over the field, but ratings err by up to 200; one game of 25 is drawn.
    fn new(size: usize, rounds: u8, seed: u32) -> Self {
        let mut trial = Trial::new(settings(Format::Swiss { rounds }), 0);
        (0..seed).for_each(|_| _ = trial.draw());
        let mut draw = || trial.draw() as f64 / f64::from(1_u32 << 31);
        let strengths: Vec<f64> = (0..size).map(|one| 400.0 * draw() - 600.0 * one as f64 / size as f64).collect();
        let mut points = vec![vec![0; size]; size];
        for b in 1..size {
            for a in 0..b {
                let expected = 1.0 / (1.0 + 10_f64.powf((strengths[b] - strengths[a]) / 400.0));
                points[a][b] = if draw() < 0.04 { 1 } else { 2 * u8::from(draw() < expected) };
                points[b][a] = 2 - points[a][b];
            }
        }
        Self { rounds, seed, points }
    }

    /// As `dutch.py` reads it.
    fn line(&self) -> String {
        let words = self.points.iter().map(|row| row.iter().map(u8::to_string).collect::<String>());
        format!("{} {}\n", self.rounds, words.collect::<Vec<_>>().join(" "))
    }

    fn play(&self) -> Gaps {
        let mut single = Settings { seed: self.seed.into(), ..settings(Format::Swiss { rounds: self.rounds }) };
        single.game.games = 1;
        let mut trial = Trial::started(single, u32::try_from(self.points.len()).expect("few"));
        let mut scores = vec![0_u32; self.points.len()];
        let mut gaps = Gaps::default();
        for round in 1..=self.rounds {
            for (first, second) in trial.round(round.into()) {
                let a = first.0 as usize - 1;
                let Some(second) = second else {
                    scores[a] += 2;
                    continue;
                };
                let b = second.0 as usize - 1;
                gaps.add(Gaps { pairs: 1, sum: scores[a].abs_diff(scores[b]) });
                scores[a] += u32::from(self.points[a][b]);
                scores[b] += u32::from(self.points[b][a]);
            }
            for meeting in trial.running() {
                let (a, b) = (meeting.pairing.first, meeting.pairing.second.expect("an opponent"));
                let result = [Points::Loss, Points::Draw, Points::Win]
                    [usize::from(self.points[a.0 as usize - 1][b.0 as usize - 1])];
                trial.finish(meeting.pairing.number, played(&[result]));
            }
        }
        gaps
    }
}

/// The same tournaments paired by the Dutch system; `None` where it fails.
fn dutch(tournaments: &[Simulated]) -> Vec<Option<Gaps>> {
    let mut python = Command::new(env::var("REVERSI_PYTHON").expect("set when this was compiled"))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tournament/dutch.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines: String = tournaments.iter().map(Simulated::line).collect();
    // Dropped here, which ends the input.
    python.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("reads");
    let output = python.wait_with_output().expect("ends");
    let gaps = |line: &str| {
        let (pairs, sum) = line.split_once(' ')?;
        Some(Gaps { pairs: pairs.parse().expect("a number"), sum: sum.parse().expect("a number") })
    };
    String::from_utf8(output.stdout).expect("text").lines().map(gaps).collect()
}

/// Of single games, where colours restrict the pairing in both.
#[needs(python)]
#[test]
fn scores_differ_as_little_as_in_the_dutch_system() {
    let of = |(size, rounds)| (0..(ENTRANTS / size) as u32).map(move |seed| Simulated::new(size, rounds, seed));
    let tournaments: Vec<Simulated> = FIELDS.into_iter().flat_map(of).collect();
    let theirs = dutch(&tournaments);
    assert_eq!(theirs.len(), tournaments.len());
    let mut all = [Gaps::default(); 2];
    let mut by_size: BTreeMap<usize, ([Gaps; 2], usize)> = BTreeMap::new();
    for (tournament, theirs) in tournaments.iter().zip(theirs) {
        let (sums, failed) = by_size.entry(tournament.points.len()).or_default();
        let Some(theirs) = theirs else {
            *failed += 1;
            continue;
        };
        for ((sum, of_size), gaps) in all.iter_mut().zip(sums).zip([tournament.play(), theirs]) {
            sum.add(gaps);
            of_size.add(gaps);
        }
    }
    for (size, ([ours, theirs], failed)) in by_size {
        let (ours, theirs) = (ours.mean(), theirs.mean());
        println!("{size}: {ours:.3} and {theirs:.3} half points, {:.3}; {failed} failed", ours / theirs);
    }
    let [ours, theirs] = all.map(Gaps::mean);
    println!("{ours:.3} and {theirs:.3} half points, {:.3}", ours / theirs);
    assert!(ours <= 1.05 * theirs);
}

/// It checks the columns, the points and that both sides of a meeting agree.
#[needs(python)]
#[test]
fn the_report_of_a_tournament_is_read_strictly() {
    let mut trial = Trial::started(settings(Format::Swiss { rounds: 5 }), 9);
    let forfeit = Outcome::Forfeit { by: Forfeiter::Both, fault: true };
    for outcome in [Outcome::Void, forfeit] {
        let meeting = trial.running().remove(0);
        trial.finish(meeting.pairing.number, outcome);
    }
    trial.play_round();
    trial.play_round();
    let read = "import pathlib, sys; from py4swiss.trf import TrfParser; \
        print(len(TrfParser.parse(pathlib.Path('/dev/stdin'), strict=True).player_sections))";
    let mut python = Command::new(env::var("REVERSI_PYTHON").expect("set when this was compiled"))
        .args(["-c", read])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let report = trf(&trial.tournament).expect("rounds").join("\n");
    python.stdin.take().expect("piped").write_all(report.as_bytes()).expect("reads");
    let output = python.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "9", "{report}");
}
