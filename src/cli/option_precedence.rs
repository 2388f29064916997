//! Precedence between conflicting options: the command line overrides the environment.

use clap::{ArgMatches, Command, parser::ValueSource};

/// Options of a command of which only one has effect; in the environment the first.
const ALTERNATIVES: [(&str, &[&str]); 17] = [
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
    ("games", &["export", "json"]),
    ("games", &["export", "ids"]),
    ("games", &["stats", "ids"]),
    ("games", &["json", "ids"]),
    ("analyze", &["source", "game"]),
    ("serve", &["ephemeral", "store", "data"]),
    ("import", &["store", "data"]),
];

/// Options that need one of other options.
const COMPANIONS: [(&str, &str, &[&str]); 4] = [
    ("play", "private", &["new"]),
    ("host", "increment", &["total"]),
    ("games", "out", &["export"]),
    ("bot", "engine_time", &["nboard", "gtp"]),
];

/// Values that switch a flag off in the environment, the same as in clap's `FalseyValueParser`.
pub(super) const OFF: [&str; 7] = ["", "0", "n", "no", "f", "false", "off"];

/// Removes the variables that these arguments override. clap reports conflicts between the arguments themselves.
/// Options that are set by the other variables are hidden, as clap's errors would show them as required.
pub(super) fn apply(command: Command, arguments: &[std::ffi::OsString]) -> Command {
    // `--help` and errors need no precedence.
    let Ok(matches) = command.clone().ignore_errors(true).try_get_matches_from(arguments) else { return command };
    let Some((name, matches)) = matches.subcommand() else { return command };
    let overruled = overruled(name, &|option| source(matches, option));
    command.mut_subcommand(name, |subcommand| {
        subcommand.mut_args(|option| {
            let id = option.get_id().as_str();
            if overruled.contains(&id) {
                option.env(None::<&str>)
            } else if matches.value_source(id) == Some(ValueSource::EnvVariable) {
                option.hide(true)
            } else {
                option
            }
        })
    })
}

/// The source of an option's value; `None` for its default.
fn source(matches: &ArgMatches, option: &str) -> Option<ValueSource> {
    let switched_off = || {
        let values = matches.get_raw(option).into_iter().flatten();
        values.map(|value| value.to_string_lossy().to_lowercase()).all(|value| OFF.contains(&value.as_str()))
    };
    match matches.value_source(option)? {
        ValueSource::DefaultValue => None,
        ValueSource::EnvVariable if switched_off() => None,
        source => Some(source),
    }
}

/// The options whose variables are ignored.
fn overruled(command: &str, source: &dyn Fn(&str) -> Option<ValueSource>) -> Vec<&'static str> {
    let mut overruled = Vec::new();
    for (_, options) in ALTERNATIVES.into_iter().filter(|(of, _)| *of == command) {
        let first_from =
            |wanted| options.iter().find(|option| source(option) == wanted && !overruled.contains(*option));
        let chosen = first_from(Some(ValueSource::CommandLine)).or_else(|| first_from(Some(ValueSource::EnvVariable)));
        let others = options.iter().copied().filter(|option| {
            Some(option) != chosen && source(option) != Some(ValueSource::CommandLine) && !overruled.contains(option)
        });
        let lost: Vec<&'static str> = others.collect();
        overruled.extend(lost);
    }
    for (_, option, companions) in COMPANIONS.into_iter().filter(|(of, ..)| *of == command) {
        let given = companions.iter().any(|option| source(option).is_some() && !overruled.contains(option));
        if !given && source(option) != Some(ValueSource::CommandLine) {
            overruled.push(option);
        }
    }
    overruled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overruled_options(command: &str, typed: &[&str], environment: &[&str]) -> Vec<&'static str> {
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
        assert_eq!(overruled_options("play", &["ai"], &["room", "new"]), ["room", "anyone", "new", "private"]);
        assert_eq!(
            overruled_options("bot", &["quick"], &["room"]),
            ["room", "vs", "nboard", "gtp", "ai", "level", "engine_time"]
        );
        assert_eq!(overruled_options("watch", &[], &["room"]), [""; 0]);
    }

    #[test]
    fn an_option_without_effect_overrides_nothing() {
        let counts = |typed: &[&str], environment: &[&str], option| {
            !overruled_options("bot", typed, environment).contains(&option)
        };
        assert!(counts(&["ai"], &["nboard", "level"], "level"));
        assert!(!counts(&["gtp"], &["level"], "level"));
        assert!(counts(&["gtp"], &["engine_time"], "engine_time"));
        assert!(!counts(&["ai"], &["gtp", "engine_time"], "engine_time"));
    }

    #[test]
    fn of_conflicting_variables_the_first_counts() {
        assert_eq!(overruled_options("play", &[], &["ai", "room"]), ["anyone", "new", "ai", "private"]);
        assert_eq!(overruled_options("play", &[], &["private", "new"]), ["room", "anyone", "ai"]);
        assert_eq!(overruled_options("host", &[], &["increment"]), ["increment"]);
    }

    #[test]
    fn contradicting_arguments_are_left_to_be_refused() {
        assert_eq!(overruled_options("play", &["ai", "room"], &["new"]), ["anyone", "new", "private"]);
    }
}
