//! Precedence between conflicting options: the command line overrides the environment.

use clap::{ArgMatches, Command, parser::ValueSource};

/// Where a server keeps its data. Only one of these options has effect; of their variables the first.
const ALTERNATIVES: [&str; 3] = ["ephemeral", "store", "data"];

/// Options of a database, without effect if the data is kept elsewhere.
const OF_STORE: [&str; 6] = ["node_listen", "advertise", "node_cert", "node_key", "node_ca", "lease"];

/// Values that switch a flag off in the environment, the same as in clap's `FalseyValueParser`.
pub(super) const OFF: [&str; 7] = ["", "0", "n", "no", "f", "false", "off"];

/// Removes the variables that these arguments override. clap reports conflicts between the arguments themselves.
/// Options that are set by the other variables are hidden, as clap's errors would show them as required.
pub(super) fn apply(command: Command, arguments: &[std::ffi::OsString]) -> Command {
    // `--help` and errors need no precedence.
    let Ok(matches) = command.clone().ignore_errors(true).try_get_matches_from(arguments) else { return command };
    let Some((name, matches)) = matches.subcommand() else { return command };
    let overruled = overruled(&|option| source(matches, option));
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
    match matches.try_contains_id(option).is_ok().then(|| matches.value_source(option))?? {
        ValueSource::DefaultValue => None,
        ValueSource::EnvVariable if switched_off() => None,
        source => Some(source),
    }
}

/// The options whose variables are ignored.
fn overruled(source: &dyn Fn(&str) -> Option<ValueSource>) -> Vec<&'static str> {
    let first_from = |wanted| ALTERNATIVES.into_iter().find(|option| source(option) == Some(wanted));
    let chosen = first_from(ValueSource::CommandLine).or_else(|| first_from(ValueSource::EnvVariable));
    let is_overruled = |option: &&str| Some(*option) != chosen && source(option) != Some(ValueSource::CommandLine);
    let is_preferred = |chosen| source(chosen) == Some(ValueSource::CommandLine) || source("store").is_some();
    let is_elsewhere = chosen.is_some_and(|chosen| chosen != "store" && is_preferred(chosen));
    let of_store = OF_STORE.into_iter().filter(|_| is_elsewhere);
    ALTERNATIVES.into_iter().chain(of_store).filter(is_overruled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overruled_options(typed: &[&str], environment: &[&str]) -> Vec<&'static str> {
        overruled(&|option| {
            if typed.contains(&option) {
                Some(ValueSource::CommandLine)
            } else if environment.contains(&option) {
                Some(ValueSource::EnvVariable)
            } else {
                None
            }
        })
    }

    /// These options, and those of a database.
    fn with_options_of_store<'a>(others: &[&'a str]) -> Vec<&'a str> {
        [others, &OF_STORE].concat()
    }

    #[test]
    fn arguments_take_precedence() {
        let mut elsewhere = with_options_of_store(&["ephemeral", "store"]);
        assert_eq!(overruled_options(&["data"], &["store", "ephemeral", "lease"]), elsewhere);
        elsewhere.retain(|option| *option != "lease");
        assert_eq!(overruled_options(&["data", "lease"], &[]), elsewhere, "it is left to be refused");
    }

    #[test]
    fn of_conflicting_variables_the_first_counts() {
        assert_eq!(overruled_options(&[], &["data", "store", "lease"]), ["ephemeral", "data"]);
        assert_eq!(overruled_options(&[], &["data", "ephemeral"]), ["store", "data"]);
        assert_eq!(overruled_options(&[], &["data", "lease"]), ["ephemeral", "store"], "the database may be forgotten");
    }

    #[test]
    fn contradicting_arguments_are_left_to_be_refused() {
        assert_eq!(overruled_options(&["ephemeral", "data"], &["store"]), with_options_of_store(&["store"]));
    }
}
