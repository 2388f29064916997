//! `reversi tournament`, and `reversi bot --tournament`: an organiser, entrants and watchers, each a process.

use reversi::client::{Client, PlayerKind, TournamentControl, v1};

use super::command::{Running, Server, file, reversi, text};

/// A file of `--keep` that is removed with this.
pub(super) struct Kept(pub(super) String);

impl Kept {
    pub(super) fn new(name: &str) -> Self {
        Self(file(name))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs `reversi tournament` with the login in a file.
pub(super) fn organise(server: &Server, kept: &Kept, arguments: &[&str]) -> String {
    server.output_of(&[&["tournament"], arguments, &["--keep", &kept.0]].concat(), "")
}

/// The id in what `create` prints.
pub(super) fn id(created: &str) -> String {
    created.split_whitespace().nth(1).expect("an id").to_owned()
}

#[test]
fn bots_play_a_tournament_that_was_made_from_a_file_and_a_watcher_sees_it() {
    let server = Server::start();
    let (kept, settings) = (Kept::new("tournament-organiser"), Kept::new("tournament-settings"));
    let options = ["Cup", "--swiss", "3", "--clock", "60+1", "--for=bots", "--enter", "roxanne:1"];
    let printed = server.output_of(&[&["tournament", "create", "--print"], &options[..]].concat(), "");
    std::fs::write(&settings.0, &printed).unwrap();
    let from_file = ["create", "--file", &settings.0];
    assert_eq!(organise(&server, &kept, &[&from_file[..], &["--print"]].concat()), printed);
    let created = organise(&server, &kept, &[&from_file[..], &["--name", "Olga"]].concat());
    let id = id(&created);
    for part in [
        format!("tournament {id} (Cup)\nits organiser is Olga, whose login is kept in {}\n", kept.0),
        format!("reversi bot --tournament {id} --server {}\n", server.url),
        format!("reversi tournament start {id} --keep {} --server {}\n", kept.0, server.url),
        "AI roxanne:1 is entered\n".to_owned(),
    ] {
        assert!(created.contains(&part), "{part}{created}");
    }
    let mut bots = ["random", "greedy", "positional"].map(|ai| {
        let mut bot = Running::start(&server, &["bot", "--tournament", "cup", "--ai", ai]);
        bot.wait_for("waiting for the start");
        bot
    });
    let mut watcher = Running::start(&server, &["tournament", "watch", &id]);
    let started = organise(&server, &kept, &["start", "Cup"]);
    assert_eq!(started, format!("tournament {id} is running, with 4 entrants\n"));
    let watched = watcher.wait_for_exit();
    for round in 1..=3 {
        assert_eq!(watched.matches(&format!("\nround {round} of 3\n")).count(), usize::from(round > 1), "{watched}");
    }
    assert!(watched.starts_with("round 1 of 3\n"), "{watched}");
    for meeting in 1..=6 {
        assert_eq!(watched.matches(&format!("\nmeeting {meeting}: ")).count(), 1, "{watched}");
    }
    assert!(watched.contains(&format!("Cup ({id}): completed; 6 of 6 meetings finished\nRANK  ENTRANT  NAME")));
    let table = server.output_of(&["tournament", "standings", &id], "");
    assert!(watched.ends_with(&table), "{watched}\n{table}");
    let mut ranks: Vec<_> = bots
        .iter_mut()
        .map(|bot| {
            let played = bot.wait_for_exit();
            assert!((1..=3).all(|round| played.contains(&format!("round {round}, meeting "))), "{played}");
            let end = played.lines().last().unwrap();
            end.strip_prefix("the tournament is completed: rank ").unwrap().to_owned()
        })
        .collect();
    let ai = table.lines().find(|line| line.contains("AI roxanne:1")).unwrap();
    ranks.push(format!("{} of 4", ai.split_whitespace().next().unwrap()));
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 2, 3, 4].map(|rank| format!("{rank} of 4")));
    shown_in_tables_and_as_json(&server, &id);
}

/// Of the tournament after its end.
fn shown_in_tables_and_as_json(server: &Server, id: &str) {
    let tournament = |arguments: &[&str]| server.output_of(&[&["tournament"], arguments].concat(), "");
    let object = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let listed = tournament(&["list"]);
    assert!(listed.contains(id) && listed.contains("Swiss, 3 rounds"), "{listed}");
    let shown = tournament(&["show", id]);
    for part in
        ["a meeting: 2 games, unrated, 1m for a side and 1s more for each move", "organiser: Olga", "open to: bots"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = object(&tournament(&["show", id, "--json"]));
    assert_eq!((&shown["phase"], &shown["settings"]["swiss"]["rounds"]), (&"completed".into(), &3.into()));
    let rows: Vec<_> = tournament(&["standings", id, "--json"]).lines().map(object).collect();
    assert_eq!(rows.iter().map(|row| row["half_points"].as_i64().unwrap()).sum::<i64>(), 24);
    let entrant = rows[0]["entrant"].to_string();
    let meetings = tournament(&["meetings", id, "--entrant", &entrant, "--json"]);
    assert_eq!(meetings.lines().count(), 3, "{meetings}");
    assert!(meetings.lines().all(|line| object(line)["state"] == "played"), "{meetings}");
    assert_eq!(tournament(&["meetings", id]).lines().count(), 7);
    assert_eq!(tournament(&["meetings", id, "--round=2"]).lines().count(), 3);
    assert_eq!(tournament(&["meetings", id, "--playoff"]), "no meetings\n");
    let games = tournament(&["games", id]);
    assert_eq!((games.lines().count(), games.matches("black_wins").count()), (12, 0), "{games}");
    assert_eq!(games, server.output_of(&["games", "--tournament", "cup"], ""));
    assert!(tournament(&["games", id, "--json"]).lines().all(|line| object(line)["meeting"]["tournament_id"] == id));
    let exported = Kept::new("tournament-export");
    let said = tournament(&["export", "Cup", "--out", &exported.0]);
    assert_eq!(said, format!("23 lines are in {}\n", exported.0));
    assert_eq!(std::fs::read_to_string(&exported.0).unwrap().lines().count(), 1 + 4 + 6 + 12);
    assert!(tournament(&["export", "Cup", "--format", "trf"]).starts_with("012 Cup\n"));
    // Whoever watches later sees the same.
    let watched = tournament(&["watch", "CUP"]);
    assert_eq!(watched.lines().filter(|line| line.starts_with("meeting ")).count(), 6, "{watched}");
}

#[test]
fn what_is_refused_ends_a_command_with_the_reason() {
    let server = Server::start();
    let (kept, other) = (Kept::new("tournament-refusals"), Kept::new("tournament-other"));
    let made = ["create", "Small", "--all-play-all", "--max-entrants=2", "--enter=random", "--enter=greedy"];
    let id = id(&organise(&server, &kept, &made));
    let unknown = "no tournament has the id or the name `nope`; `reversi tournament list` lists the tournaments";
    for arguments in [&["tournament", "watch", "nope"][..], &["bot", "--tournament", "nope"]] {
        let error = server.error_of(arguments);
        assert!(error.contains(unknown), "{error}");
    }
    let error = server.error_of(&["bot", "--tournament", &id]);
    assert!(error.contains(&format!("cannot take part in tournament {id}: ")) && error.contains("full"), "{error}");
    let refused =
        |kept: &Kept, arguments: &[&str]| server.error_of(&[&["tournament"], arguments, &["--keep", &kept.0]].concat());
    let error = refused(&other, &["start", &id]);
    assert!(error.contains("has no login of this server; `reversi tournament create`"), "{error}");
    let error = refused(&other, &["join", &id, "--name", "Otto"]);
    assert!(error.contains(&format!("cannot take part in tournament {id}: ")), "{error}");
    let error = refused(&other, &["start", &id]);
    assert!(error.contains("Otto is not the organiser; name the file with that login by --keep FILE"), "{error}");
    let error = refused(&kept, &["exclude", &id, "Otto"]);
    assert!(error.contains("no entrant has the number or the name `Otto`"), "{error}");
    organise(&server, &kept, &["edit", &id, "--swiss=2"]);
    let error = refused(&kept, &["start", &id]);
    assert!(error.contains("must be at most 1: set it lower, enter more, or let an AI fill byes"), "{error}");
    for (arguments, problem) in [
        (&["create", "Cup"][..], "choose --swiss ROUNDS, --all-play-all or --arena DURATION"),
        (&["create", "--swiss=3"], "the tournament needs a NAME"),
        (&["create", "Cup", "--all-play-all", "--challenger=expert:3"], "`reversi bot --name NAME --ai expert:3` does"),
        (&["create", "Cup", "--swiss=3", "--playoff=3"], "it must be 2, 4 or 8"),
        (&["list", "--most=0"], "it must be at least 1"),
        (&["create", "Cup", "--swiss=3", "--cycles=2"], "--cycles and --challenger need --all-play-all"),
        (&["create", "Cup", "--swiss=3", "--file", "/dev/zero"], "/dev/zero has more than 64 KiB"),
    ] {
        let output = server.run(&[&["tournament"], arguments].concat(), "");
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(problem), "{arguments:?}: {error}");
    }
    let unknown = server.run(&["tournament", "create", "--file", "-"], "name = \"Cup\"\nswis = 3\n");
    let error = text(&unknown.stderr);
    assert!(error.contains("-: there is no setting `swis`; the nearest is `swiss`"), "{error}");
}

#[test]
fn the_organiser_excludes_admits_and_decides_and_people_come_and_go() {
    let server = Server::start();
    let (kept, ada) = (Kept::new("tournament-manager"), Kept::new("tournament-ada"));
    let id = id(&organise(&server, &kept, &["create", "Cup", "--all-play-all", "--password", "sesame"]));
    let error = server.error_of(&["bot", "--tournament", &id, "--password", "wrong"]);
    assert!(error.contains("the tournament asks for a password"), "{error}");
    let joined = organise(&server, &ada, &["join", &id, "--password", "sesame", "--name", "Ada"]);
    for part in [
        format!("Ada is entered in tournament {id}; the login is kept in {}\n", ada.0),
        format!("reversi play --tournament {id} --keep {} --server {}\n", ada.0, server.url),
    ] {
        assert!(joined.contains(&part), "{part}{joined}");
    }
    assert_eq!(organise(&server, &kept, &["exclude", &id, "ada"]), "Ada is excluded\n");
    let row = |name: &str| {
        let table = server.output_of(&["tournament", "standings", &id], "");
        table.lines().find(|line| line.contains(name)).unwrap().to_owned()
    };
    assert!(row("Ada").ends_with("excluded"));
    assert_eq!(organise(&server, &kept, &["admit", &id, "1"]), "Ada may join again, as long as entry is open\n");
    organise(&server, &ada, &["join", &id, "--password", "sesame"]);
    let error = server.error_of(&["tournament", "admit", &id, "Ada", "--keep", &kept.0]);
    assert!(error.contains("Ada is not excluded"), "{error}");
    organise(&server, &kept, &["enter", &id, "random", "greedy"]);
    organise(&server, &kept, &["start", &id]);
    let paused = organise(&server, &kept, &["pause", &id]);
    assert_eq!(paused, format!("tournament {id} is paused, with 3 entrants\n"));
    assert_eq!(organise(&server, &kept, &["resume", &id]), paused.replace("paused", "running"));
    // Ada never comes: the organiser need not wait for that.
    let decided = organise(&server, &kept, &["decide", &id, "1", "second", "--why", "as agreed"]);
    assert!(decided.starts_with("meeting 1 is decided"), "{decided}");
    let meetings = server.output_of(&["tournament", "meetings", &id], "");
    assert!(meetings.contains("(decided: as agreed)"), "{meetings}");
    assert_eq!(organise(&server, &ada, &["leave", &id]), format!("Ada has left tournament {id}\n"));
    assert!(row("Ada").ends_with("left"));
    let arena = ["create", "Night", "--arena=1h", "--enter=random", "--enter=greedy"];
    organise(&server, &kept, &arena);
    organise(&server, &kept, &["start", "Night"]);
    assert!(organise(&server, &kept, &["end", "Night"]).contains(" is stopped, "));
    organise(&server, &kept, &arena);
    assert!(organise(&server, &kept, &["cancel", "night"]).contains(" is cancelled, "));
}

#[test]
fn an_organiser_changes_what_is_given_and_nothing_else() {
    let server = Server::start();
    let kept = Kept::new("tournament-edit");
    let made = [
        "create",
        "Cup",
        "--swiss=3",
        "--clock=60+1",
        "--rated",
        "--for=bots",
        "--max-rating=1900",
        "--no-show=90s",
        "--fills-bye=expert:1",
    ];
    let id = id(&organise(&server, &kept, &made));
    let settings = || {
        let shown = server.output_of(&["tournament", "show", &id, "--json"], "");
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["settings"].clone()
    };
    let mut expected = settings();
    organise(&server, &kept, &["edit", "cup", "--swiss=5", "--playoff=2", "--max-entrants=16", "--enter=random"]);
    expected["swiss"]["rounds"] = 5.into();
    expected["playoff"] = 2.into();
    expected["max_entrants"] = 16.into();
    assert_eq!(settings(), expected);
    let changed = organise(&server, &kept, &["edit", "Cup", "--without=rated", "--without", "playoff", "Winter Cup"]);
    for part in ["Winter Cup (", "format: Swiss, 5 rounds\n", "2 games, unrated, 1m for a side"] {
        assert!(changed.contains(part), "{part}: {changed}");
    }
    expected["playoff"] = 0.into();
    expected["game"]["rated"] = false.into();
    expected["name"] = "Winter Cup".into();
    assert_eq!(settings(), expected);
    let refused =
        |arguments: &[&str]| server.error_of(&[&["tournament", "edit", &id], arguments, &["--keep", &kept.0]].concat());
    for (arguments, problem) in [
        (&["--max-entrants=1"][..], "'--max-entrants <N>': it must be 2 to 1000"),
        (&["--no-show=2s"], "cannot change tournament"),
        (&["--no-show=2s"], ": --no-show must be 10 s to 1 day"),
        (&["--all-play-all", "--without=fills-bye", "--sprt=0,10"], ": --sprt needs challengers"),
        (&["--without=raated"], "there is no setting `raated`; the nearest is `rated`"),
        (&[], "give the options to change"),
    ] {
        let error = refused(arguments);
        assert!(error.contains(problem), "{arguments:?}: {error}");
    }
    assert_eq!(settings(), expected);
    organise(&server, &kept, &["enter", &id, "greedy", "roxanne", "positional", "mcts:1", "alphabeta:1"]);
    let started = organise(&server, &kept, &["start", &id]);
    assert_eq!(started, format!("tournament {id} is running, with 6 entrants\n"), "without the AI for byes");
    let error = refused(&["--swiss=2"]);
    assert!(error.contains("cannot change tournament"), "{error}");
}

#[test]
fn of_several_tournaments_with_a_name_one_is_meant_or_none() {
    let server = Server::start();
    let [ada, bob] = ["tournament-own", "tournament-others"].map(Kept::new);
    let cup = ["create", "Cup", "--all-play-all", "--enter=random", "--enter=greedy"];
    let [own, others] = [&ada, &bob].map(|kept| id(&organise(&server, kept, &cup)));
    let error = server.error_of(&["tournament", "show", "Cup"]);
    assert!(error.contains("several tournaments are named `Cup`; give the id of one: "), "{error}");
    assert!([&own, &others].iter().all(|id| error.contains(&format!("{id} (open, created 20"))), "{error}");
    let started = organise(&server, &ada, &["start", "cup"]);
    assert_eq!(started, format!("tournament {own} is running, with 2 entrants\n"));
    server.output_of(&["tournament", "watch", &own], "");
    let shown = server.run(&["tournament", "show", "cup"], "");
    assert!(text(&shown.stdout).contains(&others) && text(&shown.stderr).contains("the only one that has not ended"));
    let mine = organise(&server, &ada, &["list", "--mine"]);
    assert!(mine.contains(&own) && !mine.contains(&others), "{mine}");
    let newest = organise(&server, &ada, &["list", "--mine", "--most=1"]);
    assert!(!newest.contains(&own), "the newest one is another's: {newest}");
    let meetings = |entrant: &str| server.output_of(&["tournament", "meetings", &own, "--entrant", entrant], "");
    assert_eq!(meetings("ai random:1"), meetings("1"));
    organise(&server, &bob, &["cancel", &others]);
    let last = server.run(&["tournament", "show", "cup"], "");
    assert!(text(&last.stdout).contains(&own) && text(&last.stderr).contains(", the newest of several"));
}

/// The list keeps those that were cancelled for good.
#[tokio::test]
async fn a_tournament_that_has_not_ended_is_found_behind_many_newer_ones() {
    let server = Server::start_with(&["--tournament-rate", "0", "--tournament-rate-per-address", "0"]);
    let ada = Kept::new("tournament-behind");
    let cup = id(&organise(&server, &ada, &["create", "Cup", "--swiss=3"]));
    let client = Client::connect(&server.url).await.unwrap();
    let flood = client.log_in("flood", PlayerKind::Bot).await.unwrap();
    let format = Some(v1::tournament_settings::Format::Swiss(v1::Swiss { rounds: 3 }));
    let admits = Some(v1::Opponents { kinds: vec![v1::PlayerKind::Bot.into()], ..Default::default() });
    let settings = v1::TournamentSettings { name: "Flood".into(), format, admits, ..Default::default() };
    for _ in 0..200 {
        let made = flood.create_tournament(settings.clone(), "").await.unwrap().tournament_id.parse().unwrap();
        flood.control_tournament(&made, TournamentControl::Cancel).await.unwrap();
    }
    assert!(server.output_of(&["tournament", "show", "Cup"], "").contains(&cup));
    let list = |option: &str| server.output_of(&["tournament", "list", option], "");
    let unfinished = list("--unfinished");
    assert!(unfinished.contains(&cup) && !unfinished.contains("Flood"), "{unfinished}");
    assert!(!list("--most=50").contains(&cup));
    organise(&server, &ada, &["cancel", "Cup"]);
    let pools = list("--unfinished");
    assert!(pools.contains("Pool 60+1 bots rated") && !pools.contains("Cup"), "{pools}");
}

/// An AI that cannot be entered leaves no tournament behind.
#[test]
fn a_tournament_that_cannot_be_as_asked_for_is_cancelled() {
    let server = Server::start();
    let kept = Kept::new("tournament-undone");
    let made = ["tournament", "create", "Small", "--swiss=1", "--max-entrants=2", "--keep", &kept.0];
    let ais = ["--enter=random", "--enter=greedy", "--enter=roxanne"];
    let error = server.error_of(&[&made[..], &ais[..]].concat());
    assert!(error.contains("the tournament is cancelled: cannot enter AI roxanne"), "{error}");
    let shown = server.output_of(&["tournament", "show", "Small"], "");
    assert!(shown.contains("phase: cancelled by the organiser\n"), "{shown}");
}

#[test]
fn who_leaves_after_the_end_reads_that_it_has_ended() {
    let server = Server::start();
    let [organiser, ada, otto] = ["tournament-ends", "tournament-late", "tournament-stranger"].map(Kept::new);
    let made = ["create", "Cup", "--all-play-all", "--enter=random"];
    let id = id(&organise(&server, &organiser, &made));
    organise(&server, &ada, &["join", &id, "--name", "Ada"]);
    organise(&server, &organiser, &["start", &id]);
    organise(&server, &organiser, &["end", &id]);
    let left = organise(&server, &ada, &["leave", &id]);
    assert_eq!(left, format!("tournament {id} has ended; Ada stays in its standings\n"));
    server.error_of(&["tournament", "join", &id, "--keep", &otto.0]);
    let error = server.error_of(&["tournament", "leave", &id, "--keep", &otto.0]);
    assert!(error.contains(&format!("cannot leave tournament {id}: ")), "{error}");
}

/// The engines of this program, as others' would be started.
#[test]
fn engines_of_both_protocols_play_a_tournament() {
    let server = Server::start();
    let kept = Kept::new("tournament-engines");
    let made = ["create", "Engines", "--all-play-all", "--clock=60+1"];
    let id = id(&organise(&server, &kept, &made));
    let program = env!("CARGO_BIN_EXE_reversi");
    let engine = |protocol: &str| format!("'{program}' engine --{protocol} --level 1");
    let mut bots = [["--nboard", &engine("nboard")], ["--gtp", &engine("gtp")]].map(|engine| {
        let mut bot = Running::start(&server, &[&["bot", "--tournament", &id], &engine[..]].concat());
        bot.wait_for("waiting for the start");
        bot
    });
    organise(&server, &kept, &["start", &id]);
    for bot in &mut bots {
        let played = bot.wait_for_exit();
        assert!(played.contains("the tournament is completed: rank "), "{played}");
        assert!(!played.contains("resigned") && !played.contains("started again"), "{played}");
    }
}

/// The clock is long: without a claim the game would last for ten minutes.
#[test]
fn a_bot_claims_the_game_of_an_opponent_who_has_gone() {
    let server = Server::start_with(&["--grace", "12"]);
    let kept = Kept::new("tournament-claim");
    let made = ["create", "Cup", "--all-play-all", "--clock=600+0", "--games=1"];
    let id = id(&organise(&server, &kept, &made));
    let bot = |name: &str, options: &[&str]| {
        let mut bot = Running::start(&server, &[&["bot", "--tournament", &id, "--name", name], options].concat());
        bot.wait_for("waiting for the start");
        bot
    };
    let mut stays = bot("stays", &["--ai=greedy"]);
    // It thinks longer than the other one.
    let mut goes = bot("goes", &["--ai=mcts", "--level=9"]);
    organise(&server, &kept, &["start", &id]);
    goes.wait_for("against stays");
    goes.child.kill().unwrap();
    stays.wait_for("the opponent has gone; the win is claimed");
    let end = stays.wait_for_exit();
    assert!(end.contains("the tournament is completed: rank 1 of 2"), "{end}");
}

#[test]
fn a_second_process_with_the_login_has_the_turns() {
    let server = Server::start();
    let [organiser, kept] = ["tournament-two", "tournament-twice"].map(Kept::new);
    let id = id(&organise(&server, &organiser, &["create", "Cup", "--all-play-all"]));
    let start = || Running::start(&server, &["bot", "--tournament", &id, "--keep", &kept.0]);
    let mut first = reversi(&["bot", "--tournament", &id, "--keep", &kept.0, "--server", &server.url]);
    let first = first.stderr(std::process::Stdio::piped());
    let mut first = Running::spawn(std::mem::replace(first, reversi(&[])));
    first.wait_for("waiting for the start");
    start().wait_for("waiting for the start");
    let error = std::io::read_to_string(first.child.stderr.take().unwrap()).unwrap();
    assert_eq!(first.child.wait().unwrap().code(), Some(1));
    assert!(error.contains("another process plays with the same login; it has the turns now"), "{error}");
}

#[test]
fn without_a_file_the_login_is_kept_where_the_next_command_finds_it() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = reversi(arguments);
        command.env("REVERSI_SERVER", &server.url).env("XDG_DATA_HOME", folder.path()).env("HOME", folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let created = run(&["tournament", "create", "Cup", "--all-play-all", "--enter=random", "--enter=greedy"]);
    assert!(created.contains(folder.path().to_str().unwrap()) && !created.contains("--keep"), "{created}");
    assert!(run(&["tournament", "start", "Cup"]).contains(" is running"));
}
