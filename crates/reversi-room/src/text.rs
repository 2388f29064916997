//! Text typed by people: normalised, bounded and visible.

use std::{fmt, iter::once, sync::Arc};

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeEmoji as _, UnicodeGeneralCategory as _};
use unicode_security::skeleton;

/// Why a text is rejected.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TextError {
    /// Empty after trimming.
    #[error("must not be empty")]
    Empty,
    /// More characters than allowed.
    #[error("must have at most {0} characters")]
    TooLong(usize),
    /// A character that a reader cannot see, or that can spoof a display.
    #[error("must not contain U+{:04X}, which is not a visible character", u32::from(*.0))]
    Hidden(char),
}

/// Asks for the coloured form of the emoji before it.
const EMOJI_STYLE: char = '\u{fe0f}';
/// Joins two emoji into one.
const JOINER: char = '\u{200d}';
/// After a digit and [`EMOJI_STYLE`]: the emoji of a key.
const KEYCAP: char = '\u{20e3}';
/// The flags of England, Scotland and Wales, the only emoji with invisible tags.
const TAGGED_FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// The first character that a reader cannot see.
fn hidden(text: &str) -> Option<char> {
    let text = TAGGED_FLAGS.iter().fold(text.to_owned(), |text, flag| text.replace(flag, "\u{1f3f4}"));
    let characters: Vec<_> = text.chars().collect();
    let at = |index: Option<usize>| index.and_then(|index| characters.get(index)).copied().unwrap_or(' ');
    let hidden = characters.iter().enumerate().find(|&(index, &character)| {
        let (before, after) = (at(index.checked_sub(1)), at(index.checked_add(1)));
        match character {
            EMOJI_STYLE => !(is_picture(before) || before.is_emoji_char() && after == KEYCAP),
            JOINER => !((is_picture(before) || before == EMOJI_STYLE) && is_picture(after)),
            _ => !is_visible(character),
        }
    });
    hidden.map(|(_, &character)| character)
}

/// Whether it is an emoji by itself: digits are only parts of emoji.
fn is_picture(character: char) -> bool {
    character.is_emoji_char() && !character.is_ascii()
}

fn is_visible(character: char) -> bool {
    // Letters and symbols whose glyphs are blank.
    let blank = matches!(character, '\u{2800}' | '\u{fffc}' | '\u{13441}' | '\u{13442}' | '\u{16fe4}' | '\u{1d159}');
    let category = match character.general_category_group() {
        GeneralCategoryGroup::Other => false,
        GeneralCategoryGroup::Separator => character.general_category() == GeneralCategory::SpaceSeparator,
        _ => true,
    };
    // Skeletons leave out the default-ignorable characters.
    category && !blank && skeleton(character.encode_utf8(&mut [0; 4])).next().is_some()
}

/// Normalises (NFKC) and trims a text, then checks it.
fn clean(text: &str, max: usize) -> Result<Arc<str>, TextError> {
    // Far above `max` characters of four bytes: rejects megabytes without normalising them.
    if text.len() > max * 16 {
        return Err(TextError::TooLong(max));
    }
    let text = bounded(normalised(text).trim(), max)?;
    hidden(&text).map_or(Ok(text), |character| Err(TextError::Hidden(character)))
}

/// NFKC. Of emoji that it makes letters, such as a double exclamation mark, it also leaves out the style.
fn normalised(text: &str) -> String {
    let mut before = None;
    let styled = text.chars().filter(|&character| {
        let lettered = |emoji: char| emoji.is_emoji_char() && once(emoji).nfkc().next() != Some(emoji);
        let kept = character != EMOJI_STYLE || !before.is_some_and(lettered);
        before = Some(character);
        kept
    });
    styled.nfkc().collect()
}

/// Checks that a text has 1 to `max` characters, and none that controls a terminal.
fn bounded(text: &str, max: usize) -> Result<Arc<str>, TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if let Some(control) = text.chars().find(|character| character.is_control()) {
        return Err(TextError::Hidden(control));
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
            /// When it is empty, too long, or has characters that a reader cannot see.
            pub fn parse(text: &str) -> Result<Self, TextError> {
                clean(text, Self::MAX).map(Self)
            }

            /// A stored text, parsed earlier. Not parsed again, since other versions may have other rules for new
            /// texts.
            ///
            /// # Errors
            /// When it cannot have been stored: empty, too long, or with control characters.
            pub fn from_stored(text: &str) -> Result<Self, TextError> {
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
text!(
    /// Why a player declines an invitation.
    DeclineReason,
    100
);
text!(
    /// Why an administrator bans somebody.
    BanReason,
    200
);

text!(
    /// The version of a bot's engine.
    EngineVersion,
    40
);

impl DisplayName {
    /// The name of who has none. No text is parsed into it.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::default())
    }

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
        assert!(DisplayName::parse(&"é".repeat(24)).is_ok());
        assert_eq!(DisplayName::parse(&"x".repeat(25)), Err(TextError::TooLong(24)));
        assert_eq!(DisplayName::parse(&"x".repeat(5_000_000)), Err(TextError::TooLong(24)));
    }

    #[test]
    fn every_character_of_a_text_is_visible() {
        let hidden = [
            '\u{0}',
            '\u{7}',
            '\n',
            '\u{85}',
            '\u{ad}',
            '\u{34f}',
            '\u{378}',
            '\u{600}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{202e}',
            '\u{2060}',
            '\u{2028}',
            '\u{2065}',
            '\u{2800}',
            '\u{e000}',
            '\u{fe0e}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{fff0}',
            '\u{fffc}',
            '\u{13441}',
            '\u{1d159}',
            '\u{1d173}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{10fffd}',
        ];
        for character in hidden {
            assert_eq!(DisplayName::parse(&format!("a{character}b")), Err(TextError::Hidden(character)));
        }
        assert_eq!(RoomName::parse("\u{3164}"), Err(TextError::Hidden('\u{1160}')), "normalised before");
        assert_eq!(RoomName::parse("\u{ffa0}"), Err(TextError::Hidden('\u{1160}')));
        let message = "must not contain U+00AD, which is not a visible character";
        assert_eq!(DisplayName::parse("a\u{ad}").unwrap_err().to_string(), message);
        for text in ["Zoë", "Å\u{330}", "李小龍", "நிலா", "اسم", "한글", "Ｔｅａ １", "☺ x²", "¿qué?", "ქართული"]
        {
            assert!(DisplayName::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn emoji_may_have_their_invisible_parts() {
        let flag = TAGGED_FLAGS[1];
        for emoji in ["👩‍👩‍👧", "❤️", "❤️‍🔥", "👍🏽", "👩🏽‍🚀", "🏳️‍🌈", "🇯🇵", "1️⃣", "#️⃣", "⚫", "⚪️", flag]
        {
            let text = format!("a {emoji}{emoji} b");
            assert_eq!(ChatText::parse(&text).map(|text| text.to_string()), Ok(text));
        }
        // Normalised to letters.
        for (emoji, letters) in [("well played‼️", "well played!!"), ("™️", "TM"), ("㊗️", "祝")] {
            assert_eq!(ChatText::parse(emoji).map(|text| text.to_string()).as_deref(), Ok(letters));
        }
        for (text, hidden) in [
            ("👩\u{200d}", JOINER),
            ("\u{200d}👩", JOINER),
            ("👩\u{200d}a", JOINER),
            ("1\u{200d}👩", JOINER),
            ("1\u{fe0f}", EMOJI_STYLE),
            ("a\u{fe0f}", EMOJI_STYLE),
            ("👩\u{fe0f}\u{fe0f}", EMOJI_STYLE),
            ("\u{1f3f4}\u{e0067}\u{e007f}", '\u{e0067}'),
        ] {
            assert_eq!(DisplayName::parse(text), Err(TextError::Hidden(hidden)), "{text:?}");
        }
    }

    #[test]
    fn names_that_were_stored_under_older_rules_are_still_read() {
        let old = DisplayName::from_stored("a\u{ad}b").unwrap();
        assert_eq!(old.as_str(), "a\u{ad}b");
        assert_eq!(DisplayName::from_stored("a\u{1b}b"), Err(TextError::Hidden('\u{1b}')));
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
