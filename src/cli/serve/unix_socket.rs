//! A UNIX socket of the server, and its file.

use std::{
    fs, io,
    os::unix::{
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net::UnixStream,
    },
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use tokio::net::UnixListener;

/// The owner and the group may connect.
const MODE: u32 = 0o660;

pub(super) struct UnixSocket {
    pub(super) socket: UnixListener,
    pub(super) file: SocketFile,
}

/// The file of a socket, removed when this is dropped.
pub(super) struct SocketFile {
    path: PathBuf,
    /// Device and inode, so that the file of a later server is not removed.
    identity: (u64, u64),
}

impl UnixSocket {
    /// Listens at a path. A socket file without a listening process is replaced.
    pub(super) fn bind(path: &Path) -> anyhow::Result<Self> {
        remove_unused(path)?;
        let problem = || format!("cannot listen on {}", path.display());
        let socket = UnixListener::bind(path).with_context(problem)?;
        fs::set_permissions(path, fs::Permissions::from_mode(MODE)).with_context(problem)?;
        let identity = identity(path).with_context(problem)?;
        Ok(Self { socket, file: SocketFile { path: path.to_owned(), identity } })
    }
}

fn remove_unused(path: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(file) if !file.file_type().is_socket() => bail!("{} is a file and no socket", path.display()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot listen on {}", path.display())),
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => bail!("another program listens on {}", path.display()),
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // Without it the next start removes the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}
