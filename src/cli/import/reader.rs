//! Reads the games of a file one by one, as a file may be larger than the memory.

use std::{
    fs::File,
    io::{BufRead, BufReader, Cursor, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use super::imported_game::ImportedGame;
use crate::{
    cli::terminal::{
        line::{self, BoundedLine},
        progress::Progress,
    },
    room::{
        EndReason,
        ggf::{self, GgfResult},
        wthor::{self, WthorFile, WthorGame},
    },
};

/// How games are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ImportFormat {
    /// The database of the French federation.
    Wthor,
    /// The Generic Game Format.
    Ggf,
    /// f5d6c3..., one game a line.
    Transcript,
}

/// The maximum of a line and of a game in GGF.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum of a file of names: enough for every number that a game can have.
const MAX_NAMES_BYTES: u64 = 4 << 20;

/// The first bytes of files of gzip, bzip2, xz, Zstandard and ZIP.
const COMPRESSED: [&[u8]; 5] = [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"];

/// Number of first bytes that determine a file's format.
const SNIFFED_BYTES: u64 = 4096;

/// Called with the location of a game in its file, and the game or its error.
pub(super) type OnGame<'a> = dyn FnMut(String, Result<ImportedGame, String>) -> anyhow::Result<()> + 'a;

/// Calls `on_game` for every game of a file, and shows the progress.
pub(super) fn read(
    path: &Path,
    file: impl Read,
    format: Option<ImportFormat>,
    progress: &Progress,
    on_game: &mut OnGame<'_>,
) -> anyhow::Result<()> {
    let mut file = progress.wrap_read(file);
    let mut head = Vec::new();
    file.by_ref().take(SNIFFED_BYTES).read_to_end(&mut head)?;
    if COMPRESSED.iter().any(|magic| head.starts_with(magic)) {
        bail!("it is compressed; unpack it first, as `gunzip -c FILE | reversi import -`");
    }
    let format = format.unwrap_or_else(|| guess(path, &head));
    // A pipe can be read once.
    let file = Cursor::new(head).chain(file);
    let source = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut on_game = |location: String, game: Result<ImportedGame, String>| {
        on_game(location, game.map(|game| ImportedGame { source: source.clone(), ..game }))
    };
    match format {
        ImportFormat::Wthor => wthor(path, file, &mut on_game),
        ImportFormat::Ggf => ggf(BufReader::new(file), &mut on_game),
        ImportFormat::Transcript => transcripts(BufReader::new(file), &mut on_game),
    }
}

/// Detects the format by the file's extension, or else by its first bytes.
fn guess(path: &Path, head: &[u8]) -> ImportFormat {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "wtb" => ImportFormat::Wthor,
        "ggf" | "ggs" => ImportFormat::Ggf,
        _ if head.windows(2).any(|bytes| bytes == b"(;") => ImportFormat::Ggf,
        _ if head.contains(&0) && WthorFile::read(head).is_ok() => ImportFormat::Wthor,
        _ => ImportFormat::Transcript,
    }
}

fn transcripts(mut input: impl BufRead, found: &mut OnGame<'_>) -> anyhow::Result<()> {
    for number in 1_u64.. {
        let game = match line::next(&mut input, MAX_BYTES)? {
            None => break,
            Some(BoundedLine::Text(line)) if line.is_empty() => continue,
            Some(BoundedLine::Text(line)) => {
                line.parse().map(|game| ImportedGame::of(&game)).map_err(|error| error.to_string())
            }
            Some(BoundedLine::TooLong) => Err("the line is too long".to_owned()),
        };
        found(format!("line {number}"), game)?;
    }
    Ok(())
}

/// Reads games in GGF; a line may have several, and a game several lines.
fn ggf(mut input: impl BufRead, found: &mut OnGame<'_>) -> anyhow::Result<()> {
    let (mut text, mut began) = (String::new(), 1_u64);
    for number in 1_u64.. {
        if text.trim().is_empty() {
            began = number;
        }
        let next = line::next(&mut input, MAX_BYTES)?;
        let wrong = match &next {
            Some(BoundedLine::Text(line)) => {
                text.push_str(line);
                text.push('\n');
                while let Some(end) = ggf::end(&text) {
                    let game: String = text.drain(..end).collect();
                    let game = ggf::read(&game).map_err(|error| error.to_string()).and_then(ImportedGame::read);
                    found(format!("line {began}"), game)?;
                    began = number;
                }
                (text.len() > MAX_BYTES).then_some("a game is too long")
            }
            Some(BoundedLine::TooLong) => Some("the line is too long"),
            None => text.contains("(;").then_some("the game does not end"),
        };
        if let Some(wrong) = wrong {
            found(format!("line {began}"), Err(wrong.to_owned()))?;
            text.clear();
        }
        if next.is_none() {
            break;
        }
        // Text between games is skipped.
        if !text.contains("(;") && !text.trim_end().ends_with('(') {
            text.clear();
        }
    }
    Ok(())
}

fn wthor(path: &Path, input: impl Read, found: &mut OnGame<'_>) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    input.take(wthor::MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    let file = WthorFile::read(&bytes)?;
    let names = Names {
        players: read_names(path, "jou", wthor::PLAYER)?,
        tournaments: read_names(path, "trn", wthor::TOURNAMENT)?,
        year: file.year,
    };
    for (number, (at, game)) in (1_u64..).zip(file.games()) {
        let game = game.map(|game| names.imported(&game)).map_err(|error| error.to_string());
        found(format!("game {number} at byte {at}"), game)?;
    }
    Ok(())
}

/// The players' and tournaments' names of a WTHOR file, by number.
struct Names {
    players: Vec<String>,
    tournaments: Vec<String>,
    year: u16,
}

impl Names {
    fn imported(&self, game: &WthorGame) -> ImportedGame {
        let name = |names: &[String], what: &str, number: u16| {
            let name = names.get(usize::from(number)).filter(|name| !name.trim().is_empty());
            name.cloned().unwrap_or_else(|| format!("{what} {number}"))
        };
        let mut imported = ImportedGame::of(&game.transcript);
        imported.place = name(&self.tournaments, "tournament", game.tournament);
        imported.date = format!("{:04}", self.year);
        imported.players.black = name(&self.players, "player", game.black);
        imported.players.white = name(&self.players, "player", game.white);
        let margin = i16::from(game.black_discs.min(64)) * 2 - 64;
        imported.result = i8::try_from(margin).ok().map(|margin| GgfResult { margin, reason: EndReason::Discs });
        imported
    }
}

/// Reads the names from the file with `extension` in the folder of `path`: that with the same stem, or else the first.
fn read_names(path: &Path, extension: &str, width: usize) -> anyhow::Result<Vec<String>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot look into {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_one = |path: &PathBuf| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension));
    let chosen = paths.filter(is_one).min_by_key(|found| (found.file_stem() != path.file_stem(), found.clone()));
    let Some(chosen) = chosen else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    let file = File::open(&chosen).with_context(|| format!("cannot read {}", chosen.display()))?;
    file.take(MAX_NAMES_BYTES).read_to_end(&mut bytes)?;
    Ok(wthor::names(&bytes, width))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Reader = fn(&[u8], &mut OnGame<'_>) -> anyhow::Result<()>;

    /// The place of each game, and its first move or error.
    fn found(read: Reader, text: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        let take = &mut |place: String, game: Result<ImportedGame, String>| {
            let first = game.map(|game| game.plies.first().and_then(|ply| ply.square).map(|square| square.to_string()));
            all.push(format!("{place}: {}", first.map_or_else(|wrong| wrong, Option::unwrap_or_default)));
            Ok(())
        };
        read(text, take).unwrap();
        all
    }

    fn of_transcripts(text: &[u8], found: &mut OnGame<'_>) -> anyhow::Result<()> {
        transcripts(text, found)
    }

    fn of_ggf(text: &[u8], found: &mut OnGame<'_>) -> anyhow::Result<()> {
        ggf(text, found)
    }

    #[test]
    fn transcripts_are_read_one_per_line() {
        let text = format!("f5d6\n\nf5f5\nD3 c3\n{}\nc4", "f5".repeat(MAX_BYTES));
        assert_eq!(
            found(of_transcripts, text.as_bytes()),
            [
                "line 1: f5",
                "line 3: move 2 is illegal: white may not move to f5",
                "line 4: d3",
                "line 5: the line is too long",
                "line 6: c4"
            ]
        );
    }

    #[test]
    fn ggf_games_are_found_anywhere() {
        let text = "games of today\n2 (;GM[Othello]B[f5];)(;GM[Othello]B[c4];)\n(;GM[Othello]\n B[d3]\n;)\n\n(;B[a1];)\nbye (;B[e6]";
        assert_eq!(
            found(of_ggf, text.as_bytes()),
            [
                "line 2: f5",
                "line 2: c4",
                "line 3: d3",
                "line 7: move 1 is illegal: black may not move to a1",
                "line 8: the game does not end"
            ]
        );
    }

    #[test]
    fn a_name_does_not_end_a_game() {
        let text = "(;PB[a ;) b]B[f5];)(;PB[c\n;)]B[c4];)";
        assert_eq!(found(of_ggf, text.as_bytes()), ["line 1: f5", "line 1: c4"]);
    }

    #[test]
    fn a_game_without_an_end_is_not_buffered_for_ever() {
        let text = format!("(;GM[Othello]\n{}(;B[f5];)", "B[f5]\n".repeat(MAX_BYTES / 5));
        let found = found(of_ggf, text.as_bytes());
        assert_eq!(found[0], "line 1: a game is too long");
        assert!(found.last().unwrap().ends_with(": f5"), "{found:?}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r"(\(;|;\)|B\[[a-h][1-8]\]|f5|d6|\n|\(|.){0,60}") {
            found(of_ggf, text.as_bytes());
            found(of_transcripts, text.as_bytes());
        }
    }
}
