//! The settings of a tournament in a file, in TOML: a key for each option, with the option's name.

use std::{io::Read as _, path::Path};

use anyhow::Context as _;
use toml_edit::{DocumentMut, Item};

use super::options::TournamentOptions;
use crate::cli::{UsageError, terminal::line};

/// The most bytes of a file; 16 challengers and 1000 AIs need less.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads a file, or standard input for `-`.
pub(super) fn read(path: &Path) -> anyhow::Result<TournamentOptions> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let file = line::open(path).with_context(|| format!("cannot read {shown}"))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > MAX_BYTES) {
        return Err(UsageError(format!("{shown} has more than 64 KiB; name a file of `create --print`")).into());
    }
    Ok(parse(&line::decode(bytes)).map_err(|problem| UsageError(format!("{shown}: {problem}")))?)
}

fn parse(text: &str) -> Result<TournamentOptions, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().map_or(0, |span| span.start);
        let line = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
        format!("line {line}: {}", error.message())
    })?;
    let value = |(key, item): (_, &Item)| match item {
        Item::Value(value) => Ok((key, value.clone())),
        _ => Err(format!("there is no setting `{key}` with a table")),
    };
    let values = document.iter().map(value).collect::<Result<Vec<_>, String>>()?;
    TournamentOptions::from_values(values.into_iter())
}

/// The text of a file that [`read`] reads.
pub(super) fn write(options: &TournamentOptions) -> String {
    let mut document = DocumentMut::new();
    for (name, value) in options.values() {
        document.insert(name, Item::Value(value));
    }
    document.to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Args as _, Command, FromArgMatches as _};

    use super::*;

    fn options(arguments: &[&str]) -> TournamentOptions {
        let command = TournamentOptions::augment_args(Command::new("create")).no_binary_name(true);
        TournamentOptions::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
    }

    /// All settings but the formats, which exclude each other.
    #[rustfmt::skip]
    const COMMON: [&str; 29] = [
        "--playoff=4", "--clock", "60+0.5", "--move-limit", "5", "--games=4", "--rated", "--for=bots",
        "--min-rating=1400", "--max-rating=1700", "--max-entrants=16", "--max-running=8", "--no-show=90s",
        "--fills-bye=greedy", "--enter=mcts:3", "--enter", "random", "--cycles", "2", "--challenger", "ada",
        "--challenger=-\"quoted\" \\ 黒", "--all-play-all", "--sprt=-5,10", "--starts-in", "45m",
        "--spectator-delay=90s", "--", "--name",
    ];

    #[test]
    fn every_setting_is_written_and_read() {
        let common = &COMMON[..];
        let mut seen = BTreeSet::new();
        for arguments in [common, &["--swiss=5", "--starts-at", "2026-12-24T18:00:00Z", "Cup"], &["--arena", "2h"]] {
            let options = options(arguments);
            seen.extend(options.values().map(|(name, _)| name.to_owned()));
            let written = write(&options);
            assert_eq!(parse(&written).as_ref(), Ok(&options), "{written}");
        }
        let command = TournamentOptions::augment_args(Command::new("create"));
        let all = command.get_arguments().map(|option| option.get_long().unwrap_or("name").to_owned());
        assert_eq!(seen, all.collect());
    }

    #[test]
    fn an_option_replaces_what_a_file_sets() {
        let file = options(&["--all-play-all", "--cycles=2", "--starts-in=5m", "--enter=random", "Cup"]);
        let merged = |given: &[&str]| write(&options(given).or(&file).unwrap());
        let kept = "starts-in = \"5m\"\nenter = [\"random\"]\n";
        assert_eq!(merged(&["--swiss=3"]), format!("name = \"Cup\"\nswiss = 3\n{kept}"));
        assert_eq!(
            merged(&["--cycles=4", "Other", "--enter=greedy", "--starts-at=2026-12-24T18:00:00Z"]),
            "name = \"Other\"\nall-play-all = true\ncycles = 4\nstarts-at = \"2026-12-24T18:00:00Z\"\nenter = [\"greedy\"]\n"
        );
    }

    #[test]
    fn what_is_no_setting_is_refused_with_its_name() {
        for (text, problem) in [
            ("name = \"Cup\"\nswis = 3\n", "there is no setting `swis`; the nearest is `swiss`"),
            ("password = \"x\"", "there is no setting `password`"),
            ("[swiss]\nrounds = 3", "there is no setting `swiss` with a table"),
            ("rated = 1", "`rated` is true or false"),
            ("games = true", "`games` needs one text or number"),
            ("games = [1, 2]", "`games` needs one text or number"),
            ("name = \"Cup\"\nswiss 3", "line 2: "),
            ("clock = \"fast\"", "--clock"),
            ("fills-bye = \"nobody\"", "no AI is called `nobody`"),
            ("swiss = 3\narena = \"2h\"", "cannot be used with"),
            ("starts-at = \"today\"", "2026-12-24T18:00:00Z"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
        let unquoted = parse("starts-at = 2026-12-24T18:00:00Z").unwrap();
        assert_eq!(unquoted, options(&["--starts-at=2026-12-24T18:00:00Z"]));
    }
}
