//! Engines as short scripts, well-behaved and otherwise.

use std::{fs, path::PathBuf, time::Duration};

use super::*;

/// An engine that answers commands by these branches of a shell `case`.
fn script(protocol: Protocol, cases: &str) -> EngineCommand {
    let default = match protocol {
        Protocol::Nboard => r#"ping) echo "pong $rest";;"#,
        Protocol::Gtp => r#"*) printf "=\n\n";;"#,
    };
    let text = format!("while read -r command rest; do case $command in {cases} {default} esac; done");
    EngineCommand { protocol, words: ["sh", "-c", &text].map(str::to_owned).to_vec() }
}

/// A file that is missing for the first process of an engine only.
struct Mark(PathBuf);

impl Mark {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("reversi-engine-{name}-{}", std::process::id())))
    }

    /// Runs `first` in the first process, `later` in others.
    fn once(&self, first: &str, later: &str) -> String {
        let file = self.0.display();
        format!("if [ -e {file} ]; then {later}; else : > {file}; {first}; fi")
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// More time than any test needs.
const ENOUGH_TIME: MoveTime = MoveTime { for_move: Duration::from_secs(120), limit: None, left: None };
/// Less time than an answer takes.
const LITTLE_TIME: MoveTime =
    MoveTime { for_move: Duration::from_millis(100), limit: Some(Duration::from_millis(100)), left: None };

fn choose(command: EngineCommand, time: MoveTime) -> Result<String, NoMove> {
    let mut engine = Engine::start(command, 3)?;
    engine.choose(&Transcript::new(), time, &Stop::new()).map(|square| square.to_string())
}

fn why(failed: Result<String, NoMove>) -> String {
    match failed {
        Err(NoMove::Broken(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_engine_plays_over_both_protocols() {
    let nboard = r#"go) echo "status at it"; echo "search F5 0 0 3"; echo "=== F5 -1.00 0.0";;"#;
    assert_eq!(choose(script(Protocol::Nboard, nboard), ENOUGH_TIME), Ok("f5".into()));
    let gtp = r#"genmove) echo "a word before"; printf "=1 F5\n\n";;"#;
    assert_eq!(choose(script(Protocol::Gtp, gtp), ENOUGH_TIME), Ok("f5".into()));
}

#[test]
fn a_continued_game_sends_only_its_new_moves() {
    // It answers by what was played on its board since it was cleared, or since its last move.
    let cases = r#"clear_board) played=; printf "=\n\n";; play) played="$played $rest"; printf "=\n\n";;
        genmove) case "$played" in "") printf "= f5\n\n";; " white d6") printf "= c3\n\n";;
        " black f5 white f6 black e6 white f4") printf "= g5\n\n";; *) printf "= a1\n\n";; esac;;"#;
    let mut engine = Engine::start(script(Protocol::Gtp, cases), 3).unwrap();
    let mut next =
        |moves: &str| engine.choose(&moves.parse().unwrap(), ENOUGH_TIME, &Stop::new()).map(|it| it.to_string());
    assert_eq!(next(""), Ok("f5".into()));
    assert_eq!(next("f5d6"), Ok("c3".into()));
    assert_eq!(next("f5f6e6f4"), Ok("g5".into()), "the next game starts on a clear board");
}

#[test]
fn an_engine_that_resigned_starts_the_next_game_on_a_clear_board() {
    // It cannot be restarted, so that its board is not cleared by a restart.
    let mark = Mark::new("resigned");
    let start = mark.once(r#"printf "=\n\n""#, "exit 3");
    let cases = format!(
        r#"protocol_version) {start};; clear_board) played=; printf "=\n\n";;
        play) played="$played $rest"; printf "=\n\n";; genmove) case "$played" in
        " black f5 white d6") printf "= resign\n\n";; " black f5 white d6 black c3 white d3") printf "= c4\n\n";;
        *) printf "= a1\n\n";; esac;;"#
    );
    let mut engine = Engine::start(script(Protocol::Gtp, &cases), 3).unwrap();
    let mut next =
        |moves: &str| engine.choose(&moves.parse().unwrap(), ENOUGH_TIME, &Stop::new()).map(|it| it.to_string());
    assert_eq!(next("f5d6"), Err(NoMove::Resigned));
    assert_eq!(next("f5d6c3d3"), Ok("c4".into()));
}

#[test]
fn an_engine_that_starts_slowly_can_be_restarted() {
    let mark = Mark::new("slow");
    let slow = format!("nboard) if [ -e {} ]; then sleep 0.6; fi;;", mark.0.display());
    let go = format!("go) {};;", mark.once("exit 3", "echo === f5"));
    let mut engine = Engine::start(script(Protocol::Nboard, &format!("{slow} {go}")), 3).unwrap();
    let time = MoveTime { for_move: Duration::from_millis(120), limit: None, left: None };
    assert_eq!(engine.choose(&Transcript::new(), time, &Stop::new()), Ok("f5".parse().unwrap()));
}

#[test]
fn a_crashed_engine_is_restarted() {
    let mark = Mark::new("crash");
    let go = format!("go) {};;", mark.once("exit 3", "echo === f5"));
    assert_eq!(choose(script(Protocol::Nboard, &go), ENOUGH_TIME), Ok("f5".into()));
}

#[test]
fn an_engine_that_always_crashes_is_given_up_with_its_last_output() {
    let error = why(choose(script(Protocol::Gtp, r#"genmove) echo "no book" >&2; exit 3;;"#), ENOUGH_TIME));
    assert!(error.contains("has ended (exit status: 3); its last words: no book"), "{error}");
}

#[test]
fn a_late_engine_is_restarted_for_the_next_move() {
    let mark = Mark::new("late");
    let go = format!("go) {};;", mark.once("read -r never", "echo === f5"));
    let mut engine = Engine::start(script(Protocol::Nboard, &go), 3).unwrap();
    assert_eq!(engine.choose(&Transcript::new(), LITTLE_TIME, &Stop::new()), Err(NoMove::Late));
    assert_eq!(engine.choose(&Transcript::new(), ENOUGH_TIME, &Stop::new()), Ok("f5".parse().unwrap()));
}

#[test]
fn an_engine_that_takes_longer_than_it_should_loses_no_game_with_time_left() {
    // One answers late, the other only after a restart.
    let mark = Mark::new("hung");
    let slow = script(Protocol::Gtp, r#"genmove) sleep 0.4; printf "= f5\n\n";;"#);
    let hung = script(Protocol::Gtp, &format!("genmove) {};;", mark.once("read -r never", r#"printf "= f5\n\n""#)));
    let time = MoveTime { for_move: Duration::from_millis(300), limit: Some(Duration::from_secs(120)), left: None };
    for engine in [slow, hung] {
        assert_eq!(choose(engine, time), Ok("f5".into()));
    }
}

#[test]
fn an_engine_that_must_not_be_restarted_has_no_move_after_a_failure() {
    for (fault, part) in [("exit 3", "has ended"), ("echo === a1", "plays a1"), ("read -r never", "does not answer")] {
        let mark = Mark::new("once");
        let go = format!("go) {};;", mark.once(fault, "echo === f5"));
        let mut engine = Engine::start(script(Protocol::Nboard, &go), 0).unwrap();
        let time = if part == "does not answer" { LITTLE_TIME } else { ENOUGH_TIME };
        let chosen = engine.choose(&Transcript::new(), time, &Stop::new()).map(|square| square.to_string());
        let why = why(chosen);
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn an_engine_with_endless_output_is_late() {
    let flood = script(Protocol::Nboard, "go) while :; do echo search; done;;");
    assert_eq!(choose(flood, LITTLE_TIME), Err(NoMove::Late));
}

#[test]
fn unrelated_output_is_ignored() {
    let noise =
        r#"head -c 3000000 /dev/zero | tr "\0" x; echo; printf "\377\000[;(\n\n===\r" >&2; printf "\377=== \n";"#;
    assert_eq!(choose(script(Protocol::Nboard, &format!("go) {noise} echo === f5;;")), ENOUGH_TIME), Ok("f5".into()));
    assert_eq!(choose(script(Protocol::Gtp, &format!("genmove) {noise} echo = f5;;")), ENOUGH_TIME), Ok("f5".into()));
}

#[test]
fn illegal_moves_and_refusals_are_reported() {
    for (answer, error) in [("=== a1", "plays a1, which is illegal"), ("=== PA/0", "plays `PA/0`, which is illegal")] {
        let why = why(choose(script(Protocol::Nboard, &format!("go) echo {answer};;")), ENOUGH_TIME));
        assert!(why.contains(error), "{why}");
    }
    let refusal = why(choose(script(Protocol::Gtp, r#"genmove) printf "? no \033[2J idea\n\n";;"#), ENOUGH_TIME));
    assert!(refusal.contains("refuses `genmove black`: `no [2J idea`"), "{refusal}");
    assert_eq!(choose(script(Protocol::Gtp, "genmove) echo = resign;;"), ENOUGH_TIME), Err(NoMove::Resigned));
}

#[test]
fn a_command_that_cannot_be_started_is_reported() {
    let start = |protocol, command| {
        why(Engine::start(EngineCommand::new(protocol, command).unwrap(), 3).map(|_| String::new()))
    };
    let missing = start(Protocol::Gtp, "/nowhere/engine --gtp");
    assert!(missing.starts_with("the engine `/nowhere/engine --gtp` cannot be started: "), "{missing}");
    let mute = start(Protocol::Nboard, "true");
    assert!(mute.contains("has ended") && mute.contains("expected to speak the NBoard protocol"), "{mute}");
    assert!(EngineCommand::new(Protocol::Gtp, "a 'b").is_err() && EngineCommand::new(Protocol::Gtp, " ").is_err());
    assert_eq!(EngineCommand::new(Protocol::Gtp, "'/my games/edax' -q").unwrap().name(), "edax");
}

#[test]
fn a_stopped_engine_is_not_waited_for() {
    let mut engine = Engine::start(script(Protocol::Nboard, "go) read -r never;;"), 3).unwrap();
    let stop = Stop::new();
    stop.stop();
    assert_eq!(engine.choose(&Transcript::new(), ENOUGH_TIME, &stop), Err(NoMove::Unwanted));
}

#[test]
fn an_engine_that_does_not_read_is_detected() {
    let process = EngineProcess::start(&["sleep".to_owned(), "600".to_owned()]).unwrap();
    let line = "x".repeat(1000);
    let refused = (0..1_000).find_map(|_| process.send(line.as_str()).err());
    assert_eq!(refused, Some(EngineFault::Deaf));
}
