//! The commands as scripts use them: the real binary, with pipes instead of a terminal.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use super::command::{Running, Server, file, reversi, text};

#[test]
fn a_bot_plays_and_its_game_is_replayed() {
    let server = Server::start();
    let printed = server.output_of(&["bot", "--ai", "roxanne", "--vs", "greedy", "--games", "1", "--seed", "7"], "");
    let end = printed.lines().find(|line| line.contains("(played ")).unwrap();
    let game = end.split([' ', ':']).nth(1).unwrap();
    let replayed = server.output_of(&["watch", game], "");
    assert!(replayed.contains("1. black ") && replayed.contains("AI greedy"), "{replayed}");
    assert!(replayed.trim_end().ends_with(end.split(": ").nth(1).unwrap().split(" (played").next().unwrap()));
}

#[test]
fn two_bots_are_paired() {
    let server = Server::start();
    std::thread::scope(|scope| {
        let play = |name: &'static str| {
            let server = &server;
            move || server.output_of(&["bot", "--quick", "--ai", "greedy", "--games", "1", "--name", name], "")
        };
        let (first, second) = (scope.spawn(play("ann")), scope.spawn(play("bob")));
        let (first, second) = (first.join().unwrap(), second.join().unwrap());
        assert!(first.contains("against bob") && second.contains("against ann"));
        let waits = |printed: &str| printed.contains("; waiting for a game");
        assert_ne!(waits(&first), waits(&second), "the second plays at once");
    });
}

#[test]
fn the_built_in_engine_plays_through_both_protocols() {
    let server = Server::start();
    for language in ["--nboard", "--gtp"] {
        let engine = format!("'{}' engine {language} --level 3", env!("CARGO_BIN_EXE_reversi"));
        let printed =
            server.output_of(&["bot", language, &engine, "--engine-time", "30", "--vs", "greedy", "--games", "1"], "");
        assert!(printed.starts_with("bot-reversi-"), "{printed}");
        let end = printed.lines().find(|line| line.contains("(played ")).unwrap();
        assert!(!end.contains("on the board"), "a game played to its end has a result by discs: {end}");
    }
}

#[test]
#[cfg(unix)]
fn a_bot_reports_the_error_of_its_engine() {
    let server = Server::start();
    assert!(server.error_of(&["bot", "--gtp", "/nowhere/engine"]).contains("`/nowhere/engine` cannot be started"));
    assert!(server.error_of(&["bot", "--nboard", "true"]).contains("expected to speak the NBoard protocol"));
    assert!(server.error_of(&["bot", "--nboard", "true", "--gtp", "true"]).contains("cannot be used with"));
    assert!(server.error_of(&["bot", "--gtp", "true", "--engine-time", "0"]).contains("a number of seconds"));
    assert!(server.error_of(&["bot", "--gtp", "true", "--level", "5"]).contains("cannot be used with"));
    assert!(server.error_of(&["bot", "--ai", "expert", "--engine-time", "5"]).contains("--nboard <CMD>|--gtp <CMD>"));
    let script = r#"while read -r command rest; do case $command in genmove) echo "no idea" >&2; exit 3;; *) echo =;; esac; done"#;
    let crashing = format!("sh -c '{script}'");
    let output = server.run(&["bot", "--gtp", &crashing, "--vs", "greedy", "--games", "1"], "");
    let (printed, error) = (text(&output.stdout), text(&output.stderr));
    assert!(!output.status.success() && error.contains("its last words: no idea"), "{error}");
    let game = printed.split("game ").nth(1).unwrap().split(':').next().unwrap();
    assert!(server.output_of(&["watch", game], "").contains("by resignation"), "{printed}");
}

#[test]
fn the_engine_answers_the_last_command_before_the_end_of_input() {
    let ask = |language: &str, question: &str| {
        let mut child = reversi(&["engine", language, "--level", "8"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(question.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        text(&output.stdout)
    };
    assert!(ask("--gtp", "1 name\n2 genmove b").starts_with("=1 reversi\n\n=2 "));
    assert!(ask("--nboard", "nboard 2\ngo\n").lines().last().unwrap().starts_with("=== "));
    assert!(ask("--gtp", &format!("{}\n", "x".repeat(1_000_000))).starts_with("? the line is too long"));
    let neither = reversi(&["engine"]).output().unwrap();
    assert!(text(&neither.stderr).contains("--nboard|--gtp"), "{}", text(&neither.stderr));
}

#[test]
fn a_script_plays_with_plain_lines() {
    let server = Server::start();
    let printed = server.output_of(&["play", "--name", "ada", "--side", "black"], "d3\na1\nmove\nresign\nquit\n");
    for part in ["your move (black): d3 c4 f5 e6", "black (ada) plays d3", "the moves are ", "`move` is none of"] {
        assert!(printed.contains(part), "no {part:?} in\n{printed}");
    }
    assert!(printed.contains("game over: white wins (by resignation)"), "{printed}");
    assert!(server.output_of(&["rooms", "--once"], "").contains("no rooms"), "a room without members is closed");
}

#[test]
fn commands_are_read_while_waiting_for_an_opponent() {
    let server = Server::start();
    let mut play = Running::start(&server, &["play", "--new"]);
    for (command, answer) in [
        ("say hello", "hello"),
        ("help", "offer a draw"),
        ("start", "both seats must be filled and ready"),
        ("quit\nd3", "leaving"),
    ] {
        play.send_and_wait(command, answer);
    }
    assert!(server.output_of(&["play", "--anyone"], "").contains("no more input: leaving"));
}

#[test]
fn the_end_of_input_resigns_no_game() {
    let server = Server::start();
    let printed = server.output_of(&["play", "--side", "black"], "");
    assert!(
        printed.contains("the game goes on; your seat is kept") && !server.output_of(&["games"], "").contains("wins")
    );
    let printed = server.output_of(&["play", "--side", "black"], "resign\n");
    assert!(printed.ends_with("no more input: leaving\n"), "{printed}");
}

#[test]
fn play_names_its_room_and_explains_its_commands() {
    let server = Server::start();
    let printed = server.output_of(&["play", "--name", "ada", "--side", "black"], "help\nquit\n");
    let room = printed.strip_prefix("room ").unwrap().split(';').next().unwrap();
    assert!(
        printed.contains("\n  quit      leave the room, or the tournament; during a game, this resigns it\n"),
        "{printed}"
    );
    assert!(printed.ends_with("\nleaving, which resigns the game\n"), "{printed}");
    assert!(server.output_of(&["games", "--room", room], "").contains("ada - AI roxanne:1: white wins"));
    let help = text(&reversi(&["play", "--help"]).output().unwrap().stdout);
    assert!(help.contains("[default: roxanne, without "), "{help}");
}

#[test]
fn a_killed_bot_returns_to_its_game() {
    let server = Server::start();
    let file = std::env::temp_dir().join(format!("reversi-keep-{}", std::process::id()));
    let mut host = Running::start(&server, &["host", "--white", "greedy", "--pause", "60", "--auto-start"]);
    let first = host.wait_for("join code");
    let room = first.split([' ', ',']).nth(1).unwrap();
    let arguments = ["bot", "--room", room, "--games", "1", "--keep", file.to_str().unwrap()];
    let mut bot = Running::start(&server, &arguments);
    let name = bot.wait_for("is logged in");
    host.wait_for("4. ");
    drop(bot);
    let printed = server.output_of(&arguments, "");
    std::fs::remove_file(&file).unwrap();
    assert!(printed.contains(&name) && printed.contains("back in room"), "{name}\n{printed}");
    let end = printed.lines().find(|line| line.contains("(played black)")).unwrap();
    assert!(!end.contains("on the board"), "a game played to its end has a result by discs: {end}");
}

#[test]
fn variables_are_only_those_of_the_connection() {
    let server = Server::start();
    let run = |arguments: &[&str]| {
        let mut command = reversi(arguments);
        let variables = [("REVERSI_SERVER", &*server.url), ("REVERSI_ROOM", "000000000000"), ("REVERSI_AI", "nobody")];
        let output = command.envs(variables).stdin(Stdio::null()).output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    };
    assert!(run(&["play", "--ai", "greedy"]).contains("the game goes on"));
    assert!(run(&["bot", "--vs", "greedy", "--games", "1"]).contains("(played "));
    assert!(run(&["play", "--ai", "greedy", "--room", "x"]).contains("cannot be used with"));
    assert!(run(&["play", "--private"]).contains("--new"));
    assert!(run(&["--listen", "127.0.0.1:0"]).contains("reversi serve --listen"));
}

#[test]
fn error_messages_say_what_to_do() {
    let server = Server::start();
    assert!(server.error_of(&["play", "--ai", "nobody"]).contains("there are random"));
    assert!(server.error_of(&["bot", "--ai", "nobody"]).contains("there are random"));
    assert!(server.error_of(&["watch", "000000000000"]).contains("`reversi rooms` lists the rooms"));
    assert!(server.error_of(&["play", "--room", "000000000000"]).contains("`reversi rooms` lists them"));
    assert!(server.error_of(&["play", "--ai", "mcts", "--level", "77"]).contains("mcts has levels 1 to 12, not 77"));
    assert!(server.error_of(&["bot", "--vs", "mcts", "--vs-level", "0"]).contains("mcts has levels 1 to 12, not 0"));
    assert!(server.error_of(&["host", "--black", "mcts:77"]).contains("mcts has levels 1 to 12, not 77"));
    assert!(server.error_of(&["play", "--name", &"x".repeat(99)]).contains("--name"));
    assert!(server.output_of(&["rooms", "--once", "--text", "zzz"], "").contains("no room matches"));
    let short = server.url.trim_start_matches("http://");
    assert!(server.output_of(&["rooms", "--once", "--server", short], "").contains("no rooms"));
    assert!(
        server.error_of(&["rooms", "--server", "https://127.0.0.1:1"]).contains("no server at https://127.0.0.1:1")
    );
    assert!(server.error_of(&["serve", "--listen", "50171"]).contains("127.0.0.1:50171"));
    let nowhere = "http://127.0.0.1:1";
    assert!(server.error_of(&["rooms", "--server", nowhere]).contains("start one with `reversi serve`"));
    assert!(server.error_of(&["rooms", "--server", "nonsense"]).contains("http://127.0.0.1:50051"));
}

#[test]
fn a_server_reports_missing_options_before_it_listens() {
    let complains = |arguments: &[&str]| {
        let output = reversi(&[&["serve", "--listen"], arguments].concat()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    };
    for open in ["0.0.0.0:0", "[::]:0"] {
        let error = complains(&[open]);
        assert!(error.contains("--tls-cert") && error.contains("--insecure"), "{error}");
    }
    let (manifest, nothing) = ("Cargo.toml", "no such file");
    assert!(complains(&["127.0.0.1:0", "--tls-cert", manifest]).contains("--tls-key"));
    let unreadable = complains(&["127.0.0.1:0", "--tls-cert", nothing, "--tls-key", nothing]);
    assert!(unreadable.contains("cannot read no such file"), "{unreadable}");
    let useless = complains(&["127.0.0.1:0", "--tls-cert", manifest, "--tls-key", manifest]);
    assert!(useless.contains("holds no certificate"), "{useless}");
}

#[test]
fn a_server_listens_for_others_only_where_strangers_cannot_reach_it() {
    let complains = |arguments: &[&str]| {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--store", "postgres://nobody@127.0.0.1:1/none"];
        let output = reversi(&[&serve[..], arguments].concat()).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    };
    let open = ["--node-listen", "0.0.0.0:0"];
    assert!(complains(&open).contains("give --node-cert, --node-key and --node-ca, or --insecure"));
    let insecure = [&open[..], &["--insecure"]].concat();
    assert!(complains(&insecure).contains("give --advertise http://ADDRESS:"));
    let local = ["--node-listen", "127.0.0.1:0"];
    let with_tls = [&local[..], &["--advertise", "https://10.0.0.5:50053"]].concat();
    assert!(complains(&with_tls).contains("must begin with http://, as --node-cert is not given"));
    assert!(complains(&[&local[..], &["--advertise", "10.0.0.5:50053"]].concat()).contains("it needs a URL"));
    assert!(complains(&[&local[..], &["--node-cert", "Cargo.toml"]].concat()).contains("--node-key"));
    let complains_of_file = |option: [&str; 2]| {
        [&["--data", "nowhere"][..], &["--ephemeral"], &[]].map(|place| {
            // An address that this machine has not, so that it cannot start.
            let serve = ["serve", "--listen", "203.0.113.1:1", "--insecure"];
            let output = reversi(&[&serve[..], place, &option[..]].concat()).output().unwrap();
            assert!(!output.status.success() && output.stdout.is_empty(), "{place:?}: {}", text(&output.stdout));
            text(&output.stderr)
        })
    };
    for option in [["--node-listen", "127.0.0.1:0"], ["--lease", "9"], ["--advertise", "http://10.0.0.5:1"]] {
        let [file, memory, default] = complains_of_file(option);
        assert!(file.contains("cannot be used with") && file.contains("--data"), "{file}");
        assert!(memory.contains("cannot be used with") && memory.contains("--ephemeral"), "{memory}");
        assert!(default.contains("--store") || default.contains("--node-listen"), "{default}");
    }
    // Nothing else is wrong with these.
    for arguments in [&local[..], &[&insecure[..], &["--advertise", "http://10.0.0.5:50053"]].concat()] {
        let error = complains(&[arguments, &["--store-patience", "1"]].concat());
        assert!(error.contains("cannot use the database of --store"), "{error}");
    }
}

#[test]
fn games_are_listed_exported_and_counted() {
    let server = Server::start();
    assert_eq!(server.output_of(&["games"], "").trim(), "no finished games");
    let (login, out) = (file("games-login"), file("games-out"));
    let script = ["play", "--name", "ada", "--side", "black", "--ai", "greedy", "--keep", &login];
    server.output_of(&script, "d3\nmove\nresign\nquit\n");
    let listed = server.output_of(&["games", "--player", "ADA"], "");
    assert!(listed.contains("ada - AI greedy:1: white wins (by resignation)"), "{listed}");
    let game = listed.split(' ').next().unwrap();
    let room = game.split('-').next().unwrap();
    assert!(server.output_of(&["games", "--room", room, "--export", "ggf"], "").starts_with("(;GM[Othello]"));
    let printed = server.output_of(&["games", "--export", "json", "--out", &out], "");
    assert_eq!(printed.trim(), format!("1 games are in {out}"));
    let exported = std::fs::read_to_string(&out).unwrap();
    assert!(exported.starts_with(&format!("{{\"game_id\":\"{game}\"")) && exported.ends_with("}\n"), "{exported}");
    let mine = server.output_of(&["games", "--keep", &login, "--stats"], "");
    assert!(
        mine.starts_with("ada: not rated yet\n") && mine.contains("against AIs     0 won, 0 drawn, 1 lost"),
        "{mine}"
    );
    let greedy = server.output_of(&["games", "--stats", "greedy:1"], "");
    assert!(greedy.contains("AI greedy:1: not rated yet") && greedy.contains("against people  1 won"), "{greedy}");
    assert!(server.error_of(&["games", "--player", "nobody"]).contains("no player is named `nobody`"));
    assert!(server.error_of(&["games", "--stats", "greedy:2"]).contains("greedy has"));
    assert!(server.error_of(&["games", "--stats", "mcts"]).contains("`--stats mcts:10`"));
    assert!(server.error_of(&["games", "--player", "nobody"]).contains("`reversi games --ids` shows"));
    [login, out].iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

#[test]
fn players_are_found_by_the_ids_that_games_shows() {
    let server = Server::start();
    let login = file("bot-login");
    let printed = server.output_of(&["bot", "--keep", &login, "--vs", "greedy", "--games", "1"], "");
    let bot = printed.split(' ').next().unwrap();
    server.output_of(&["play", "--name", "ada", "--side", "black"], "d3\nquit\n");
    let listed = server.output_of(&["games", "--ids"], "");
    let ada = listed.split("ada (").nth(1).unwrap().split(')').next().unwrap();
    let of_ada = server.output_of(&["games", "--player", ada], "");
    assert!(of_ada.contains(" ada - AI roxanne:1: ") && of_ada.lines().count() == 1, "{of_ada}");
    let of_bot = server.output_of(&["games", "--keep", &login, "--stats"], "");
    assert!(of_bot.starts_with(&format!("{bot} (roxanne 1): not rated yet\n")), "{of_bot}");
    let playing = server.error_of(&["play", "--keep", &login]);
    assert!(playing.contains("a player of another kind"), "{playing}");
    std::fs::remove_file(&login).unwrap();
}

/// The objects of lines of JSON.
fn objects(lines: &str) -> Vec<serde_json::Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn scripts_get_json() {
    let (token, login) = (file("json-admin-token"), file("json-login"));
    let server = Server::start_with(&["--admin-token", &token]);
    assert_eq!(server.output_of(&["games", "--json"], "") + &server.output_of(&["rooms", "--json"], ""), "");
    let script = ["play", "--name", "ada", "--side", "black", "--ai", "greedy", "--keep", &login];
    server.output_of(&script, "d3\nresign\nquit\n");
    let (listed, exported) = (["games", "--json"], ["games", "--export", "json"]);
    let [mut listed, exported] =
        [listed.as_slice(), &exported].map(|list| objects(&server.output_of(list, "")).remove(0));
    assert!(listed.as_object_mut().unwrap().remove("transcript").unwrap().as_str().unwrap().starts_with("d3"));
    assert_eq!(listed["result"], "white_wins");
    let mut lasting = exported.clone();
    ["moves", "time"].iter().for_each(|name| drop(lasting.as_object_mut().unwrap().remove(*name).unwrap()));
    assert_eq!(listed, lasting);
    let mine = &objects(&server.output_of(&["games", "--keep", &login, "--stats", "--json"], ""))[0];
    assert_eq!((&mine["player"], &mine["against_ais"]["lost"]), (&exported["black"], &1.into()));
    assert!(mine["rating"].is_null(), "{mine}");
    let greedy = &objects(&server.output_of(&["games", "--stats", "greedy:1", "--json"], ""))[0];
    assert_eq!((&greedy["player"]["name"], &greedy["against_humans"]["won"]), (&"greedy:1".into(), &1.into()));

    let mut host = Running::start(&server, &["host", "--black", "greedy", "--name", "bob", "--room-name", "Cup"]);
    let first = host.wait_for("join code");
    let room = first.split([' ', ',']).nth(1).unwrap();
    let rooms = objects(&server.output_of(&["rooms", "--json"], ""));
    assert_eq!((rooms.len(), &rooms[0]["room_id"], &rooms[0]["owner"]), (1, &room.into(), &"bob".into()));
    assert_eq!((&rooms[0]["black"]["name"], &rooms[0]["you_can"]), (&"greedy:1".into(), &"join".into()));
    assert!(rooms[0]["white"].is_null() && rooms[0]["phase"] == "lobby", "{}", rooms[0]);
    let closed = server.output_of(&["admin", "--admin-token", &token, "close", room, "--json"], "");
    assert_eq!(closed, format!("{{\"closed\":{{\"room_id\":\"{room}\"}}}}\n"));
    [token, login].iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

#[test]
fn an_administrator_uses_the_admin_command() {
    let (token, login) = (file("admin-token"), file("admin-login"));
    let server = Server::start_with(&["--admin-token", &token]);
    let govern = |deed: &[&str]| server.output_of(&[&["admin", "--admin-token", &token], deed].concat(), "");
    let machines = ["host", "--black", "greedy", "--white", "greedy", "--pause", "10000"];
    let mut host = Running::start(&server, &machines);
    let first = host.wait_for("join code");
    let room = first.split([' ', ',']).nth(1).unwrap();
    host.send_and_wait("start", "game 1 begins");
    assert!(govern(&["abort", &format!("{room}-1")]).contains("is aborted"));
    host.wait_for("nobody wins");
    server.output_of(&["games", "--name", "bob", "--keep", &login], "");
    assert!(govern(&["kick", room, "bob", "--ban"]).contains("bob is banned from"));
    assert!(server.error_of(&["play", "--keep", &login, "--room", room]).contains("banned"));
    assert_eq!(govern(&["log-out", "BOB"]).trim(), "BOB is logged out");
    assert!(govern(&["close", room]).contains("is closed"));
    host.wait_for("the room closes");
    assert!(govern(&["ban", "BOB", "--for", "2h", "--reason", "spam"]).starts_with("banned: name BOB, until 2"));
    let banned = server.error_of(&["play", "--name", "b\u{43e}b"]);
    assert!(banned.contains("your name is banned from this server until 2") && banned.contains("Z: spam"), "{banned}");
    assert!(govern(&["ban", "198.51.100.7/24"]).contains("network 198.51.100.0/24, for ever"));
    let bans = govern(&["bans", "--json"]);
    let bans: Vec<serde_json::Value> = bans.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&bans[0]["network"], &bans[0]["until"]), (&"198.51.100.0/24".into(), &serde_json::Value::Null));
    assert_eq!((&bans[1]["name"], &bans[1]["reason"]), (&"BOB".into(), &"spam".into()));
    assert!(govern(&["ban", "192.0.2.300", "--as-name"]).contains("name 192.0.2.300, for ever"));
    assert!(govern(&["unban", "192.0.2.300", "--as-name"]).starts_with("no longer banned: "));
    for subject in ["bob", "198.51.100.0/24"] {
        assert!(govern(&["unban", subject]).starts_with("no longer banned: "));
    }
    assert_eq!(govern(&["bans"]), "no bans\n");
    let admin = ["admin", "--admin-token", &token];
    for (rest, error) in [
        (["unban", "bob"], "no such ban"),
        (["ban", "127.0.0.0/8"], "loopback"),
        (["ban", "10.0.0.0/7"], "broader"),
        (["ban", "192.0.2.300"], "--as-name"),
        (["ban", "192.0.2.0/33"], "--as-name"),
        (["ban", "10.0.0.0/8 "], "--as-name"),
        (["ban", "[fe80::1%eth0]"], "--as-name"),
        (["unban", "192.0.2.7:80"], "--as-name"),
    ] {
        assert!(server.error_of(&[&admin[..], &rest].concat()).contains(error), "{error}");
    }
    let wrong = server.error_of(&["admin", "--admin-token", &login, "close", room]);
    assert!(wrong.contains("is not the administrator's"), "{wrong}");
    assert!(server.error_of(&["admin", "--admin-token", "/nowhere", "close", room]).contains("/nowhere"));
    [token, login].iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

#[test]
fn a_server_with_tls_is_suggested_its_url() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(path("cert"), key.cert.pem()).unwrap();
    std::fs::write(path("key"), key.signing_key.serialize_pem()).unwrap();
    let server = Server::start_with(&["--tls-cert", &path("cert"), "--tls-key", &path("key")]);
    let error = server.error_of(&["rooms", "--once"]);
    assert!(error.contains(&format!("--server {}", server.url.replace("http", "https"))), "{error}");
}

#[test]
fn a_server_without_tls_is_suggested_its_url() {
    let server = Server::start();
    let error = server.error_of(&["rooms", "--once", "--server", &server.url.replace("http", "https")]);
    assert!(error.contains(&format!("--server {}", server.url)), "{error}");
}

#[test]
fn commands_that_only_read_need_no_place_for_a_player() {
    let server = Server::start_with(&["--max-players", "1"]);
    let mut player = Running::start(&server, &["play", "--side", "black"]);
    let line = player.wait_for("room ");
    let room = line.split([' ', ';']).nth(1).unwrap();
    assert!(server.error_of(&["bot", "--vs", "random"]).contains("too many players"));
    for command in [&["rooms", "--once"][..], &["games"], &["explore"], &["watch", room, "--once"]] {
        server.output_of(command, "");
    }
}

#[test]
fn a_running_game_is_watched_in_its_room() {
    let server = Server::start();
    let mut player = Running::start(&server, &["play", "--side", "black"]);
    let line = player.wait_for("room ");
    let room = line.split([' ', ';']).nth(1).unwrap();
    player.wait_for("your move");
    let game = format!("{room}-1");
    for arguments in [&["watch", game.as_str()][..], &["analyze", "--game", &game]] {
        let error = server.error_of(arguments);
        assert!(error.contains(&format!("still running: reversi watch {room}")), "{error}");
    }
    let next = server.error_of(&["watch", &format!("{room}-2")]);
    assert!(next.contains("no finished game"), "{next}");
}

#[test]
fn local_and_server_analyses_agree() {
    let folder = tempfile::tempdir().unwrap();
    let [data, played, file] =
        ["data", "played.txt", "games.ggf"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(
        &played,
        "f5f6c4c3d3c5b5c6b3f3c7e6f7a5g2e3e2f4g4c8b6h1d6f8g6a3f2f1g3a6d7h3g8h8c2h6g1c1g5h5g7h4b7a8a2a1a7a4\
        e7e8h7d8h2b4b2d2e1d1b8b1\n",
    )
    .unwrap();
    assert!(reversi(&["import", "--data", &data, &played]).output().unwrap().status.success());
    // On a busy machine, threads of low priority may wait for longer than the default time.
    let server = Server::serve(&["--game-analysis-time", "3600", "--data", &data]);
    server.output_of(&["games", "--export", "ggf", "--out", &file], "");
    let listed = server.output_of(&["games"], "");
    let game = listed.split(' ').next().unwrap();
    let there = server.output_of(&["analyze", "--game", game, "--depth", "4", "--json"], "");
    let here = server.output_of(&["analyze", &file, "--depth", "4", "--json", "--threads", "3"], "");
    assert_eq!(here, there);
    let objects: Vec<serde_json::Value> = here.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (sum, moves) = objects.split_last().unwrap();
    assert!(moves.len() == 60 && moves.last().unwrap()["exact"] == true, "{here}");
    let of_black = moves.iter().filter(|made| made["side"] == "black");
    let lost: f64 = of_black.map(|made| made["loss"].as_f64().unwrap()).sum();
    assert!((lost - sum["black"]["loss"].as_f64().unwrap()).abs() < 0.01, "{lost} {sum}");

    let output = server.output_of(&["analyze", &file, "--depth", "2"], "");
    assert_eq!(output.lines().count(), moves.len() + 3, "{output}");
    assert!(output.contains("\nblack, ") && output.contains(": lost "), "{output}");
}

#[test]
fn moves_are_analysed_without_a_server() {
    let output = String::from_utf8(reversi(&["analyze", "f5d6c3", "--time", "1"]).output().unwrap().stdout).unwrap();
    assert!(output.contains("  1  black f5") && output.contains("white: lost "), "{output}");
    for (arguments, error) in [
        (&["analyze", "f5f5"][..], "move 2 is illegal"),
        (&["analyze", "--game", "x", "f5"], "cannot be used with"),
        (&["analyze", "f5", "--level", "17"], "it must be 1 to 16"),
        (&["analyze", "8tsbk7xedm71-1"], "for a finished game of the server: --game 8tsbk7xedm71-1"),
    ] {
        let output = reversi(arguments).output().unwrap();
        assert!(!output.status.success() && text(&output.stderr).contains(error), "{}", text(&output.stderr));
    }
}

/// Runs a round of training with a few games, in a folder.
fn train(folder: &std::path::Path, from: &str, depth: &str, threads: &str) -> Command {
    let mut command = reversi(&["train", "--from", from, "--depth", depth, "--threads", threads]);
    command.args(["--games", "600", "--random-plies", "44-46", "--seed", "5", "--steps", "2", "--pairs", "1"]);
    command.args(["--nodes", "50", "--folder"]).arg(folder.join("games")).arg("--out").arg(folder.join("new.bin"));
    command
}

#[test]
fn an_interrupted_training_resumes_with_the_same_result() {
    let (whole, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = train(whole.path(), "seed", "1", "2").output().unwrap();
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(report.contains("kept apart") && report.contains("% against seed"), "{report}");
    let new = std::fs::read(whole.path().join("new.bin")).unwrap();
    assert!(new.starts_with(b"reversi weights 1\n") && new.len() < 4 << 20);

    let mut cut_short = train(broken.path(), "seed", "1", "2").stdout(Stdio::null()).spawn().unwrap();
    let first = broken.path().join("games").join("000000.bin");
    while !first.exists() && cut_short.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    cut_short.kill().unwrap();
    cut_short.wait().unwrap();
    assert!(train(broken.path(), "seed", "1", "1").output().unwrap().status.success());
    assert_eq!(std::fs::read(broken.path().join("new.bin")).unwrap(), new);

    let other = train(whole.path(), "seed", "2", "2").output().unwrap();
    assert!(text(&other.stderr).contains("another recipe"), "{}", text(&other.stderr));
    let strange = train(broken.path(), "Cargo.toml", "1", "2").output().unwrap();
    assert!(text(&strange.stderr).contains("no weights of this version"), "{}", text(&strange.stderr));
}
