//! Text typed by people: normalised, bounded and without control characters.

use std::{fmt, sync::Arc};

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

/// Why a text is rejected.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TextError {
    /// Empty after trimming.
    #[error("must not be empty")]
    Empty,
    /// More characters than allowed.
    #[error("must have at most {0} characters")]
    TooLong(usize),
    /// Control or invisible direction characters, which can spoof a display.
    #[error("must not contain control characters")]
    Control,
}

/// Whether a character controls a terminal, is invisible, or changes the direction of text.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Normalises (NFKC) and trims a text, then checks it with [`bounded`].
fn clean(text: &str, max: usize) -> Result<Arc<str>, TextError> {
    // Far above `max` characters of four bytes: rejects megabytes without normalising them.
    if text.len() > max * 16 {
        return Err(TextError::TooLong(max));
    }
    let normal: String = text.nfkc().collect();
    bounded(normal.trim(), max)
}

/// Checks that a text has 1 to `max` characters, and no control character.
fn bounded(text: &str, max: usize) -> Result<Arc<str>, TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if text.chars().any(is_unsafe) {
        return Err(TextError::Control);
    }
    if text.chars().count() > max {
        return Err(TextError::TooLong(max));
    }
    Ok(text.into())
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $max:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Maximum length in characters.
            pub const MAX: usize = $max;

            /// Normalises (NFKC), trims and checks `text`.
            ///
            /// # Errors
            /// When it is empty, too long, or has control characters.
            pub fn parse(text: &str) -> Result<Self, TextError> {
                clean(text, Self::MAX).map(Self)
            }

            /// A stored text, parsed earlier. Not normalised again, because newer Unicode versions may differ.
            pub(super) fn from_stored(text: &str) -> Result<Self, TextError> {
                bounded(text, Self::MAX).map(Self)
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text!(
    /// The display name of a player.
    DisplayName,
    24
);
text!(
    /// The name of a room.
    RoomName,
    40
);
text!(
    /// A line of chat.
    ChatText,
    300
);

impl DisplayName {
    /// The name in lower case; names of players are unique by this key.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

/// The default name of a room is its owner's.
impl From<&DisplayName> for RoomName {
    fn from(name: &DisplayName) -> Self {
        const { assert!(DisplayName::MAX <= Self::MAX) };
        Self(Arc::clone(&name.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_normalized_trimmed_and_bounded() {
        assert_eq!(DisplayName::parse("  Ａda ").map(|name| name.to_string()), Ok("Ada".into()));
        assert_eq!(DisplayName::parse(" \t "), Err(TextError::Empty));
        assert_eq!(DisplayName::parse("a\u{7}b"), Err(TextError::Control));
        assert_eq!(DisplayName::parse("a\u{202e}b"), Err(TextError::Control));
        assert_eq!(DisplayName::parse("a\nb"), Err(TextError::Control));
        assert!(DisplayName::parse(&"é".repeat(24)).is_ok());
        assert_eq!(DisplayName::parse(&"x".repeat(25)), Err(TextError::TooLong(24)));
        assert_eq!(DisplayName::parse(&"x".repeat(5_000_000)), Err(TextError::TooLong(24)));
    }

    proptest! {
        #[test]
        fn parsing_twice_changes_nothing(text in ".{0,60}") {
            if let Ok(name) = DisplayName::parse(&text) {
                prop_assert_eq!(DisplayName::parse(name.as_str()), Ok(name));
            }
        }
    }
}
