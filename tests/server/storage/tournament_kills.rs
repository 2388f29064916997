//! The real server, killed during tournaments of each format in which bots and its AIs play: no meeting is lost or
//! played twice.

use std::{collections::BTreeMap, path::Path};

use reversi::rules::SplitMix64;
use serde_json::Value;

use super::kills;
use crate::{
    cli::command::{Running, reversi, text},
    harness::process::Server,
};

/// The formats with four entrants, with the number of their meetings; an arena has any number.
const FORMATS: [(&[&str], Option<usize>); 4] = [
    (&["--all-play-all", "--cycles", "2"], Some(12)),
    (&["--swiss", "3", "--playoff", "2"], Some(7)),
    (&["--swiss", "0", "--playoff", "4"], Some(3)),
    (&["--arena", "1m"], None),
];

/// Maximum number of lines of the bots between two kills.
const MAX_LINES: u64 = 20;

#[test]
fn no_meeting_is_lost_or_played_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "127.0.0.1:0");
    let (mut chance, mut left, mut tournaments) = (SplitMix64::new(20), kills(), 0);
    while left > 0 {
        let mut running = FORMATS.map(|(format, meetings)| {
            tournaments += 1;
            (Tournament::begin(&server, folder.path(), &format!("Cup {tournaments}"), format), meetings)
        });
        // Of all bots, in turn: each prints a few lines for each meeting.
        let mut bots: Vec<_> = running.iter_mut().flat_map(|(tournament, _)| &mut tournament.bots).collect();
        let mut lines = 1 + chance.next() % MAX_LINES;
        while !bots.is_empty() {
            bots.retain_mut(|bot| {
                let line = bot.next_line();
                lines -= u64::from(line.is_some());
                if lines == 0 && left > 0 {
                    server.kill();
                    server = start(folder.path(), &server.url.replace("http://", ""));
                    left -= 1;
                }
                lines = if lines == 0 { 1 + chance.next() % MAX_LINES } else { lines };
                line.is_some()
            });
        }
        for (tournament, meetings) in running {
            tournament.check(&server, meetings);
        }
    }
    println!("{} kills in {tournaments} tournaments", kills());
}

fn start(folder: &Path, listen: &str) -> Server {
    Server::start(&["--data", folder.to_str().unwrap(), "--listen", listen, "--log", "error"])
}

fn output_of(server: &Server, arguments: &[&str]) -> String {
    let output = reversi(arguments).args(["--server", &server.url]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn objects(server: &Server, arguments: &[&str]) -> Vec<Value> {
    let printed = output_of(server, &[arguments, &["--json"]].concat());
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

struct Tournament {
    name: String,
    bots: Vec<Running>,
}

impl Tournament {
    /// Starts a tournament of three bots and an AI.
    fn begin(server: &Server, folder: &Path, name: &str, format: &[&str]) -> Self {
        let kept = folder.join("organiser");
        let keep = ["--keep", kept.to_str().unwrap()];
        let create = ["tournament", "create", name, "--clock", "60+1", "--enter", "roxanne"];
        output_of(server, &[&create[..], format, &keep].concat());
        let bots = ["random", "greedy", "positional"].map(|ai| {
            let arguments = ["bot", "--tournament", name, "--ai", ai, "--server", &server.url];
            let mut bot = Running::spawn(reversi(&arguments));
            bot.wait_for("waiting for the start");
            bot
        });
        output_of(server, &[&["tournament", "start", name], &keep[..]].concat());
        Self { name: name.to_owned(), bots: bots.into() }
    }

    /// Checks a tournament after its end.
    fn check(mut self, server: &Server, expected: Option<usize>) {
        for bot in &mut self.bots {
            bot.wait_for_exit();
            assert!(bot.seen.last().unwrap().starts_with("the tournament is completed: rank "), "{:?}", bot.seen);
        }
        let meetings = objects(server, &["tournament", "meetings", &self.name]);
        assert_eq!(meetings.len(), expected.unwrap_or(meetings.len()), "{meetings:?}");
        let mut games = BTreeMap::<String, usize>::new();
        for game in objects(server, &["games", "--most", "10000"]) {
            *games.entry(game["room_id"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let mut half_points = 0;
        for (number, meeting) in (1..).zip(&meetings) {
            assert_eq!((&meeting["number"], &meeting["state"]), (&number.into(), &"played".into()), "{meeting}");
            assert_eq!(games.remove(meeting["room_id"].as_str().unwrap()), Some(2), "{meeting}");
            half_points += if meeting["playoff"] == true { 0 } else { 4 };
        }
        let rows = objects(server, &["tournament", "standings", &self.name]);
        let sum: i64 = rows.iter().map(|row| row["half_points"].as_i64().unwrap()).sum();
        assert_eq!((rows.len(), sum), (4, half_points), "{rows:?}");
    }
}
