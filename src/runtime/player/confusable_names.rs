//! Finds names that look like other names, by the skeletons of Unicode TS 39.

use std::{collections::HashSet, sync::LazyLock};

use unicode_security::skeleton;

use crate::{ai::AiKind, room::DisplayName};

/// Names by which a player would pose as the server.
const SERVER_NAMES: [&str; 6] = ["server", "system", "admin", "administrator", "moderator", "reversi"];

/// The skeletons of names that would pose as the server or as one of its AIs.
static RESERVED: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let ai_names = AiKind::ALL.into_iter().flat_map(|kind| {
        let name = letters(&kind.to_string());
        let titled =
            |before: &'static str| ["", "level", "ai", "computer"].map(|after| format!("{before}{name}{after}"));
        ["", "ai", "computer"].map(titled).into_iter().flatten().collect::<Vec<_>>()
    });
    let names = SERVER_NAMES.into_iter().map(str::to_owned).chain(ai_names);
    names.flat_map(|name| lenient_skeletons(&name).into_iter().chain(lenient_skeletons(&name.to_uppercase()))).collect()
});

/// The skeletons of a name in lower case and as written, because a capital letter and its small letter may look like
/// different letters of other scripts. Two names look alike if they have a skeleton in common.
pub(super) fn skeletons(name: &str) -> [String; 2] {
    let words: Vec<_> = name.split_whitespace().collect();
    let name = words.join(" ");
    [name.to_lowercase(), name].map(|name| skeleton(&name).collect::<String>().to_lowercase())
}

/// True if a player with this name would pose as the server or as one of its AIs, such as "AI expert 13".
pub(super) fn is_reserved(name: &DisplayName) -> bool {
    let without_level = name.as_str().trim_matches(|character: char| !character.is_alphabetic());
    lenient_skeletons(&letters(without_level)).iter().any(|skeleton| RESERVED.contains(skeleton))
}

/// The letters and digits of a name.
fn letters(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).collect()
}

/// As [`skeletons`], but `i` and `l` look alike, too: "adm1n" would pose as "admin".
fn lenient_skeletons(letters: &str) -> [String; 2] {
    skeletons(letters).map(|skeleton| skeleton.replace('i', "l"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_look_alike_in_any_case_and_script() {
        let alike = |one: &str, other: &str| skeletons(one).iter().any(|skeleton| skeletons(other).contains(skeleton));
        for (one, other) in [
            ("Ada", "ADA"),
            ("Ada", "\u{410}da"),
            ("Bob", "\u{412}ob"),
            ("victor", "\u{3bd}ictor"),
            ("Ida", "lda"),
            ("paul", "pau1"),
            ("modern", "rnodern"),
            ("tom 0", "tom O"),
            ("tom x", "tom   x"),
            ("\u{412}\u{41e}\u{412}", "\u{432}\u{43e}\u{432}"),
            ("☺", "☺\u{fe0f}"),
        ] {
            assert!(alike(one, other), "{one} {other}");
        }
        for (one, other) in [("Ada", "Ida"), ("bot-1", "bot-11"), ("tom", "tim"), ("李", "季"), ("Zoe", "Zoë")] {
            assert!(!alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn names_of_ais_and_of_the_server_are_reserved() {
        let reserved = |name| is_reserved(&DisplayName::parse(name).unwrap());
        for name in [
            "AI expert 13",
            "expert:13",
            "Roxanne",
            "ROXANNE!",
            "ai-mcts-roxanne 5",
            "mcts",
            "Al expert",
            "A.I. Greedy",
            "AI expert, level 13",
            "🤖 expert 13",
            "r0xanne",
            "RANDOM",
            "random 7",
            "\u{410}I random",
            "AlphaBeta (3)",
            "Server",
            "[server]",
            "\u{405}erver",
            "S Y S T E M",
            "ADMIN",
            "ADMlN",
            "adm1n",
            "Administrator 1",
            "m\u{43e}derator",
            "Reversi",
            "Computer (greedy)",
        ] {
            assert!(reserved(name), "{name}");
        }
        for name in
            ["Ada", "Ai", "expert chess fan", "bot-roxanne-1a2b", "Champion", "Sysadmin Bob", "7", "☺", "李小龍"]
        {
            assert!(!reserved(name), "{name}");
        }
    }
}
