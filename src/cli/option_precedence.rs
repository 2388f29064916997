//! Precedence between conflicting options: the command line before the environment.

use clap::{ArgMatches, Command, parser::ValueSource};

/// Options of a command of which one counts; of the environment the first.
const ALTERNATIVES: [(&str, &[&str]); 11] = [
    ("play", &["room", "anyone", "new", "ai"]),
    ("bot", &["room", "quick", "vs"]),
    ("bot", &["nboard", "gtp", "ai"]),
    ("bot", &["nboard", "level"]),
    ("bot", &["gtp", "level"]),
    ("engine", &["gtp", "nboard"]),
    ("engine", &["level", "memory"]),
    ("engine", &["level", "threads"]),
    ("rooms", &["open", "playing"]),
    ("games", &["export", "stats"]),
    ("analyze", &["source", "game"]),
];

/// Options that need one of others.
const COMPANIONS: [(&str, &str, &[&str]); 4] = [
    ("play", "private", &["new"]),
    ("host", "increment", &["total"]),
    ("games", "out", &["export"]),
    ("bot", "engine_time", &["nboard", "gtp"]),
];

/// Values that switch a flag off in the environment, as for clap's `FalseyValueParser`.
const OFF: [&str; 7] = ["", "0", "n", "no", "f", "false", "off"];

/// The command without the variables that these arguments override. Conflicts between the arguments
/// themselves are left to clap.
pub(super) fn apply(command: Command, arguments: &[std::ffi::OsString]) -> Command {
    // `--help` and errors need no precedence.
    let Ok(seen) = command.clone().ignore_errors(true).try_get_matches_from(arguments) else { return command };
    let Some((name, seen)) = seen.subcommand() else { return command };
    let name = name.to_owned();
    let overruled = overruled(&name, &|option| source(seen, option));
    overruled.into_iter().fold(command, |command, option| {
        command.mut_subcommand(&name, |command| command.mut_arg(option, |option| option.env(None::<&str>)))
    })
}

/// Where an option's value comes from; `None` for its default.
fn source(seen: &ArgMatches, option: &str) -> Option<ValueSource> {
    let switched_off = || {
        let values = seen.get_raw(option).into_iter().flatten();
        values.map(|value| value.to_string_lossy().to_lowercase()).all(|value| OFF.contains(&value.as_str()))
    };
    match seen.value_source(option)? {
        ValueSource::DefaultValue => None,
        ValueSource::EnvVariable if switched_off() => None,
        source => Some(source),
    }
}

/// The options of the command whose variables are ignored.
fn overruled(command: &str, source: &dyn Fn(&str) -> Option<ValueSource>) -> Vec<&'static str> {
    let mut overruled = Vec::new();
    for (_, options) in ALTERNATIVES.into_iter().filter(|(of, _)| *of == command) {
        let by = |wanted| options.iter().find(|option| source(option) == wanted && !overruled.contains(*option));
        let chosen = by(Some(ValueSource::CommandLine)).or_else(|| by(Some(ValueSource::EnvVariable)));
        let others = options.iter().copied().filter(|option| {
            Some(option) != chosen && source(option) != Some(ValueSource::CommandLine) && !overruled.contains(option)
        });
        let lost: Vec<&'static str> = others.collect();
        overruled.extend(lost);
    }
    for (_, option, beside) in COMPANIONS.into_iter().filter(|(of, ..)| *of == command) {
        let given = beside.iter().any(|beside| source(beside).is_some() && !overruled.contains(beside));
        if !given && source(option) != Some(ValueSource::CommandLine) {
            overruled.push(option);
        }
    }
    overruled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forgotten(command: &str, typed: &[&str], environment: &[&str]) -> Vec<&'static str> {
        overruled(command, &|option| {
            if typed.contains(&option) {
                Some(ValueSource::CommandLine)
            } else if environment.contains(&option) {
                Some(ValueSource::EnvVariable)
            } else {
                None
            }
        })
    }

    #[test]
    fn arguments_take_precedence() {
        assert_eq!(forgotten("play", &["ai"], &["room", "new"]), ["room", "anyone", "new", "private"]);
        assert_eq!(
            forgotten("bot", &["quick"], &["room"]),
            ["room", "vs", "nboard", "gtp", "ai", "level", "engine_time"]
        );
        assert_eq!(forgotten("watch", &[], &["room"]), [""; 0]);
    }

    #[test]
    fn an_option_without_effect_overrides_nothing() {
        let counts =
            |typed: &[&str], environment: &[&str], option| !forgotten("bot", typed, environment).contains(&option);
        assert!(counts(&["ai"], &["nboard", "level"], "level"));
        assert!(!counts(&["gtp"], &["level"], "level"));
        assert!(counts(&["gtp"], &["engine_time"], "engine_time"));
        assert!(!counts(&["ai"], &["gtp", "engine_time"], "engine_time"));
    }

    #[test]
    fn of_conflicting_variables_the_first_counts() {
        assert_eq!(forgotten("play", &[], &["ai", "room"]), ["anyone", "new", "ai", "private"]);
        assert_eq!(forgotten("play", &[], &["private", "new"]), ["room", "anyone", "ai"]);
        assert_eq!(forgotten("host", &[], &["increment"]), ["increment"]);
    }

    #[test]
    fn contradicting_arguments_are_left_to_be_refused() {
        assert_eq!(forgotten("play", &["ai", "room"], &["new"]), ["anyone", "new", "private"]);
    }
}
