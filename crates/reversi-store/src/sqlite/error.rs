//! Why a file cannot be used.

use std::path::PathBuf;

use thiserror::Error;

use super::damage::is_corrupt;

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The folder or its lock cannot be created.
    #[error("cannot use the folder: {0}")]
    Folder(#[from] std::io::Error),
    /// Another server uses the file.
    #[error("another server uses it")]
    InUse,
    /// There is no file, or an empty one.
    #[error("there is no file of a store, or an empty one; nothing was created")]
    Missing,
    /// The write-ahead log beside the file is another file's.
    #[error(
        "the write-ahead log beside it (its name and `-wal`) is not that of this file: was a backup copied over it, or the \
        file removed? Nothing was changed. Put the file back that the log belongs to; or put a backup in place by \
        `reversi restore`. Without the log, `reversi doctor` says what is in the file, but the changes that are only in the \
        log, the latest moves and games, are lost: copy both files before you move the log away"
    )]
    StrayLog,
    /// A copy into the folder was interrupted, or still runs.
    #[error(
        "a copy into this folder is not complete ({}): wait for `reversi store copy`, or repeat it; or remove that folder to \
        start empty", .0.display()
    )]
    Unfinished(PathBuf),
    /// The file is a database of another program.
    #[error("the file is a database of another program")]
    Foreign,
    /// The file was written by a version of the program before the oldest whose files are upgraded.
    #[error(
        "the file is of version {found}, and this program upgrades files from version {oldest} on: start `reversi serve` of \
        revision 967b3f2c with it once, which makes it one of version {oldest}"
    )]
    Older {
        /// The file's version.
        found: i32,
        /// The oldest version that is upgraded.
        oldest: i32,
    },
    /// The file was written by a later version of the program.
    #[error("the file is of version {found}, and this program knows versions up to {known}; use a newer one")]
    Newer {
        /// The file's version.
        found: i32,
        /// The latest version that this program knows.
        known: i32,
    },
    /// The file is damaged.
    #[error(
        "the file is damaged ({0}); `reversi doctor --repair` saves what can be read, or put back a backup, or move it \
        away to start empty"
    )]
    Damaged(String),
    /// No table of this program can be found in the file.
    #[error("none of its tables can be found; put back a backup, or move it away to start empty")]
    NoTables,
    /// A new file cannot have the owner and the mode of the old one.
    #[error("cannot give the new file the owner and the mode of the old one ({0}); run this as root, or as that owner")]
    Owner(std::io::Error),
    /// The database cannot be used.
    #[error("{0}")]
    Database(rusqlite::Error),
}

impl OpenError {
    /// True if the reason may be damage to a file of this program.
    pub(super) fn may_be_damage(&self) -> bool {
        // The number of a real later version is not much higher.
        matches!(self, Self::Damaged(_) | Self::Foreign) || matches!(self, Self::Newer { found, .. } if *found > 255)
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        if is_corrupt(&error) { Self::Damaged(error.to_string()) } else { Self::Database(error) }
    }
}
