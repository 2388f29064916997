//! The file of `--keep`: logins at any number of servers, none of which is overwritten.
//!
//! It has a line for each login, the last used one first: the address of the server, the token, or one that is limited
//! to playing, and the player's name.
//!
//! ```text
//! https://reversi.example 5f0c...d2 ada
//! https://a.example,https://b.example 77ab...01 ada
//! ```
//!
//! Servers that were named together are taken for one, in any order: a login of one of them is that of all, and is
//! found by the name of any.
//!
//! A server has no identity but its address, which may change, or become that of another server. So a login is first
//! tried where it was last used, then elsewhere, and it stays in the file when a server does not know it. The exception
//! is TLS, which proves the host: such a login is sent to no other host.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use tonic::codegen::http::Uri;

use crate::{
    client::Session,
    store::files::{beside, private, sync_folder},
};

const HEAD: &str = "# Logins of `reversi --keep`: server, token, name. Who reads a token can play as its player.\n";

/// A player at a server, or at several that share their players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct KeptLogin {
    /// The addresses of the servers; none in files of earlier versions.
    servers: Vec<String>,
    pub(in crate::cli) token: String,
    /// Empty in files of earlier versions.
    name: String,
}

impl KeptLogin {
    pub(in crate::cli) fn new<'a>(servers: impl IntoIterator<Item = &'a str>, session: &Session) -> Self {
        let servers = servers.into_iter().map(address).collect();
        Self { servers, token: session.token().to_owned(), name: session.player().name.clone() }
    }

    pub(in crate::cli) fn is_limited_to_playing(&self) -> bool {
        self.token.starts_with("play_")
    }

    pub(in crate::cli) fn with_token(self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self }
    }

    /// Whether it was used at one of these servers.
    pub(in crate::cli) fn is_of(&self, servers: &[&str]) -> bool {
        servers.iter().any(|server| self.servers.contains(&address(server)))
    }

    /// Adds the servers of another login.
    pub(in crate::cli) fn also_of(&mut self, other: &Self) {
        self.servers.extend(other.servers.iter().cloned());
        self.servers.sort();
        self.servers.dedup();
    }

    pub(in crate::cli) fn has_servers_of(&self, other: &Self) -> bool {
        self.servers.len() == other.servers.len() && self.servers.iter().all(|server| other.servers.contains(server))
    }

    /// Whether the token may be sent to these servers: one is at the same host, or it is of an unknown one. Others must
    /// not collect the logins of a file.
    pub(in crate::cli) fn may_be_sent_to(&self, servers: &[&str]) -> bool {
        let url = |server: &str| server.parse::<Uri>().ok();
        let host = |server: &str| Some(url(server)?.host()?.to_ascii_lowercase());
        let is_secure = |server: &str| url(server).is_some_and(|url| url.scheme_str() == Some("https"));
        let is_at_host = |server: &&str| {
            let host_of_server = host(server);
            host_of_server.is_some() && self.servers.iter().any(|own| host(own) == host_of_server)
        };
        // Never from TLS to none.
        let was_secure = self.servers.iter().all(|own| is_secure(own));
        self.servers.is_empty()
            || servers.iter().any(is_at_host) && (!was_secure || servers.iter().all(|server| is_secure(server)))
    }

    /// The line of the file.
    pub(in crate::cli) fn line(&self) -> String {
        let servers = if self.servers.is_empty() { "-".to_owned() } else { self.servers.join(",") };
        format!("{servers} {} {}", self.token, self.name)
    }

    fn parse(line: &str) -> Option<Self> {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let digits = first.strip_prefix("play_").unwrap_or(first);
        // A file of an earlier version has only the token.
        if digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) && rest.is_empty() {
            return Some(Self { servers: Vec::new(), token: first.to_owned(), name: String::new() });
        }
        let (token, name) = rest.split_once(' ').unwrap_or((rest, ""));
        let servers: Vec<_> = first.split(',').filter(|&server| server != "-").map(str::to_owned).collect();
        let are_servers = servers.iter().all(|server| server.contains("://"));
        (are_servers && is_token(token)).then(|| Self { servers, token: token.to_owned(), name: name.to_owned() })
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_graphic())
}

/// The address of a server in the form that is compared.
fn address(server: &str) -> String {
    server.trim_end_matches('/').to_ascii_lowercase()
}

/// The logins in a file; none if there is no file. Includes those in files that earlier versions have put beside it.
pub(in crate::cli) fn read(file: &Path) -> anyhow::Result<Vec<KeptLogin>> {
    Ok(read_with_older(file)?.0)
}

/// Stores a login as the last used one, in place of an entry with its token.
pub(in crate::cli) fn put(file: &Path, login: KeptLogin) -> anyhow::Result<()> {
    ensure!(is_token(&login.token), "the server's token cannot be kept in a file");
    change(file, |logins| {
        logins.retain(|kept| kept.token != login.token);
        logins.insert(0, login);
    })
}

/// Removes a login, and the file after the last one.
pub(in crate::cli) fn remove(file: &Path, token: &str) -> anyhow::Result<()> {
    change(file, |logins| logins.retain(|kept| kept.token != token))
}

/// Changes the file in one step: no crash leaves half of it, and no change by another process is lost.
fn change(file: &Path, change: impl FnOnce(&mut Vec<KeptLogin>)) -> anyhow::Result<()> {
    // A link stays one.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let _lock = lock(file).with_context(|| format!("cannot keep a login in {}", file.display()))?;
    let (mut logins, older) = read_with_older(file)?;
    change(&mut logins);
    write(file, &logins).with_context(|| format!("cannot keep a login in {}", file.display()))?;
    for adopted in older {
        fs::remove_file(&adopted).with_context(|| format!("cannot remove {}", adopted.display()))?;
    }
    Ok(())
}

/// The logins, and the files of earlier versions that they were read from, too: `FILE.new` had the next token while one
/// was replaced, `FILE.old` the login of another server.
fn read_with_older(file: &Path) -> anyhow::Result<(Vec<KeptLogin>, Vec<PathBuf>)> {
    let not_ours = || format!("{} is not a file of --keep; name another one", file.display());
    let mut logins = read_one(file)?.with_context(not_ours)?;
    let mut older = Vec::new();
    // Who removes the file wants a new login.
    let suffixes: &[&str] = if logins.is_empty() { &[".new"] } else { &[".new", ".old"] };
    for path in suffixes.iter().map(|suffix| beside(file, suffix)) {
        let Some(more) = read_one(&path)?.filter(|more| !more.is_empty()) else { continue };
        for login in more {
            if !logins.iter().any(|kept| kept.token == login.token) {
                logins.push(login);
            }
        }
        older.push(path);
    }
    Ok((logins, older))
}

/// The logins in this file alone; `None` if it is another kind of file.
fn read_one(file: &Path) -> anyhow::Result<Option<Vec<KeptLogin>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok().and_then(|text| {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.map(KeptLogin::parse).collect()
        })),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(Vec::new())),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Replaces the file, so that a reader sees the old or the new one.
fn write(file: &Path, logins: &[KeptLogin]) -> std::io::Result<()> {
    if logins.is_empty() {
        return fs::remove_file(file);
    }
    let temporary = beside(file, ".tmp");
    // Left behind by a crash; it may have other rights.
    let _ = fs::remove_file(&temporary);
    let mut opened = private().write(true).create_new(true).open(&temporary)?;
    opened.write_all(HEAD.as_bytes())?;
    for login in logins {
        writeln!(opened, "{}", login.line())?;
    }
    opened.sync_all()?;
    fs::rename(&temporary, file)?;
    sync_folder(file)
}

/// Waits for other processes that change the file, and keeps them out while the result lives. Makes the file if there
/// is none.
fn lock(file: &Path) -> std::io::Result<File> {
    loop {
        let opened = private().read(true).append(true).create(true).open(file)?;
        opened.lock()?;
        // Another process may have replaced it meanwhile.
        if is_at(&opened, file) {
            return Ok(opened);
        }
    }
}

#[cfg(unix)]
fn is_at(opened: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let same = |at: &fs::Metadata, opened: &fs::Metadata| (at.dev(), at.ino()) == (opened.dev(), opened.ino());
    fs::metadata(path).is_ok_and(|at| opened.metadata().is_ok_and(|opened| same(&at, &opened)))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that is removed with this.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("reversi-{name}-{}", std::process::id()));
            fs::create_dir(&folder).unwrap();
            Self(folder)
        }

        fn file(&self) -> PathBuf {
            self.0.join("keep")
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = entries.collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn login(servers: Option<&str>, number: u8, name: &str) -> KeptLogin {
        let servers = servers.into_iter().flat_map(|servers| servers.split(',')).map(str::to_owned).collect();
        KeptLogin { servers, token: format!("{number:064x}"), name: name.into() }
    }

    #[test]
    fn no_login_is_overwritten() {
        let folder = Folder::new("keep-many");
        let file = folder.file();
        assert_eq!(read(&file).unwrap(), []);
        let logins: Vec<_> = (0..20).rev().map(|n| login(Some(&format!("http://h:{}", n % 3)), n, "a  b ")).collect();
        for login in logins.iter().rev() {
            put(&file, login.clone()).unwrap();
        }
        assert_eq!(
            read(&file).unwrap().iter().map(|login| &login.token).collect::<Vec<_>>(),
            logins.iter().map(|login| &login.token).collect::<Vec<_>>()
        );
        put(&file, logins[7].clone()).unwrap();
        assert_eq!((read(&file).unwrap().len(), &read(&file).unwrap()[0].token), (20, &logins[7].token));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        for login in &logins {
            remove(&file, &login.token).unwrap();
        }
        assert!(folder.names().is_empty());
    }

    #[test]
    fn processes_do_not_lose_the_logins_of_each_other() {
        let folder = Folder::new("keep-threads");
        let file = &folder.file();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || (0..8).for_each(|n| put(file, login(None, thread * 8 + n, "")).unwrap()));
            }
        });
        assert_eq!(read(file).unwrap().len(), 64);
        assert_eq!(folder.names(), ["keep"]);
    }

    #[test]
    fn files_of_earlier_versions_become_parts_of_the_one_file() {
        let folder = Folder::new("keep-older");
        let file = folder.file();
        let bare = |suffix, number: u8| fs::write(beside(&file, suffix), format!("{number:064x}\n")).unwrap();
        bare(".old", 1);
        assert_eq!(read(&file).unwrap(), [], "the file was removed, for a new login");
        bare("", 2);
        bare(".new", 3);
        assert_eq!(read(&file).unwrap(), [2, 3, 1].map(|number| login(None, number, "")));
        put(&file, login(Some("http://h:1"), 1, "ada")).unwrap();
        let expected = [login(Some("http://h:1"), 1, "ada"), login(None, 2, ""), login(None, 3, "")];
        assert_eq!((read(&file).unwrap(), folder.names()), (expected.to_vec(), vec!["keep".to_owned()]));
    }

    #[test]
    fn a_file_of_another_kind_is_left_as_it_is() {
        let folder = Folder::new("keep-other");
        let file = folder.file();
        for text in ["hello\n", "my notes of today", "\u{fffd}", "http://h:1\n"] {
            fs::write(&file, text).unwrap();
            let refused = put(&file, login(None, 1, "")).unwrap_err();
            assert!(refused.to_string().contains("not a file of --keep"), "{refused}");
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        fs::write(beside(&file, ".old"), "my notes of today").unwrap();
        fs::write(&file, "").unwrap();
        put(&file, login(None, 1, "")).unwrap();
        assert_eq!((read(&file).unwrap().len(), folder.names()), (1, vec!["keep".to_owned(), "keep.old".to_owned()]));
    }

    #[test]
    fn a_login_is_sent_to_its_host_only_and_never_from_tls_to_none() {
        let sent = |from: Option<&str>, to: &str| login(from, 1, "").may_be_sent_to(&[to]);
        for to in ["http://a:1", "https://a"] {
            assert!(sent(None, to) && sent(Some("http://a:2"), to) && !sent(Some("http://b:1"), to));
        }
        let secure = Some("https://a.example:1");
        assert!(sent(secure, "https://A.example") && sent(secure, "https://a.example:2/"));
        for to in
            ["http://a.example:1", "https://b.example:1", "https://a.example.b", "https://a.example@b", "nonsense"]
        {
            assert!(!sent(secure, to), "{to}");
        }
    }

    #[test]
    fn a_login_of_several_servers_is_that_of_each_in_any_order() {
        let folder = Folder::new("keep-several");
        let both = login(Some("http://a:1,https://b:2"), 1, "ada");
        put(&folder.file(), both.clone()).unwrap();
        assert_eq!(read(&folder.file()).unwrap(), std::slice::from_ref(&both));
        for servers in [&["https://B:2/", "http://a:1"][..], &["http://a:1"], &["http://c:3", "https://b:2"]] {
            assert!(both.is_of(servers) && both.may_be_sent_to(servers), "{servers:?}");
        }
        assert!(!both.is_of(&["http://c:3"]) && !both.may_be_sent_to(&["http://c:3"]));
        let mut grown = login(Some("http://c:3,https://b:2"), 1, "ada");
        assert!(!grown.has_servers_of(&both));
        grown.also_of(&both);
        assert!(grown.is_of(&["http://a:1"]) && grown.is_of(&["http://c:3"]));
        assert!(login(Some("https://b:2,http://a:1"), 1, "").has_servers_of(&both));
        let secure = login(Some("https://a,https://b"), 1, "");
        assert!(
            secure.may_be_sent_to(&["https://b", "https://c"]) && !secure.may_be_sent_to(&["https://b", "http://a"])
        );
    }
}
