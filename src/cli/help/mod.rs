//! The help of the program: its commands in groups, its topics, and the same as completions and man pages.

#[cfg(all(test, feature = "postgres"))]
mod reference;

use std::{io::Write as _, path::PathBuf};

use anyhow::Context as _;
use clap::{Args as _, Command};
use clap_complete::Shell;

use super::{say, serve::LimitOptions, terminal::output::StandardOutput};

/// The commands, as `reversi --help` lists them.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Play and watch", &["play", "invite", "players", "rooms", "watch", "host", "tournament", "name"]),
    ("Finished games", &["games", "explore", "analyze"]),
    ("Bots and engines", &["bot", "me", "engine", "arena", "train"]),
    (
        "Servers and their data",
        &["serve", "health", "nodes", "admin", "demo", "backup", "restore", "import", "store", "doctor"],
    ),
    ("This program", &["completions", "man", "help"]),
];

/// The exit statuses, the same for all commands.
const EXIT_STATUSES: [(u8, &str); 6] = [
    (0, "done"),
    (1, "it failed, or what was examined is not as it should be"),
    (2, "the command line, a variable or the settings file is wrong"),
    (3, "`import`: some games could not be imported"),
    (130, "interrupted by Ctrl-C"),
    (141, "the reader of the output closed it, as `| head` does"),
];

/// The command line with its help.
pub(super) fn with_help(command: Command) -> Command {
    let (groups, statuses, heading) = (groups(&command), exit_statuses(), *command.get_styles().get_header());
    let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    command
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\n\
             {heading}Options:{heading:#}\n{{options}}{{after-help}}"
        ))
        .after_long_help(format!("{after}\n\n{statuses}"))
        // Its variables are named by one rule, which the end of its help states.
        .mut_subcommand("serve", |serve| serve.mut_args(|option| option.hide_env(true)))
        .subcommand(limits())
}

/// The topic `limits` of `reversi help`.
fn limits() -> Command {
    let topic = Command::new("limits").about("The limits of `reversi serve`, which are options of it");
    LimitOptions::augment_args(topic)
        .override_usage("reversi serve [LIMITS]")
        .after_help("A reload (SIGHUP) applies most of them; docs/reference.md says which.")
        .mut_args(|option| option.hide_short_help(false).hide_env(true))
        .arg_required_else_help(true)
        .disable_help_flag(true)
        .hide(true)
}

fn groups(command: &Command) -> String {
    let (heading, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let row = |name: &&str| {
        let about = match *name {
            "help" => Some("Show the help of a command, or of `limits`".to_owned()),
            _ => command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string),
        };
        // A command may be left out of a build.
        about.map(|about| format!("  {literal}{name:<11}{literal:#}  {about}\n"))
    };
    let group = |(title, names): &(&str, &[&str])| {
        format!("{heading}{title}:{heading:#}\n{}", names.iter().filter_map(row).collect::<String>())
    };
    GROUPS.iter().map(group).collect::<Vec<_>>().join("\n")
}

fn exit_statuses() -> String {
    let rows = EXIT_STATUSES.map(|(status, meaning)| format!("\n  {status:>3}  {meaning}"));
    format!("Exit status:{}", rows.concat())
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    reversi completions bash > ~/.local/share/bash-completion/completions/reversi\n  \
    reversi completions zsh > ~/.zfunc/_reversi\n  \
    reversi completions fish > ~/.config/fish/completions/reversi.fish")]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Prints the completions for a shell.
pub(super) fn print_completions(args: &CompletionsArgs, mut command: Command) {
    // Whole, as the generator ends the process by a panic when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "reversi", &mut script);
    // An error is noted.
    let _ = StandardOutput.write_all(&script).and_then(|()| StandardOutput.flush());
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    reversi man ~/.local/share/man/man1 && man reversi-serve")]
pub(super) struct ManArgs {
    /// The folder for the pages; created if there is none.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the man pages, one for each command.
pub(super) fn write_man_pages(args: &ManArgs, command: Command) -> anyhow::Result<()> {
    let folder = args.folder.display();
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(command, &args.folder))
        .with_context(|| format!("cannot write man pages to {folder}"))?;
    say(format_args!("{folder} has the man pages; to read one: man -l {}", args.folder.join("reversi.1").display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{CommandFactory as _, error::ErrorKind};

    use super::{super::Cli, *};

    /// The columns of a usual terminal.
    const WIDTH: usize = 80;

    fn command() -> Command {
        with_help(Cli::command()).term_width(WIDTH)
    }

    /// What the program prints for these words.
    fn help_of(words: &[&str]) -> String {
        let error = command().try_get_matches_from([&["reversi"], words].concat()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::DisplayHelp), "{words:?}: {error}");
        error.to_string()
    }

    /// Each command, with its subcommands, by its words.
    fn commands(command: &Command, words: &[String], all: &mut Vec<(Vec<String>, String)>) {
        let after = [command.get_after_help(), command.get_after_long_help()];
        all.push((words.to_vec(), after.into_iter().flatten().map(ToString::to_string).collect()));
        for inner in command.get_subcommands() {
            commands(inner, &[words, &[inner.get_name().to_owned()]].concat(), all);
        }
    }

    #[test]
    fn no_line_of_help_is_wider_than_a_terminal() {
        let (mut all, mut wide) = (Vec::new(), Vec::new());
        commands(&command(), &[], &mut all);
        for (words, after) in all {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let helps = match words[..] {
                ["limits"] => vec![help_of(&["help", "limits"])],
                _ => ["-h", "--help"].map(|flag| help_of(&[&words[..], &[flag]].concat())).to_vec(),
            };
            // Examples are also not wrapped: they are copied.
            let examples = after.lines().filter(|line| line.starts_with("  "));
            let lines = helps.iter().flat_map(|help| help.lines()).chain(examples);
            let lines = lines.filter(|line| line.chars().count() > WIDTH);
            wide.extend(lines.map(|line| format!("reversi {}: {line}", words.join(" "))));
        }
        assert!(wide.is_empty(), "{}", wide.join("\n"));
    }

    #[test]
    fn each_command_is_listed_once() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let listed_once: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(listed.len(), listed_once.len());
        let command = command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
        let mut shown: BTreeSet<&str> = shown.chain(["help"]).collect();
        if cfg!(not(feature = "postgres")) {
            shown.insert("nodes");
        }
        assert_eq!(shown, listed_once);
        assert!(help_of(&["-h"]).contains("\n  help         Show"), "{}", help_of(&["-h"]));
    }

    #[test]
    fn the_short_help_fits_a_screen_and_leads_to_the_limits() {
        for words in [&["-h"][..], &["serve", "-h"]] {
            let help = help_of(words);
            assert!(help.lines().count() <= 46, "{} lines:\n{help}", help.lines().count());
        }
        let (short, limits) = (help_of(&["serve", "-h"]), help_of(&["help", "limits"]));
        assert!(short.contains("reversi help limits") && !short.contains("--max-rooms <"), "{short}");
        assert!(limits.contains("--max-rooms <") && !limits.contains("--listen"), "{limits}");
    }

    #[test]
    fn each_exit_status_is_stated() {
        let help = help_of(&["--help"]);
        for (status, meaning) in EXIT_STATUSES {
            assert!(help.contains(&format!("{status:>3}  {meaning}\n")), "{help}");
        }
    }
}
