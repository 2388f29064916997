//! A file of passwords, as all clients of PostgreSQL read it: a line HOST:PORT:DATABASE:USER:PASSWORD for each, of which the
//! first that fits is taken. `*` fits everything, and `\` stands before a `:` or `\` of a name.

use std::{fs, io, path::Path};

/// Who needs a password, and where.
pub(super) struct Login<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// The text of a file; none without a file that may be used.
pub(super) fn read(file: &Path) -> Option<String> {
    match is_private(file).and_then(|is_private| Ok((is_private, fs::read_to_string(file)?))) {
        Ok((true, text)) => Some(text),
        Ok((false, _)) => {
            let file = file.display();
            tracing::warn!("the passwords in {file} are not used, as others may read it; `chmod 0600 {file}`");
            None
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            tracing::warn!(%error, "the passwords in {} cannot be read", file.display());
            None
        }
    }
}

/// Whether only the owner may read a file, as far as the system tells.
#[cfg(unix)]
fn is_private(file: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;

    Ok(fs::metadata(file)?.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_private(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The password for a login in the text of a file.
pub(super) fn find(text: &str, login: &Login<'_>) -> Option<String> {
    let port = login.port.to_string();
    let wanted = [login.host, &port, login.database, login.user];
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(fields);
    let fits = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
    let found = lines.filter(|fields| fields.len() > wanted.len()).find(|fields| fields.iter().zip(wanted).all(fits));
    found?.into_iter().nth(wanted.len()).filter(|password| !password.is_empty())
}

fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut characters) = (Vec::new(), String::new(), line.chars());
    while let Some(character) = characters.next() {
        match character {
            ':' => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(characters.next()),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Files that others may read are not used.
    pub(in crate::postgres::session) fn permit_owner_only(file: &Path) {
        set_mode(file, 0o600);
    }

    #[cfg(unix)]
    fn set_mode(file: &Path, mode: u32) {
        fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }

    #[cfg(not(unix))]
    fn set_mode(_: &Path, _: u32) {}

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# db:5432:games:ada:comment\n\ndb:5432:games:ada:one\\:two\\\\:rest\n*:*:games:bob:\n\
            fe80\\:\\:1:5432:*:*:six\n*:*:*:eve:last\nshort:line\n";
        let find = |host, port, database, user| find(text, &Login { host, port, database, user });
        assert_eq!(find("db", 5432, "games", "ada").as_deref(), Some("one:two\\"));
        assert_eq!(find("db", 5433, "games", "ada"), None);
        assert_eq!(find("db", 5432, "games", "bob"), None);
        assert_eq!(find("fe80::1", 5432, "x", "ada").as_deref(), Some("six"));
        assert_eq!(find("anywhere", 1, "x", "eve").as_deref(), Some("last"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwords");
        assert_eq!(read(&file), None);
        fs::write(&file, "secret").unwrap();
        set_mode(&file, 0o640);
        assert_eq!(read(&file), None);
        set_mode(&file, 0o600);
        assert_eq!(read(&file).as_deref(), Some("secret"));
    }
}
