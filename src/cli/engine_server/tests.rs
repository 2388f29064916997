//! Both protocols with the real engine.

use std::{
    io::Write,
    sync::{Arc, Mutex, mpsc::sync_channel},
};

use proptest::prelude::*;

use super::*;

/// The output, to be read by a test.
#[derive(Clone, Default)]
struct SharedOutput(Arc<Mutex<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn engine() -> Engine {
    Engine::new(Weights::embedded(), 1 << 20)
}

fn search_thread() -> SearchThread {
    // The lowest level that never slips.
    SearchThread::new(Level::new(8), engine(), 7)
}

/// The output for these lines, until the end of the last search.
fn run_lines(protocol: impl FnOnce(SearchThread, LineOutput) -> Box<dyn EngineProtocol>, lines: &[&str]) -> String {
    let output = SharedOutput::default();
    let mut protocol = protocol(search_thread(), LineOutput::new(output.clone()));
    for line in lines {
        protocol.execute(line);
    }
    protocol.search_thread().finish();
    let written = output.0.lock().unwrap();
    String::from_utf8(written.clone()).unwrap()
}

fn gtp(lines: &[&str]) -> String {
    run_lines(|search_thread, output| Box::new(GtpServer::new(search_thread, output)), lines)
}

fn nboard(lines: &[&str]) -> String {
    run_lines(|search_thread, output| Box::new(NboardServer::new(search_thread, output)), lines)
}

/// The last line that is not empty.
fn last(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or_default()
}

#[test]
fn gtp_lists_its_commands() {
    assert_eq!(gtp(&["1 protocol_version"]), "=1 2\n\n");
    assert_eq!(gtp(&["known_command genmove # indeed"]), "= true\n\n");
    assert_eq!(gtp(&["known_command fly"]), "= false\n\n");
    assert_eq!(gtp(&["7 fly"]), "?7 unknown command\n\n");
    let listed = gtp(&["list_commands"]);
    for command in listed.trim_start_matches('=').split_whitespace() {
        assert!(!gtp(&[command]).contains("unknown command"), "{command}");
    }
    assert_eq!(gtp(&["", "# nothing", "5"]), "");
}

#[test]
fn gtp_plays_by_the_rules() {
    assert_eq!(gtp(&["play white d3"]), "? it is the turn of black\n\n");
    assert_eq!(gtp(&["play b a1"]), "? black may not move to a1\n\n");
    assert_eq!(gtp(&["play b pass"]), "? black can move and may not pass\n\n");
    assert_eq!(gtp(&["play b z9"]), "? invalid coordinate\n\n");
    assert_eq!(gtp(&["play"]), "? an argument is missing\n\n");
    assert_eq!(gtp(&["boardsize 10"]), "? unacceptable size\n\n");
    assert!(gtp(&["play b F5", "undo", "undo"]).ends_with("= \n\n? cannot undo\n\n"));
    assert!(gtp(&["play B f5", "showboard"]).contains("5 - - - * * * - -\n"));
    let moves =
        ["play b c4", "play w c3", "play b e6", "play w b4", "play b a4", "play w a5", "play b b2", "play w a3"];
    let white = crate::rules::Transcript::from_squares(moves.map(|line| line[7..].parse().unwrap()));
    let white = format!("play w {}", white.unwrap().position().legal_moves().first().unwrap());
    assert!(!gtp(&[&moves[..], &[&white]].concat()).contains('?'), "a forced pass may be omitted");
    let passed = gtp(&[&moves[..], &["genmove b", "play w pass"]].concat());
    assert!(passed.ends_with("= pass\n\n? white can move and may not pass\n\n"), "{passed}");
}

#[test]
fn gtp_makes_its_own_moves() {
    let answer = gtp(&["time_settings 60 0 0", "time_left b 50 0", "3 genmove black", "showboard"]);
    assert!(answer.contains("=3 ") && answer.ends_with("white to move\n\n"), "{answer}");
    let answer = gtp(&["reg_genmove black", "showboard"]);
    assert!(answer.ends_with("black to move\n\n"), "{answer}");
    let overtime = gtp(&["time_settings 0 10 5", "genmove b", "time_settings 0 0 0", "genmove w", "time_left w 0 0"]);
    assert!(!overtime.contains('?'), "{overtime}");
}

#[test]
fn gtp_loads_games() {
    let file = std::env::temp_dir().join(format!("reversi-loadsgf-{}", std::process::id()));
    std::fs::write(&file, "(;GM[Othello]TY[8]B[f5]W[d6];)").unwrap();
    let load = format!("loadsgf {}", file.display());
    assert!(gtp(&[&load, "play b c3"]).ends_with("= \n\n= \n\n"));
    assert!(gtp(&[&format!("{load} 2"), "play w f6"]).ends_with("= \n\n= \n\n"));
    std::fs::write(&file, b"(;GM[Othello]PB[Jos\xe9]B[f5];)").unwrap();
    assert!(gtp(&[&load, "play w d6"]).ends_with("= \n\n= \n\n"), "names may be in Latin-1");
    std::fs::remove_file(&file).unwrap();
    assert!(gtp(&[&load]).starts_with("? cannot load file: "));
}

#[test]
fn gtp_answers_and_ends_when_it_is_closed() {
    let (output, (over, end)) = (SharedOutput::default(), sync_channel(1));
    let mut engine = GtpServer::new(SearchThread::new(None, engine(), 7), LineOutput::new(output.clone()));
    std::thread::spawn(move || {
        let lines = ["time_settings 3600000 0 0", "2 genmove b", "3 quit"];
        let _ = over.send(lines.map(|line| engine.execute(line)));
    });
    assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok([true, true, false]));
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    assert!(written.starts_with("= \n\n=2 ") && written.ends_with("\n\n=3 \n\n"), "{written}");
}

#[test]
fn the_options_make_the_engine() {
    let command = clap::Command::new("engine");
    let command = <Args as clap::Args>::augment_args(command);
    let engine = |options: &str| {
        let words = ["engine", "--gtp"].into_iter().chain(options.split_whitespace());
        let matches = command.clone().try_get_matches_from(words).map_err(|error| error.to_string())?;
        let args = <Args as clap::FromArgMatches>::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        Ok::<_, String>(format!("{:?}", args.engine()))
    };
    let of = |bytes, threads| Ok(format!("{:?}", Engine::new(Weights::embedded(), bytes).with_threads(threads)));
    assert_ne!(of(1 << 20, 1), of(1 << 20, 3));
    assert_eq!(engine(""), of(64 << 20, 1));
    assert_eq!(engine("--memory 2 --threads 3"), of(2 << 20, 3));
    assert_eq!(engine("--level 8"), of(TABLE_BYTES, 1));
    for both in ["--level 8 --memory 64", "--level 8 --threads 1"] {
        assert!(engine(both).unwrap_err().contains("cannot be used with"), "{both}");
    }
}

#[test]
fn nboard_moves_where_the_game_ends() {
    let game = "set game (;GM[Othello]PC[]PB[]PW[]RE[?]TI[5:00]TY[8]B[f5//10]W[d6];)";
    let answer = nboard(&["nboard 2", game, "set depth 4", "go"]);
    assert!(answer.starts_with("set myname reversi-") && answer.contains("\nsearch "), "{answer}");
    let chosen = last(&answer).strip_prefix("=== ").unwrap();
    let square: crate::rules::Square = chosen.split('/').next().unwrap().parse().unwrap();
    let game: crate::rules::Transcript = "f5d6".parse().unwrap();
    assert!(game.position().legal_moves().contains(square), "{answer}");
    // Black has to pass, which is not sent.
    let passed: crate::rules::Transcript = "c4c3e6b4a4a5b2a3".parse().unwrap();
    let white = format!("move {}/1/2", passed.position().legal_moves().first().unwrap());
    let moves = passed.squares().iter().map(|square| format!("move {square}"));
    let lines: Vec<String> = moves.chain([white]).collect();
    assert_eq!(nboard(&lines.iter().map(String::as_str).collect::<Vec<_>>()), "");
}

#[test]
fn nboard_analyses_moves_and_games() {
    let hints = nboard(&["set depth 2", "move f5", "hint 2"]);
    assert_eq!(hints.lines().filter(|line| line.starts_with("search ")).count(), 2, "{hints}");
    let plies = nboard(&["set depth 1", "move f5", "move d6/-1/3", "analyze"]);
    let numbers: Vec<&str> = plies.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(numbers, ["2", "1", "0"], "{plies}");
    assert_eq!(nboard(&["learn"]), "learned\n");
}

#[test]
fn nboard_stops_searching_on_a_ping() {
    let output = SharedOutput::default();
    let mut engine = NboardServer::new(SearchThread::new(None, engine(), 7), LineOutput::new(output.clone()));
    for line in ["set depth 60", "go", "ping 7"] {
        engine.execute(line);
    }
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    assert!(written.ends_with("pong 7\n") && !written.contains("==="), "{written}");
}

#[test]
fn nboard_reports_errors() {
    for (line, wrong) in [
        ("set game (;", "status neither a tag"),
        ("set depth many", "status the depth is no number"),
        ("move a1", "status black may not move to a1"),
        ("move x", "status a square is"),
        ("move PA", "status black can move"),
        ("ping", "status a ping has a number"),
    ] {
        assert!(nboard(&[line]).starts_with(wrong), "{line}: {}", nboard(&[line]));
    }
    assert_eq!(nboard(&["fly", "", "set wings 2"]), "");
}

#[test]
fn nboard_answers_for_no_earlier_position_after_a_game_or_move_that_it_cannot_read() {
    let game = "set game (;GM[Othello]B[f5];)";
    for bad in ["set game (;GM[Othello]B[f5]W[a1];)", "set game", "move a1", "move x", "move PA"] {
        for question in ["go", "hint 1", "analyze", "move d6"] {
            let answer = nboard(&["set depth 1", game, bad, question, question]);
            assert_eq!(answer.lines().count(), 3, "{bad}, {question}: {answer}");
            assert!(last(&answer).contains("set the game again"), "{bad}, {question}: {answer}");
        }
        assert!(last(&nboard(&["set depth 1", bad, game, "go"])).starts_with("=== "), "{bad}");
    }
    let output = SharedOutput::default();
    let engine = NboardServer::new(search_thread(), LineOutput::new(output.clone()));
    let long = format!("set game {}\ngo\n", "x".repeat(MAX_LINE));
    serve_lines(engine, long.as_bytes()).unwrap();
    let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    assert!(!written.contains("===") && written.contains("set the game again"), "{written}");
}

proptest! {
    // Each case searches a little.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_lines_make_gtp_panic(lines in prop::collection::vec(
        r"([0-9]{0,3} )?(play|genmove|undo|time_settings|time_left|komi|known_command|boardsize|clear_board|showboard|set_game) ?(b|w|8)? ?([a-h][1-8]|pass|[0-9]{1,12})? ?([0-9]{1,22}|.{0,9})|.{0,20}",
        0..12,
    )) {
        gtp(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn no_lines_make_nboard_panic(lines in prop::collection::vec(
        r"(set (depth [1-3]|game \(;GM\[Othello\]TI\[[0-9:/]{0,22}\]((B|W)\[([a-h][1-8]|PA)//[0-9]{0,22}\]){0,3};\)|contempt .{0,3})|move ([a-h][1-8]|PA)/?[-.0-9e]{0,9}/?[-.0-9e]{0,9}|hint [1-3]|go|ping .{0,9}|learn|analyze|.{0,20})",
        0..12,
    )) {
        // Without a bound the searches would take long.
        nboard(&[&["set depth 2"], &lines.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    }
}
