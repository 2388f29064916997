//! What the documents print: each command is understood, and the bot plays.

use std::{fs, path::Path, process::Command};

use reversi_needs::needs;

use super::{
    bots::{PYTHON, program},
    command::{Server, file, reversi, text},
};

const README: &str = include_str!("../../../README.md");

#[test]
fn commands_are_understood() {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let pages = fs::read_dir(documents).unwrap().map(|page| fs::read_to_string(page.unwrap().path()).unwrap());
    let texts: Vec<String> = pages.chain([README.to_owned()]).collect();
    let printed: Vec<_> = texts.iter().flat_map(|text| commands(text)).collect();
    assert!(printed.len() > 50, "{}", printed.len());
    for words in printed {
        let mut arguments: Vec<_> = words.iter().map(String::as_str).collect();
        // Read after all others, it ends the command before it does anything.
        arguments.push("--help");
        let output = reversi(&arguments).output().unwrap();
        assert!(output.status.success(), "reversi {}: {}", words.join(" "), text(&output.stderr));
    }
}

/// The words after `reversi` of each command in the blocks of a document that are for a shell.
fn commands(document: &str) -> Vec<Vec<String>> {
    let blocks = document.split("\n```").skip(1).step_by(2);
    let shell = blocks.filter_map(|block| block.strip_prefix("sh\n").or(block.strip_prefix("console\n")));
    let lines = shell.map(|block| block.replace("\\\n", " "));
    lines
        .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| {
            let command = line.trim_start_matches("$ ").replace("cargo run --release -- ", "reversi ");
            let command = command.split(" | ").next()?;
            let start = command.split(' ').take_while(|word| word.contains("REVERSI_")).map(|word| word.len() + 1);
            words(&command[start.sum()..]).strip_prefix(&["reversi".to_owned()]).map(<[_]>::to_vec)
        })
        .collect()
}

/// The words of a line, of which some are in quotes, until a comment or another command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (vec![], String::new(), None);
    for letter in line.chars().chain([' ']) {
        match (letter, quote) {
            (_, Some(mark)) if letter == mark => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            ('#', None) if word.is_empty() => break,
            (' ', None) if word.is_empty() => {}
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words
}

#[test]
fn commands_are_found_in_documents() {
    let text = "a\n```sh\nX=1 reversi b 'c d' \\\n  --e \"f\"   # g\nREVERSI_H=i reversi j | k\nls\n```\nreversi l\n```console\n\
        $ reversi m\n> n\n```\n```text\nreversi o\n```\n";
    assert_eq!(commands(text), [vec!["j"], vec!["m"]]);
    assert_eq!(words("reversi b 'c d' --e \"f\"   # g"), ["reversi", "b", "c d", "--e", "f"]);
}

#[needs(python)]
#[test]
fn the_bot_of_the_readme_plays_a_game() {
    let python = program(PYTHON);
    let server = Server::start();
    let bot = README.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let code = file("first-bot.py");
    fs::write(&code, bot.replace("127.0.0.1:50051", server.url.trim_start_matches("http://"))).unwrap();
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let played = Command::new(python).arg(&code).env("PYTHONPATH", proto).output().unwrap();
    fs::remove_file(&code).unwrap();
    assert!(played.status.success(), "{}", text(&played.stderr));
    assert!(text(&played.stdout).contains("GAME_END_REASON_DISCS"), "{}", text(&played.stdout));
}
