//! Reads Rust sources far enough to separate code from comments, and to find the modules and crates that code names.

use std::{collections::BTreeSet, iter};

/// Keywords that can precede a path and are not part of it.
const KEYWORDS: [&str; 11] = ["use", "as", "dyn", "impl", "for", "in", "return", "mut", "where", "ref", "match"];

/// The module path of a source file: `["rules", "square"]`.
pub(super) fn module_of(path: &str) -> Vec<String> {
    let (_, inside) = path.rsplit_once("src/").unwrap_or(("", path));
    let parts = inside.trim_end_matches(".rs").split('/').map(str::to_owned);
    let mut module: Vec<String> = parts.collect();
    module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    module
}

pub(super) struct Named {
    /// From the root of the crate, or from the name of another one; never empty.
    pub(super) path: Vec<String>,
    /// Whether it is in the same crate.
    pub(super) is_local: bool,
    /// The name that a `use` at the top of the file gives it, by which other files may name it too.
    pub(super) alias: Option<String>,
    pub(super) line: usize,
    pub(super) in_test: bool,
}

/// The paths that the code of `module` names in its crate's root or in other crates, by `use` or directly.
pub(super) fn names(text: &str, module: &[String]) -> Vec<Named> {
    let tokens = tokens(&split(text).code);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let in_test = test_code(&tokens);
    let declares = |three: &[Token]| three[0].text == "mod" && three[2].text == ";";
    let children = tokens.windows(3).filter(|three| declares(three)).map(|three| three[1].text.as_str()).collect();
    // The open braces: the name of an inline module, or none for other braces.
    let mut braces: Vec<Option<String>> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let before = |back: usize| at.checked_sub(back).map_or("", text);
        let continues = before(1) == "::" && before(2) == ">" || before(1) == "." && before(2) != ".";
        match text(at) {
            "{" => braces.push((before(2) == "mod").then(|| before(1).to_owned())),
            "}" => drop(braces.pop()),
            word if is_word(word) && !KEYWORDS.contains(&word) && !continues => {
                let is_use = before(1) == "use";
                // The place in which something is visible is not named by that.
                let is_visibility = before(1) == "in" && before(2) == "(";
                let mut paths = Vec::new();
                let end = path_tree(&tokens, at, &[], &mut paths);
                let here: Vec<String> = module.iter().chain(braces.iter().flatten()).cloned().collect();
                for (path, alias) in paths {
                    if (is_use || path.len() > 1) && !is_visibility {
                        let (is_local, path) = target(path, &here, &children);
                        let alias = Some(alias).filter(|_| is_use && braces.is_empty());
                        found.push(Named { path, is_local, alias, line: tokens[at].line, in_test: in_test[at] });
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found.retain(|named| !named.path.is_empty());
    found
}

/// Collects the paths of a `use` tree from the token `at`, with nested braces, and the names that it gives them.
/// Returns the position after the tree.
fn path_tree(tokens: &[Token], mut at: usize, prefix: &[String], paths: &mut Vec<(Vec<String>, String)>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    if text(at) == "{" {
        at += 1;
        while !["}", ""].contains(&text(at)) {
            at = match text(at) {
                "," => at + 1,
                // The new name after `as` is not part of the path.
                "as" => at + 2,
                _ => path_tree(tokens, at, prefix, paths),
            };
        }
        return at + 1;
    }
    let path: Vec<String> = prefix.iter().cloned().chain(iter::once(text(at).to_owned())).collect();
    if text(at + 1) == "::" && (is_word(text(at + 2)) || ["{", "*"].contains(&text(at + 2))) {
        return path_tree(tokens, at + 2, &path, paths);
    }
    paths.push((path, text(if text(at + 1) == "as" { at + 2 } else { at }).to_owned()));
    at + 1
}

/// Whether `path`, as seen from the module `here` with these `children`, is in the same crate, and the path from the
/// root.
fn target(path: Vec<String>, here: &[String], children: &BTreeSet<&str>) -> (bool, Vec<String>) {
    // main.rs is not in a module; it names the library by its name.
    let from_root = path[0] == "crate" || path[0] == "reversi" && here.is_empty();
    if !from_root && !["self", "super"].contains(&path[0].as_str()) && !children.contains(path[0].as_str()) {
        return (false, path);
    }
    let mut full = if from_root { Vec::new() } else { here.to_vec() };
    for part in &path[usize::from(from_root)..] {
        match part.as_str() {
            "self" => {}
            "super" => drop(full.pop()),
            _ => full.push(part.clone()),
        }
    }
    (true, full)
}

/// Whether each token belongs to an item under `#[cfg(test)]`.
fn test_code(tokens: &[Token]) -> Vec<bool> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut marks = vec![false; tokens.len()];
    let starts = (0..tokens.len()).filter(|at| tokens[*at..].iter().map(|token| token.text.as_str()).take(7).eq(MARK));
    for start in starts {
        let mut depth = 0_usize;
        for at in start..tokens.len() {
            marks[at] = true;
            match tokens[at].text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && [";", "}"].contains(&tokens[at].text.as_str()) {
                break;
            }
        }
    }
    marks
}

/// A source split into code and comments, each with all lines. String and character literals are in neither.
pub(super) struct Split {
    pub(super) code: String,
    pub(super) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

pub(super) fn split(text: &str) -> Split {
    let chars: Vec<char> = text.chars().collect();
    let mut split = Split { code: String::new(), comments: String::new() };
    let mut at = 0;
    while at < chars.len() {
        let (kind, length) = piece(&chars[at..]);
        let end = chars.len().min(at + length);
        for c in &chars[at..end] {
            let blank = if *c == '\n' { '\n' } else { ' ' };
            split.code.push(if kind == Kind::Code { *c } else { blank });
            split.comments.push(if kind == Kind::Comment { *c } else { blank });
        }
        at = end;
    }
    split
}

/// The kind and length of the first piece of `rest`.
fn piece(rest: &[char]) -> (Kind, usize) {
    let word = rest.iter().take_while(|c| is_word_char(**c)).count();
    match rest {
        ['/', '/', ..] => (Kind::Comment, rest.iter().take_while(|c| **c != '\n').count()),
        ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
        ['"', ..] => (Kind::Literal, quoted(rest, '"')),
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => (Kind::Literal, quoted(rest, '\'')),
        // The prefixes of other literals remain as one-letter words, which do no harm.
        ['r', ..] | ['b' | 'c', 'r', ..] => match raw_string(&rest[word..]) {
            Some(length) if word <= 2 => (Kind::Literal, word + length),
            _ => (Kind::Code, word),
        },
        _ => (Kind::Code, word.max(1)),
    }
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => depth += 1,
            ['*', '/', ..] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of `#"..."#` with any number of `#`; none for a raw identifier.
fn raw_string(rest: &[char]) -> Option<usize> {
    let marks = rest.iter().take_while(|c| **c == '#').count();
    (rest.get(marks) == Some(&'"')).then_some(())?;
    let end: Vec<char> = iter::once('"').chain(iter::repeat_n('#', marks)).collect();
    let inner = rest[marks + 1..].windows(end.len()).position(|window| window == end)?;
    Some(marks + 1 + inner + end.len())
}

pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
}

/// Words, `::`, and all other characters one by one.
pub(super) fn tokens(code: &str) -> Vec<Token> {
    let mut found = Vec::new();
    for (line, mut rest) in (1..).zip(code.lines()) {
        while let Some(first) = rest.chars().next() {
            let word: usize = rest.chars().take_while(|c| is_word_char(*c)).map(char::len_utf8).sum();
            let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
            if !first.is_whitespace() {
                found.push(Token { text: rest[..length].to_owned(), line });
            }
            rest = &rest[length..];
        }
    }
    found
}

fn is_word(text: &str) -> bool {
    text.chars().next().is_some_and(is_word_char)
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[test]
fn code_comments_and_literals_are_separated() {
    fn words(text: &str) -> Vec<Vec<&str>> {
        text.lines().map(|line| line.split_whitespace().collect()).collect()
    }
    let cases = [
        ("a // b\nc", "a\nc"),
        ("a /* b /* c */ \n d */ e", "a\n e"),
        (r#"f("a // \" b", 'x', '\'', b"y")"#, "f( , , , b )"),
        ("g(r\"\\\", br##\"\"#\"##, r#type)", "g( , , r#type)"),
        ("fn f<'a>(x: &'a u8) {}", "fn f<'a>(x: &'a u8) {}"),
    ];
    for (source, code) in cases {
        assert_eq!(words(&split(source).code), words(code), "{source}");
    }
    assert_eq!(
        split("a // b\n\"// c\" /* d */").comments.split_whitespace().collect::<Vec<_>>(),
        ["//", "b", "/*", "d", "*/"]
    );
}

#[test]
fn names_are_found_in_every_notation() {
    let cases = [
        ("use crate::{ai as x, b::{c, d}};", "crate::ai crate::b crate::b"),
        ("use super::super::room::Room; fn f(x: super::Square) {}", "crate::room crate::rules"),
        ("mod tests { use super::super::super::room; use super::*; }", "crate::room crate::rules"),
        ("mod a { mod b {} use super::c; } use super::super::d;", "crate::rules crate::d"),
        ("use {tokio::io, ::http::Uri as U};", "tokio http"),
        ("use rand;", "rand"),
        ("let x: Vec<tonic::Status> = f::<prost::Any>();", "tonic prost"),
        ("for x in 0..rand::random() { x.http::<u8>(); Vec::<u8>::bytes(); }", "rand"),
        ("pub(crate) fn f(bytes: u8) -> u8 { bytes }", ""),
        ("#[tokio::main] async fn main() { crate::cli::run(); self::f(); }", "tokio crate::cli crate::rules"),
        ("mod b; use b::C; pub(in crate::x) fn f() { b::f() }", "crate::rules crate::rules"),
    ];
    for (source, expected) in cases {
        let names = names(source, &["rules".to_owned(), "square".to_owned()]);
        let root = |named: &Named| format!("{}{}", if named.is_local { "crate::" } else { "" }, named.path[0]);
        let names: Vec<String> = names.iter().map(root).collect();
        assert_eq!(names.join(" "), expected, "{source}");
    }
}
