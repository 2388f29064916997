//! `reversi import`: every kind of input, and games that are in the archive already.

use std::{
    fs::{self, File},
    process::Stdio,
};

use super::command::{Running, Server, reversi, text};

/// Runs a command; returns its exit status and what it printed.
fn run(arguments: &[&str], input: impl Into<Stdio>) -> (i32, String) {
    let output = reversi(arguments).stdin(input).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
}

/// All games of a store in GGF.
fn exported(data: &str) -> String {
    let file = format!("{data}.ggf");
    let (status, said) = run(&["doctor", "--data", data, "--export", &file], Stdio::null());
    assert_eq!(status, 0, "{said}");
    let text = fs::read_to_string(&file).unwrap();
    // An export replaces no games.
    fs::remove_file(file).unwrap();
    text
}

/// A WTHOR file of 2004 with these games, each won by black with 40 discs.
fn wthor(games: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![20, 4, 1, 2, games.len() as u8, 0, 0, 0, 0, 0, 0xD4, 0x07, 8, 0, 22, 0];
    for moves in games {
        bytes.extend([1, 0, 1, 0, 0, 0, 40, 40]);
        bytes.extend(*moves);
        bytes.resize(bytes.len() + 60 - moves.len(), 0);
    }
    bytes
}

#[test]
fn games_are_imported_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, games) = (path("data"), path("WTH_2004.wtb"));
    std::fs::write(&games, wthor(&[&[56, 64, 33], &[11]])).unwrap();
    let names = |names: &[&str], width: usize| -> Vec<u8> {
        let padded = names.iter().flat_map(|name| name.bytes().chain(std::iter::repeat(0)).take(width));
        std::iter::repeat_n(0, 16).chain(padded).collect()
    };
    std::fs::write(path("WTHOR.JOU"), names(&["Bintsa", "Tamenori"], 20)).unwrap();
    std::fs::write(path("WTHOR.TRN"), names(&["Paris", "Londres"], 26)).unwrap();
    let import = |arguments: &[&str]| {
        let output = reversi(&[&["import", "--data", &data], arguments].concat()).output().unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (status, printed, error) = import(&[&games]);
    assert!(status == 3 && printed.contains("1 games imported, 0 there already, 1 bad"), "{printed}{error}");
    assert!(error.contains("game 2 at byte 84: move 1 is illegal: black may not move to a1"), "{error}");
    assert!(import(&[&games]).1.contains("0 games imported, 1 there already"), "a game is imported once");
    let (lines, ggf) = (path("moves"), path("others"));
    std::fs::write(&lines, "f5d6c3\n\nf5d6c4\nz9\n").unwrap();
    std::fs::write(&ggf, "(;GM[Othello]PB[x]PW[y]RE[+4:t]DT[1999-12-31]B[e6];)").unwrap();
    let (status, printed, error) = import(&[&lines, &path("missing"), &ggf]);
    assert!(error.contains("cannot read ") && error.contains("missing"), "{error}");
    assert!(status == 3 && error.contains("line 4: move 1 is neither a square nor a pass"), "{error}");
    assert_eq!(printed.matches("imported").count(), 2, "{printed}");
    assert_eq!(import(&[&ggf]).0, 0);
    std::fs::write(path("bad"), "z9\n").unwrap();
    let (status, _, error) = import(&[&path("bad"), &path("missing")]);
    assert!(status == 1 && error.ends_with("reversi: no game could be imported\n"), "{error}");

    let server = Server::serve(&["--data", &data]);
    let listed = server.output_of(&["games"], "");
    assert!(listed.contains("2004-01-01T00:00:00Z Tamenori - Bintsa: black wins 40-24 (agreed)"), "{listed}");
    assert!(listed.contains("1999-12-31T00:00:00Z x - y: black wins (on time)"), "{listed}");
    assert!(listed.contains("unknown date         unknown - unknown: aborted"), "{listed}");
    let game = listed.lines().find(|line| line.contains("Tamenori")).unwrap().split(' ').next().unwrap();
    assert!(server.output_of(&["watch", game], "").contains("Londres"));
    let (status, _, error) = import(&[&lines]);
    assert!(status == 1 && error.contains("another server uses it; stop that server first"), "{error}");
}

/// 400 different games of two moves and more, a line each.
fn lines() -> String {
    let game = |first: u32, second: u32| {
        let mut position = reversi::rules::Position::START;
        let mut moves = String::new();
        for choice in [first, second, first / 4, second / 4, first, second] {
            let legal = position.legal_moves();
            let square = legal.iter().nth((choice % u32::from(legal.count())) as usize).unwrap();
            moves += square.name();
            position = position.play_unchecked(square).after_forced_pass().0;
        }
        moves + "\n"
    };
    let games: std::collections::BTreeSet<String> =
        (0..40).flat_map(|first| (0..40).map(move |second| game(first, second))).collect();
    games.into_iter().take(400).collect()
}

#[test]
#[cfg(unix)]
fn pipes_are_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let lines = lines();
    let ggf: String = lines.lines().map(|line| format!("(;GM[Othello]C[{line}]{};)\n", moves_in_ggf(line))).collect();
    let game = [56, 64, 33];
    let wthor = wthor(&[&game[..]; 200].iter().enumerate().map(|(at, game)| &game[..1 + at % 3]).collect::<Vec<_>>());
    let inputs = [("lines", lines.into_bytes(), 400, 0), ("ggf", ggf.into_bytes(), 400, 0), ("wthor", wthor, 3, 197)];
    for (name, bytes, new, known) in inputs {
        assert!(bytes.len() > 4096, "more than the first bytes, by which the format is found");
        let file = path(name);
        fs::write(&file, &bytes).unwrap();
        let pipe = || {
            let child = std::process::Command::new("cat").arg(&file).stdout(Stdio::piped()).spawn();
            Stdio::from(child.unwrap().stdout.unwrap())
        };
        let (fifo, data) = (path(&format!("{name}.fifo")), |kind: &str| path(&format!("{name}-{kind}")));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let writer = std::thread::spawn({
            let (fifo, bytes) = (fifo.clone(), bytes.clone());
            move || fs::write(fifo, bytes)
        });
        let outcomes = [
            run(&["import", "--data", &data("file"), &file], Stdio::null()),
            run(&["import", "--data", &data("-"), "-"], pipe()),
            run(&["import", "--data", &data("stdin"), "/dev/stdin"], pipe()),
            run(&["import", "--data", &data("redirected"), "/dev/stdin"], File::open(&file).unwrap()),
            run(&["import", "--data", &data("fifo"), &fifo], Stdio::null()),
        ];
        for (status, said) in outcomes {
            let counts = format!("{new} games imported, {known} there already, 0 bad");
            assert!(status == 0 && said.contains(&counts), "{name}: {status} {said}");
        }
        writer.join().unwrap().unwrap();
    }
    let (status, said) = run(&["analyze", "-", "--depth", "1"], File::open(path("ggf")).unwrap());
    assert!(status == 0 && said.contains("white: lost "), "{said}");
}

fn moves_in_ggf(line: &str) -> String {
    let squares = line.as_bytes().chunks(2).map(|square| std::str::from_utf8(square).unwrap());
    squares.zip(["B", "W"].into_iter().cycle()).map(|(square, side)| format!("{side}[{square}]")).collect()
}

#[test]
fn compressed_files_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for magic in [&b"\x1f\x8b\x08"[..], b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"] {
        fs::write(path("games.ggf"), magic).unwrap();
        let (status, said) = run(&["import", "--data", &path("data"), &path("games.ggf")], Stdio::null());
        assert!(status == 1 && said.contains("it is compressed"), "{said}");
    }
    let (status, said) = run(&["import", "--data", &path("data"), &path("")], Stdio::null());
    assert!(status == 1 && said.contains("no game could be imported"), "{said}");
}

#[test]
fn a_games_own_export_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (here, there, file) = (path("here"), path("there"), path("export"));
    let import = |data: &str, file: &str| run(&["import", "--data", data, file], Stdio::null()).1;
    let room = {
        let server = Server::serve(&["--data", &here]);
        server.output_of(&["bot", "--ai", "roxanne", "--vs", "greedy", "--games", "2", "--seed", "7"], "");
        server.output_of(&["games", "--export", "ggf", "--out", &file], "");
        // A room that is open when the server ends.
        let mut player = Running::start(&server, &["play", "--side", "black"]);
        let line = player.wait_for("room ");
        player.wait_for("your move");
        line.split([' ', ';']).nth(1).unwrap().to_owned()
    };
    assert!(import(&here, &file).contains("0 games imported, 2 there already, 0 bad"));
    fs::write(path("doctor"), exported(&here)).unwrap();
    assert!(import(&here, &path("doctor")).contains("0 games imported, 2 there already, 0 bad"));
    // By way of another store.
    assert!(import(&there, &file).contains("2 games imported, 0 there already, 0 bad"));
    assert!(import(&there, &file).contains("0 games imported, 2 there already, 0 bad"));
    fs::write(path("back"), exported(&there)).unwrap();
    assert!(import(&here, &path("back")).contains("0 games imported, 2 there already, 0 bad"));

    // A known id does not hide another game, in one file or in two, nor does it take the place of a game to come.
    let text = fs::read_to_string(&file).unwrap();
    let id = text.split("ID[").nth(1).unwrap().split(']').next().unwrap();
    let other = format!("(;GM[Othello]ID[{id}]PB[x]B[f5];)\n(;GM[Othello]ID[{id}]PB[y]B[c4];)\n");
    let soon = format!("(;GM[Othello]ID[{room}-1]PB[x]B[d3];)\n");
    fs::write(path("other"), other + &soon).unwrap();
    assert!(import(&here, &path("other")).contains("3 games imported, 0 there already, 0 bad"));
    assert!(import(&here, &path("other")).contains("0 games imported, 3 there already, 0 bad"));
    let all = exported(&here);
    assert!(all.matches(&format!("ID[{id}]")).count() == 1 && !all.contains(&format!("ID[{room}-1]")), "{all}");
}

#[reversi_needs::needs(postgres)]
#[test]
#[cfg(all(unix, feature = "postgres"))]
fn games_with_ids_are_imported_once_into_postgres() {
    let database = crate::harness::postgres::database();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.ggf");
    let game = |id: &str, moves: &str| format!("(;GM[Othello]{id}PB[x]PW[y]RE[+10:s]{moves};)\n");
    let games = game("ID[8tsbk7xedm71-1]", "B[f5]") + &game("ID[8tsbk7xedm71-2]", "B[f5]W[d6]") + &game("", "B[d3]");
    fs::write(&file, games).unwrap();
    let import = || run(&["import", "--store", &database.url(), file.to_str().unwrap()], Stdio::null()).1;
    assert!(import().contains("3 games imported, 0 there already, 0 bad"));
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("B[f5]W[d6]", "B[f5]W[f6]")).unwrap();
    assert!(import().contains("1 games imported, 2 there already, 0 bad"), "the id of another game");
}

#[test]
fn results_names_and_dates_are_kept_as_their_file_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let data = path("data");
    fs::write(path("WTH_2004.wtb"), wthor(&[&[56, 64, 33]])).unwrap();
    let games = b"(;GM[Othello]PB[M\xfcller]PW[Ada\x80]RE[-12.000:s]B[f5];)
        (;GM[Othello]PB[M\xe4ller]PW[Ada\x81]RE[+8]B[d3];)\n(;GM[Othello]PB[M\xfcller]PW[z]DT[1970-01-01]RE[+4:r]B[c4];)\n";
    fs::write(path("games.ggf"), games).unwrap();
    let (status, said) = run(&["import", "--data", &data, &path("WTH_2004.wtb"), &path("games.ggf")], Stdio::null());
    assert!(status == 0 && said.contains("3 games imported"), "{said}");
    let all = exported(&data);
    for part in [
        "DT[2004-01-01 00:00:00 GMT]PB[player 1]PW[player 0]RE[+16.000:s]",
        "DT[]PB[Müller]PW[Ada]RE[-12.000:s]",
        "DT[]PB[Mäller]PW[Ada]RE[+8.000:s]",
        "DT[1970-01-01 00:00:00 GMT]PB[Müller]PW[z]RE[+4.000:r]",
    ] {
        assert!(all.contains(part), "no {part} in {all}");
    }
    let server = Server::serve(&["--data", &data]);
    let json = server.output_of(&["games", "--json"], "");
    let listed: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let dates: Vec<_> = listed.iter().map(|game| game["ended"].as_str()).collect();
    assert_eq!(dates, [Some("2004-01-01T00:00:00Z"), Some("1970-01-01T00:00:00Z"), None, None]);
    let ids = |side: &str, name: &str| -> std::collections::BTreeSet<String> {
        let players = listed.iter().map(|game| &game[side]).filter(|player| player["name"] == name);
        players.map(|player| player["player_id"].to_string()).collect()
    };
    assert_eq!((ids("black", "Müller").len(), ids("white", "Ada").len()), (1, 2), "{json}");
    let exported = server.output_of(&["games", "--export", "json"], "");
    assert_eq!(exported.matches(r#""ended":null"#).count(), 2, "{exported}");
    let shown = server.output_of(&["games"], "");
    assert!(shown.contains("black wins 36-28 (agreed), 4-1 on the board") && shown.contains("unknown date"), "{shown}");
    assert!(server.output_of(&["explore", "f5"], "").contains("latest games"), "an unknown date is in the explorer");
}
