//! The lines of a document's blocks for a shell.

use std::process::Command;

#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// A command, which may take several lines.
    Run(String),
    /// A command that is then typed to, or whose output is shown.
    Start(String),
    Type(String),
    /// The longest part of a line that the command prints without what differs each time.
    See(String),
}

/// The lines of each block that is marked `sh` or `console`.
pub(super) fn blocks(document: &str) -> Vec<Vec<Line>> {
    let blocks = document.split("\n```").skip(1).step_by(2);
    let shell = blocks.filter_map(|block| match block.split_once('\n')? {
        ("sh", text) => Some(commands(text).into_iter().map(Line::Run).collect()),
        ("console", text) => Some(text.lines().filter(|line| *line != "...").map(of_console).collect()),
        ("html" | "python" | "text", _) => None,
        (mark, _) => panic!("whether a block that is marked {mark:?} has commands is not known"),
    });
    shell.collect()
}

/// The commands of a block, without their comments.
fn commands(block: &str) -> Vec<String> {
    let (mut commands, mut command) = (vec![], String::new());
    for line in block.lines().filter(|line| !line.is_empty()) {
        command += &format!("{}\n", line.split(" # ").next().unwrap().trim_end());
        if is_whole(&command) {
            commands.push(std::mem::take(&mut command));
        }
    }
    assert_eq!(command, "", "the block ends within a command");
    commands
}

fn is_whole(command: &str) -> bool {
    !command.ends_with("\\\n") && Command::new("bash").args(["-n", "-c", command]).output().unwrap().status.success()
}

fn of_console(line: &str) -> Line {
    if let Some(command) = line.strip_prefix("$ ") {
        Line::Start(command.to_owned())
    } else if let Some(typed) = line.strip_prefix("> ") {
        Line::Type(typed.to_owned())
    } else {
        Line::See(lasting_part(line).to_owned())
    }
}

/// Numbers, ids and moves differ, which are words with a digit, and the winner.
fn lasting_part(line: &str) -> &str {
    let words = line.split_inclusive(' ');
    let (mut longest, mut from, mut end) = ("", 0, 0);
    for word in words {
        end += word.len();
        let is_winner = line[end..].starts_with("wins");
        if is_winner || word == "..." || word.contains(|letter: char| letter.is_ascii_digit()) {
            from = end;
        } else if end - from > longest.len() {
            longest = &line[from..end];
        }
    }
    assert!(longest.trim().len() > 3, "nothing in the line {line:?} is the same each time");
    longest
}

#[test]
fn commands_are_found_in_documents() {
    let text = "a\n```sh\nX=1 b 'c d' \\\n  -e \"f\n  g\"   # h\nfor i in j; do\n  k # l\ndone\n```\n`m`\n```console\n\
        $ n\n> o\n4. pawn p4 played by 4\n...\n```\n```text\nq\n```\n";
    let run = |line: &str| Line::Run(line.to_owned());
    let sh = vec![run("X=1 b 'c d' \\\n  -e \"f\n  g\"\n"), run("for i in j; do\n  k\ndone\n")];
    let console = vec![Line::Start("n".to_owned()), Line::Type("o".to_owned()), Line::See("played by ".to_owned())];
    assert_eq!(blocks(text), [sh, console]);
}
