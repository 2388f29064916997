//! The environment variables of `reversi serve`, and its settings file: a line KEY=VALUE for an option's variable. An
//! option that is given as an argument or in the environment takes precedence.

use std::{collections::HashMap, ffi::OsString, path::PathBuf};

use clap::{Arg, ArgAction, Command, Error, error::ErrorKind, parser::ValueSource};

use super::option_precedence::OFF;

/// Adds the options in the file that `--settings` names, if it does.
///
/// # Errors
/// The file cannot be read, or a line is not a setting.
pub(super) fn apply(command: &Command, arguments: &[OsString]) -> Result<Vec<OsString>, Error> {
    let mut all = arguments.to_vec();
    // `--help` and errors need no settings.
    let Ok(matches) = command.clone().ignore_errors(true).try_get_matches_from(arguments) else { return Ok(all) };
    let Some(("serve", matches)) = matches.subcommand() else { return Ok(all) };
    let (Some(serve), Some(file)) = (command.find_subcommand("serve"), matches.get_one::<PathBuf>("settings")) else {
        return Ok(all);
    };
    let problem = |text: String| Error::raw(ErrorKind::Io, format!("{}: {text}\n", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| problem(format!("cannot read it: {error}")))?;
    // Editors of Windows begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut set_in = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((key, value)) = setting(line).map_err(|error| problem(format!("line {number}: {error}")))? else {
            continue;
        };
        let option = serve.get_arguments().find(|option| names(option, key)).ok_or_else(|| {
            problem(format!(
                "line {number}: `reversi serve` has no variable {key}; the nearest is {}",
                nearest(key, &variables(serve)).0
            ))
        })?;
        let is_single = !matches!(option.get_action(), ArgAction::Append);
        if let Some(first) = set_in.insert(key, number).filter(|_| is_single) {
            return Err(problem(format!("line {number}: {key} is already set in line {first}; remove one of the two")));
        }
        let source = matches.value_source(option.get_id().as_str());
        if !matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            all.extend(argument(option, value));
        }
    }
    Ok(all)
}

/// The variables REVERSI_* of the environment that no option of any command has.
///
/// # Errors
/// One is spelled almost as that of an option. Others may be for other programs, or for another version of this one.
pub(super) fn unknown_variables(
    command: &Command,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Vec<String>, Error> {
    let known: Vec<&str> = command.get_subcommands().flat_map(variables).collect();
    let mut unknown = Vec::new();
    for (name, value) in environment {
        let name = name.to_string_lossy();
        if !name.starts_with(PREFIX) || known.contains(&&*name) || is_service_link(&name, &value.to_string_lossy()) {
            continue;
        }
        let (nearest, likeness) = nearest(&name, &known);
        if likeness >= MISSPELLED {
            let problem = format!("no option has the variable {name}; the nearest is {nearest}\n");
            return Err(Error::raw(ErrorKind::UnknownArgument, problem));
        }
        unknown.push(name.into_owned());
    }
    Ok(unknown)
}

const PREFIX: &str = "REVERSI_";

/// The likeness (Jaro-Winkler, 0 to 1) from which one name seems to be a misspelling of another.
const MISSPELLED: f64 = 0.9;

fn variables(command: &Command) -> Vec<&str> {
    command.get_arguments().filter_map(|option| option.get_env()?.to_str()).collect()
}

/// Whether Kubernetes sets this variable, for a service whose name begins with `reversi`.
fn is_service_link(name: &str, value: &str) -> bool {
    let begins_with_digit = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    name.contains("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.ends_with("_PORT") && value.contains("://")
        || name.split("_PORT_").skip(1).any(begins_with_digit)
}

/// The variable that is spelled most like this one, and how much.
fn nearest<'a>(name: &str, known: &[&'a str]) -> (&'a str, f64) {
    let rest = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let likeness = |known: &'a str| (known, strsim::jaro_winkler(&rest(known), &rest(name)));
    known.iter().copied().map(likeness).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("none", 0.0))
}

/// The key and the value of a line; none if it is empty or a comment.
fn setting(line: &str) -> Result<Option<(&str, &str)>, &'static str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    // As in a file that a shell reads.
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (key, value) = line.split_once('=').ok_or("a setting is KEY=VALUE")?;
    let value = value.trim();
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    Ok(Some((key.trim(), unquoted.unwrap_or(value))))
}

fn names(option: &Arg, key: &str) -> bool {
    option.get_id() != "settings" && option.get_env().is_some_and(|variable| variable == key)
}

/// The option with a value; none for a flag that is off.
fn argument(option: &Arg, value: &str) -> Option<OsString> {
    let flag = format!("--{}", option.get_long()?);
    if option.get_action().takes_values() {
        return Some(format!("{flag}={value}").into());
    }
    let is_off = OFF.contains(&value.to_lowercase().as_str());
    (!is_off).then(|| flag.into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn applied(text: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings");
        std::fs::write(&file, text).unwrap();
        let mut all: Vec<OsString> = ["reversi", "serve", "--settings"].map(OsString::from).to_vec();
        all.push(file.into());
        all.extend(arguments.iter().map(OsString::from));
        let given = all.len();
        let all = apply(&Cli::command(), &all).map_err(|error| error.to_string())?;
        Ok(all[given..].iter().map(|argument| argument.to_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn a_setting_is_an_option_unless_that_is_given() {
        let text = "# comment\n\nREVERSI_MAX_ROOMS=5\n REVERSI_LOG = \"info,h2=warn\" \nREVERSI_PONDER=1\nREVERSI_EPHEMERAL=no\n";
        assert_eq!(applied(text, &[]).unwrap(), ["--max-rooms=5", "--log=info,h2=warn", "--ponder"]);
        assert_eq!(applied(text, &["--max-rooms", "6", "--ponder"]).unwrap(), ["--log=info,h2=warn"]);
    }

    #[test]
    fn a_setting_that_is_given_twice_is_refused_with_both_lines() {
        let refused = applied("REVERSI_MAX_ROOMS=5\n\nREVERSI_MAX_ROOMS=6\n", &[]).unwrap_err();
        assert!(refused.contains("line 3: REVERSI_MAX_ROOMS is already set in line 1"), "{refused}");
    }

    #[test]
    fn a_file_may_be_one_of_windows_or_of_a_shell() {
        assert_eq!(
            applied("\u{feff}REVERSI_MAX_ROOMS=5\r\nexport REVERSI_LOG=debug\r\n", &[]).unwrap(),
            ["--max-rooms=5", "--log=debug"]
        );
    }

    #[test]
    fn a_line_that_is_no_setting_is_an_error() {
        for (line, problem) in [
            ("REVERSI_MAX_ROOMS", "line 2: a setting is KEY=VALUE"),
            ("REVERSI_ROOM=7", "line 2: `reversi serve` has no variable REVERSI_ROOM; the nearest is REVERSI_"),
            ("REVERSI_SETTINGS=other", "has no variable REVERSI_SETTINGS"),
        ] {
            let error = applied(&format!("\n{line}\n"), &[]).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_misspelled_variable_is_an_error_and_other_unknown_ones_are_found() {
        let unknown = |name: &str, value: &str| {
            let variables = [(OsString::from(name), OsString::from(value))];
            unknown_variables(&Cli::command(), variables.into_iter()).map_err(|error| error.to_string())
        };
        for (name, nearest) in [
            ("REVERSI_MAX_ROMS", "REVERSI_MAX_ROOMS"),
            ("REVERSI_METRIC", "REVERSI_METRICS"),
            ("REVERSI_LISTN", "REVERSI_LISTEN"),
            ("REVERSI_TLSCERT", "REVERSI_TLS_CERT"),
        ] {
            let error = unknown(name, "50051").unwrap_err();
            assert_eq!(error.trim_end(), format!("error: no option has the variable {name}; the nearest is {nearest}"));
        }
        // For another program, or of another version.
        for name in ["REVERSI_IMAGE", "REVERSI_BIN", "REVERSI_PORT", "REVERSI_PYTHON"] {
            assert_eq!(unknown(name, "50051"), Ok(vec![name.to_owned()]));
        }
        for (name, value) in [
            ("REVERSI_MAX_ROOMS", "5"),
            ("REVERSI_PASSWORD", "of another command"),
            ("PATH", "/bin"),
            // Of Kubernetes.
            ("REVERSI_SERVICE_HOST", "10.0.0.1"),
            ("REVERSI_SERVICE_PORT_GRPC", "50051"),
            ("REVERSI_PORT", "tcp://10.0.0.1:50051"),
            ("REVERSI_PORT_50051_TCP", "tcp://10.0.0.1:50051"),
            ("REVERSI_PORT_50051_TCP_ADDR", "10.0.0.1"),
            ("REVERSI_HEADLESS_PORT_50051_TCP_PROTO", "tcp"),
        ] {
            assert_eq!(unknown(name, value), Ok(Vec::new()), "{name}");
        }
    }

    #[test]
    fn other_commands_have_no_settings_file() {
        let arguments = ["reversi", "rooms"].map(OsString::from);
        assert_eq!(apply(&Cli::command(), &arguments).unwrap(), arguments);
    }
}
