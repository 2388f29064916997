//! An output file, created before the games: a bad path must not lose results.

use std::{fs::File, io::Write as _, path::PathBuf};

use anyhow::Context as _;

pub(super) struct OutputFile(Option<(PathBuf, File)>);

impl OutputFile {
    /// Makes it, or empties it.
    pub(super) fn open(path: Option<PathBuf>) -> anyhow::Result<Self> {
        let open = |path: PathBuf| {
            let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
            Ok((path, file))
        };
        path.map(open).transpose().map(Self)
    }

    /// Writes all of it.
    pub(super) fn write(self, text: &str) -> anyhow::Result<()> {
        let Some((path, mut file)) = self.0 else { return Ok(()) };
        file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
    }
}
