//! Files that only their owner may read, and that survive a power failure.

use std::{
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
};

/// The path of a file beside another one: its name with `suffix` added.
#[must_use]
pub fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Options for a file that only its owner may read.
#[must_use]
pub fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "other systems have no such mode"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the name of a new or renamed file durable.
///
/// # Errors
/// When the folder cannot be opened or synced.
#[cfg(unix)]
pub fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Other systems cannot sync a folder.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
