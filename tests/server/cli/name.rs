//! `reversi name`, and players who have logged out.

use std::path::Path;

use super::command::{Server, file};

const GAME: &str = "d3\nmove\nresign\nquit\n";

#[test]
fn a_name_is_claimed_by_the_file_of_its_login() {
    let server = Server::start();
    let keep = file("name");
    let name = |command: &str| server.output_of(&["name", "--keep", &keep, command], "");
    assert!(server.error_of(&["name", "--keep", &keep, "claim"]).contains(&format!("there is no file {keep};")));
    server.output_of(&["games", "--name", "ada", "--keep", &keep], "");
    assert!(server.error_of(&["name", "--keep", &keep, "claim"]).contains("finish a game first"));
    server.output_of(&["play", "--keep", &keep, "--side", "black"], GAME);
    let at = format!(" at {}", server.url);
    assert!(name("show").starts_with("ada (") && name("show").trim().ends_with(&format!("{at}, not claimed")));
    assert!(name("claim").starts_with(&format!("ada is yours{at};")));
    let old = std::fs::read_to_string(&keep).unwrap();
    assert!(name("new-token").contains("has a new token"));
    let replaced = std::fs::read_to_string(&keep).unwrap();
    assert_ne!(replaced, old);
    assert!(name("show").trim().ends_with(", claimed"));

    // As after an interruption before the new token took the place of the old one.
    std::fs::rename(&keep, format!("{keep}.new")).unwrap();
    std::fs::write(&keep, old).unwrap();
    assert!(name("show").trim().ends_with(", claimed"));
    let refused = server.error_of(&["name", "--keep", &keep, "give-up"]);
    assert!(
        refused.contains(&format!("to give up ada{at} cannot be undone; without"))
            && name("show").trim().ends_with(", claimed")
    );
    let printed = server.output_of(&["name", "--keep", &keep, "give-up", "--yes"], "");
    // The token that was replaced is still there.
    assert!(
        printed.contains(&format!("ada is free for others{at}\n"))
            && !std::fs::read_to_string(&keep).unwrap().contains(&replaced)
    );
    std::fs::remove_file(&keep).unwrap();
}

#[test]
fn a_bot_plays_with_a_login_that_is_limited_to_playing() {
    let server = Server::start();
    let (keep, limited) = (file("limited-owner"), file("limited-bot"));
    let keep_of = |file: &str, command: &str| server.run(&["name", "--keep", file, command], "");
    let play =
        |file: &str| ["bot", "--name", "nova", "--keep", file, "--vs", "random", "--games", "1"].map(str::to_owned);
    let play = |file: &str| server.run(&play(file).each_ref().map(String::as_str), "");
    assert!(play(&keep).status.success());
    let printed = server.output_of(&["name", "--keep", &keep, "play-token"], "");
    let made = server.output_of(&["name", "--keep", &keep, "play-token", "--to", &limited], "");
    assert!(made.starts_with(&format!("{limited} can play as nova at {}", server.url)), "{made}");
    let text = std::fs::read_to_string(&limited).unwrap();
    assert!(text.ends_with(&printed) && printed.starts_with(&format!("{} play_", server.url)), "{text} {printed}");

    let same = server.error_of(&["name", "--keep", &keep, "play-token", "--to", &keep]);
    assert!(same.contains("has the login with all rights; name another file"), "{same}");

    assert!(play(&limited).status.success());
    let me = server.output_of(&["me", "--keep", &limited], "");
    assert!(
        me.starts_with("nova (roxanne 1): not rated yet\n")
            && me.contains(
                "\nno program reads the turns\n0 of 1 seats\nno running game\naccepts invitations: all\nno problems\n"
            ),
        "{me}"
    );
    let refused = super::command::text(&keep_of(&limited, "claim").stderr);
    assert!(refused.contains("this token is limited to playing"), "{refused}");
    for command in ["new-token", "play-token", "give-up"] {
        let refused = super::command::text(&keep_of(&limited, command).stderr);
        assert!(refused.contains("is limited to playing; use the file that it was made from"), "{refused}");
    }
    assert_eq!(std::fs::read_to_string(&limited).unwrap(), text);
    let me = server.output_of(&["me", "--keep", &keep], "");
    let noted = " once: FULL_TOKEN_NEEDED SessionService/ClaimName: this token is limited to playing";
    assert!(me.contains(noted), "{me}");
    let object = server.output_of(&["me", "--keep", &keep, "--json"], "");
    assert!(object.contains(r#""refused":"FULL_TOKEN_NEEDED""#) && !object.contains("play_"), "{object}");

    assert!(keep_of(&keep, "new-token").status.success());
    assert!(server.error_of(&["me", "--keep", &limited]).contains("the server does not know the login"));
    // Not under another name.
    assert!(super::command::text(&play(&limited).stderr).contains("which was limited to playing, is no longer valid"));
    assert_eq!(std::fs::read_to_string(&limited).unwrap(), text);
    std::fs::remove_file(&keep).unwrap();
    std::fs::remove_file(&limited).unwrap();
}

#[test]
fn no_server_costs_a_player_the_login_at_another() {
    let servers: [Server; 4] = std::array::from_fn(|_| Server::start());
    let keep = file("many-servers");
    let read = || std::fs::read_to_string(&keep).unwrap();
    let show = |server: &Server| server.output_of(&["name", "--keep", &keep, "show"], "");
    let shown: Vec<_> = servers
        .iter()
        .enumerate()
        .map(|(index, server)| {
            let output = server.run(&["games", "--name", "ada", "--keep", &keep], "");
            let noted = super::command::text(&output.stderr);
            assert_eq!(noted.contains("does not know the login in"), index > 0, "{noted}");
            show(server)
        })
        .collect();
    // Two processes at a time.
    std::thread::scope(|scope| {
        for (server, shown) in servers.iter().zip(&shown) {
            scope.spawn(move || assert_eq!(&show(server), shown));
        }
    });
    assert_eq!(read().matches(" ada\n").count(), 4);
    std::fs::remove_file(&keep).unwrap();
}

#[test]
fn a_login_at_several_servers_is_found_by_the_names_of_any_of_them() {
    let server = Server::start();
    let keep = file("listed-servers");
    let (here, other) = (server.url.clone(), server.url.replace("127.0.0.1", "localhost"));
    let closed = "http://127.0.0.1:1";
    let show = |servers: &str| server.output_of(&["name", "--keep", &keep, "--server", servers, "show"], "");
    let id = |shown: String| shown.split_once(')').unwrap().0.to_owned();
    let first = [closed, &here, &other].join(",");
    server.output_of(&["games", "--name", "ada", "--keep", &keep, "--server", &first], "");
    let shown = id(show(&here));
    for servers in [&other, &[&other, &here, closed].join(",")] {
        assert_eq!(id(show(servers)), shown);
    }
    assert_eq!(std::fs::read_to_string(&keep).unwrap().matches(" ada\n").count(), 1);
    std::fs::remove_file(&keep).unwrap();
}

#[test]
fn the_files_of_earlier_versions_are_read() {
    let (home, other) = (Server::start(), Server::start());
    let (keep, older) = (file("older-files"), format!("{}.old", file("older-files")));
    let token = |server: &Server| {
        server.output_of(&["games", "--name", "ada", "--keep", &keep], "");
        let text = std::fs::read_to_string(&keep).unwrap();
        std::fs::remove_file(&keep).unwrap();
        text.lines().find_map(|line| line.strip_prefix(&format!("{} ", server.url))).unwrap().replace(" ada", "")
    };
    let tokens = [&home, &other].map(token);
    std::fs::write(&keep, &tokens[0]).unwrap();
    std::fs::write(&older, &tokens[1]).unwrap();
    for server in [&other, &home] {
        assert!(server.output_of(&["name", "--keep", &keep, "show"], "").starts_with("ada ("));
    }
    let text = std::fs::read_to_string(&keep).unwrap();
    for (server, token) in [&home, &other].into_iter().zip(tokens) {
        assert!(text.contains(&format!("{} {token} ada\n", server.url)), "{text}");
    }
    assert!(!Path::new(&older).exists());
    std::fs::remove_file(&keep).unwrap();
}

#[test]
fn results_of_a_player_who_has_logged_out_are_found_by_name() {
    let server = Server::start();
    for _ in 0..2 {
        server.output_of(&["play", "--name", "ada", "--side", "black"], GAME);
    }
    let output = server.run(&["games", "--stats", "ADA"], "");
    let (printed, noted) = (super::command::text(&output.stdout), super::command::text(&output.stderr));
    assert!(printed.starts_with("ada: not rated yet"), "{printed}");
    assert!(noted.contains("others had the name earlier"), "{noted}");
    let earlier = noted.trim().rsplit(' ').next().unwrap();
    assert!(server.output_of(&["games", "--stats", earlier], "").starts_with("ada: not rated yet"));
    let listed = server.output_of(&["games", "--player", earlier], "");
    assert_eq!(listed.matches("ada - AI").count(), 1, "{listed}");
}
