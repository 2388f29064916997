//! Words for a number that an option does not take.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The error in words for users, in place of those of the standard library and of ranges of Rust.
pub(in crate::cli) fn in_plain_words(error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let source = std::error::Error::source(&error).map(ToString::to_string);
    let plain = source.filter(|_| error.kind() == ErrorKind::ValueValidation).and_then(|source| bounds(&source));
    let (Some(option), Some(value), Some(plain)) =
        (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue), plain)
    else {
        return error;
    };
    let shown = format!("invalid value '{value}' for '{option}': {plain}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(ErrorKind::ValueValidation, shown)
}

/// None for an error that has words of this program.
fn bounds(source: &str) -> Option<String> {
    match source {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            return Some("it must be a whole number".to_owned());
        }
        "number too large to fit in target type" => return Some("it is too large".to_owned()),
        _ => {}
    }
    let (least, most) = source.split_once(" is not in ")?.1.split_once("..")?;
    let most: u64 = most.trim_start_matches('=').parse().ok()?;
    // No bound but that of the type.
    if most >= u32::MAX.into() {
        return Some(format!("it must be at least {least}"));
    }
    Some(format!("it must be {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, value_parser};

    use super::*;

    #[test]
    fn bounds_are_named_without_signs_of_a_language() {
        let command = Command::new("x").no_binary_name(true).args([
            Arg::new("a").long("a").value_parser(value_parser!(u8)),
            Arg::new("b").long("b").value_parser(value_parser!(u16).range(1..=500)),
            Arg::new("c").long("c").value_parser(value_parser!(u32).range(1..)),
            Arg::new("d").long("d").value_parser(value_parser!(usize)),
        ]);
        for (option, problem) in [
            ("--a=300", "'300' for '--a <a>': it must be 0 to 255"),
            ("--b=0", "'0' for '--b <b>': it must be 1 to 500"),
            ("--b=x", "'x' for '--b <b>': it must be a whole number"),
            ("--c=0", "'0' for '--c <c>': it must be at least 1"),
            ("--d=", "'' for '--d <d>': it must be a whole number"),
            ("--d=99999999999999999999", "it is too large"),
            ("--e=1", "unexpected argument"),
        ] {
            let error = in_plain_words(command.clone().try_get_matches_from([option]).unwrap_err()).to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
