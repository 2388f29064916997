//! Text of servers, players, engines and files on its way to a terminal.

use std::fmt::Display;

/// `text` as one harmless line: line breaks and tabs become spaces, and other characters that control a terminal or
/// reorder the rest of the line are removed.
pub(in crate::cli) fn printable(text: impl Display) -> String {
    let spaced = |letter: char| if letter.is_control() && letter.is_whitespace() { ' ' } else { letter };
    text.to_string().chars().map(spaced).filter(|&letter| !is_harmful(letter)).collect()
}

/// Whether this is a control character, as escape sequences begin with, or an embedding, override or isolate of
/// Unicode's bidirectional algorithm.
pub(in crate::cli) fn is_harmful(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_characters_remain() {
        for (text, printed) in [
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "[2J]0;title"),
            ("\u{9b}31m red \u{7f}", "31m red "),
            ("two\nlines\tand\u{85}more", "two lines and more"),
            ("\u{202e}drawkcab\u{202c} \u{2066}apart\u{2069}", "drawkcab apart"),
            ("Zoë 黒 👩‍💻 שלום", "Zoë 黒 👩‍💻 שלום"),
        ] {
            assert_eq!(printable(text), printed);
        }
    }
}
