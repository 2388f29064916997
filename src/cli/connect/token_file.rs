//! Files with a secret token, such as the administrator's. Only the owner may read them.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Write as _},
    path::Path,
};

use anyhow::Context as _;

/// The token in the file; `None` if there is no file or it is empty.
pub(in crate::cli) fn read(file: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

pub(in crate::cli) fn write(file: &Path, token: &str) -> anyhow::Result<()> {
    let written = open(file).and_then(|mut opened| writeln!(opened, "{token}"));
    written.with_context(|| format!("cannot keep a token in {}", file.display()))
}

/// The file is private: a reader of the token could play as its owner.
#[cfg(unix)]
fn open(file: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(opened)
}

#[cfg(not(unix))]
fn open(file: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_file_is_readable_by_its_owner_only() {
        let file = std::env::temp_dir().join(format!("reversi-token-{}", std::process::id()));
        assert_eq!(read(&file).unwrap(), None);
        write(&file, "longer than the next").unwrap();
        write(&file, "secret").unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some("secret"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::remove_file(&file).unwrap();
    }
}
