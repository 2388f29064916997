//! A file for what comes of the games, made before them: a bad path must not cost what was played.

use std::{fs::File, io::Write as _, path::PathBuf};

use anyhow::Context as _;

/// The file, where one is wanted.
pub(super) struct Output(Option<(PathBuf, File)>);

impl Output {
    /// Makes it, or empties it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn open(path: Option<PathBuf>) -> anyhow::Result<Self> {
        let open = |path: PathBuf| {
            let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
            Ok((path, file))
        };
        path.map(open).transpose().map(Self)
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(self, text: &str) -> anyhow::Result<()> {
        let Some((path, mut file)) = self.0 else { return Ok(()) };
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}
