//! Where a database is and how to connect to it: its URL, with the meaning that libpq gives it.

use std::{env, ffi::OsString, path::PathBuf, time::Duration};

use percent_encoding::percent_decode_str;
use tokio::task::JoinSet;
use tokio_postgres::{
    Client, Connection, Error, NoTls, Socket,
    config::{Host, SslMode, TargetSessionAttrs},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    password_file::{self, Login},
    tls::{self, Trust},
};
use crate::postgres::error::{PostgresError, describe};

const PORT: u16 = 5432;

/// Time for a connection to one of several hosts.
const OF_SEVERAL: Duration = Duration::from_millis(500);

/// How to connect to a database.
#[derive(Clone)]
pub(in crate::postgres) struct Config {
    database: tokio_postgres::Config,
    encryption: Encryption,
    tls: MakeRustlsConnect,
}

/// Whether connections use TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encryption {
    Never,
    /// Only if the database refuses a connection without it.
    IfNecessary,
    /// Unless the database has none, or refuses a connection with it.
    IfPossible,
    Always,
}

/// Options of a URL that [`tokio_postgres::Config`] does not know, or gives another meaning.
#[derive(Default)]
struct Options {
    ssl_mode: Option<String>,
    ssl_root_cert: Option<String>,
    pass_file: Option<String>,
    target_session_attrs: Option<String>,
}

impl Config {
    /// Parses the URL of a database. A connection that is silent for `patience` is given up.
    pub(in crate::postgres) fn parse(url: &str, patience: Duration) -> Result<Self, PostgresError> {
        Self::parse_with(url, patience, |name| env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn parse_with(
        url: &str,
        patience: Duration,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PostgresError> {
        check_characters(url)?;
        let (url, options) = Options::take_from(url);
        let mut database: tokio_postgres::Config =
            url.parse().map_err(|error: Error| PostgresError::Url(describe(&error)))?;
        if database.get_application_name().is_none() {
            database.application_name("reversi");
        }
        if database.get_connect_timeout().is_none() {
            // They are tried one after the other, within the shortest lease if the first one has lost its power.
            let is_one = database.get_hosts().len().max(database.get_hostaddrs().len()) < 2;
            database.connect_timeout(if is_one { patience } else { patience.min(OF_SEVERAL) });
        }
        let keepalives = database.tcp_user_timeout(patience).keepalives_idle(patience);
        keepalives.keepalives_interval(patience / 4).keepalives_retries(4);
        options.check_target()?;
        // Of several hosts the one that can be written.
        database.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if database.get_password().is_none() {
            let password = match variable("PGPASSWORD") {
                Some(password) => Some(password.to_string_lossy().into_owned()),
                None => options.password_of(&database, &variable)?,
            };
            password.map(|password| database.password(password));
        }
        let (encryption, trust) = options.security(&variable)?;
        let is_local = database.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)));
        let is_local = is_local && database.get_hostaddrs().is_empty();
        // As there is no TLS over UNIX sockets, its options mean nothing there.
        let encryption = if is_local { Encryption::Never } else { encryption };
        let trust = if is_local { Trust::Anyone } else { trust };
        Ok(Self { database, encryption, tls: tls::connector(trust)? })
    }

    /// Connects, within a runtime that lives as long as the connection. The task reads and writes the socket.
    pub(super) async fn connect(&self) -> Result<(Client, JoinSet<()>), Error> {
        match self.encryption {
            Encryption::Never => self.connect_by(SslMode::Disable, NoTls).await,
            Encryption::Always => self.connect_by(SslMode::Require, self.tls.clone()).await,
            Encryption::IfPossible => match self.connect_by(SslMode::Prefer, self.tls.clone()).await {
                // What the database said by TLS, such as of a wrong password, says more than that it wants TLS.
                Err(error) if error.as_db_error().is_some() => {
                    self.connect_by(SslMode::Disable, NoTls).await.map_err(|_| error)
                }
                Err(_) => self.connect_by(SslMode::Disable, NoTls).await,
                connected => connected,
            },
            Encryption::IfNecessary => match self.connect_by(SslMode::Disable, NoTls).await {
                Err(error) if error.as_db_error().is_some() => {
                    self.connect_by(SslMode::Require, self.tls.clone()).await
                }
                connected => connected,
            },
        }
    }

    async fn connect_by<T>(&self, mode: SslMode, tls: T) -> Result<(Client, JoinSet<()>), Error>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let mut database = self.database.clone();
        let (client, connection): (Client, Connection<Socket, T::Stream>) =
            database.ssl_mode(mode).connect(tls).await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = describe(&error), "a connection to the database has ended");
            }
        });
        Ok((client, driver))
    }
}

impl Options {
    /// Takes the options of this program out of a URL.
    fn take_from(url: &str) -> (String, Self) {
        let mut options = Self::default();
        let Some((place, query)) = url.split_once('?') else { return (url.to_owned(), options) };
        let is_other = |option: &&str| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let taken = match name {
                "sslmode" => &mut options.ssl_mode,
                "sslrootcert" => &mut options.ssl_root_cert,
                "passfile" => &mut options.pass_file,
                "target_session_attrs" => &mut options.target_session_attrs,
                _ => return true,
            };
            *taken = Some(percent_decode_str(value).decode_utf8_lossy().into_owned());
            false
        };
        let others: Vec<&str> = query.split('&').filter(is_other).collect();
        (format!("{place}?{}", others.join("&")), options)
    }

    fn check_target(&self) -> Result<(), PostgresError> {
        match self.target_session_attrs.as_deref() {
            None | Some("any" | "read-write" | "primary") => Ok(()),
            Some(other) => Err(PostgresError::Option(format!(
                "target_session_attrs={other} is not possible, as the server writes; of several hosts it takes the one \
                that can be written"
            ))),
        }
    }

    /// Whether connections use TLS, and whose certificates are accepted.
    fn security(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<(Encryption, Trust), PostgresError> {
        let of_variable = |name: &str| variable(name).map(|value| value.to_string_lossy().into_owned());
        let root = self.ssl_root_cert.clone().or_else(|| of_variable("PGSSLROOTCERT"));
        let root = root.as_deref().filter(|root| !root.is_empty());
        let file = match root {
            Some(root) => Some(PathBuf::from(root)),
            None => in_home(".postgresql/root.crt", &variable).filter(|file| file.exists()),
        };
        let default = if root == Some("system") { "verify-full" } else { "prefer" };
        let mode = self.ssl_mode.clone().or_else(|| of_variable("PGSSLMODE")).unwrap_or_else(|| default.to_owned());
        Ok(match (mode.as_str(), root, file) {
            ("verify-full", Some("system"), _) | ("verify-full", None, None) => (Encryption::Always, Trust::System),
            ("disable", _, _) => (Encryption::Never, Trust::Anyone),
            ("allow" | "prefer" | "require" | "verify-ca", Some("system"), _) => {
                return Err(PostgresError::Option(format!(
                    "sslrootcert=system needs sslmode=verify-full, and not {mode}: anyone can get a certificate of a public \
                    authority, for another name"
                )));
            }
            ("allow", _, _) => (Encryption::IfNecessary, Trust::Anyone),
            ("prefer", _, _) => (Encryption::IfPossible, Trust::Anyone),
            ("require", _, None) => (Encryption::Always, Trust::Anyone),
            ("require" | "verify-ca", _, Some(file)) => (Encryption::Always, Trust::Authority(file)),
            ("verify-full", _, Some(file)) => (Encryption::Always, Trust::AuthorityAndName(file)),
            ("verify-ca", _, None) => {
                return Err(PostgresError::Option(
                    "sslmode=verify-ca needs sslrootcert=FILE, with the certificate of the database's authority"
                        .to_owned(),
                ));
            }
            (other, _, _) => {
                return Err(PostgresError::Option(format!(
                    "sslmode={other} is none of disable, allow, prefer, require, verify-ca and verify-full"
                )));
            }
        })
    }

    /// The password in a file, if there is one.
    fn password_of(
        &self,
        database: &tokio_postgres::Config,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<String>, PostgresError> {
        let named = self.pass_file.as_ref().map(PathBuf::from).or_else(|| variable("PGPASSFILE").map(PathBuf::from));
        let Some(file) = named.or_else(|| in_home(".pgpass", &variable)) else { return Ok(None) };
        let Some(text) = password_file::read(&file) else { return Ok(None) };
        let user = database.get_user().unwrap_or_default();
        let name = database.get_dbname().unwrap_or(user);
        let addresses = database.get_hostaddrs().iter().map(ToString::to_string);
        let hosts: Vec<String> = match database.get_hosts() {
            [] => addresses.collect(),
            hosts => hosts.iter().map(host_text).collect(),
        };
        let ports = database.get_ports();
        let mut found = hosts.iter().enumerate().map(|(index, host)| {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(PORT);
            password_file::find(&text, &Login { host, port, database: name, user })
        });
        let first = found.next().flatten();
        if found.any(|password| password != first) {
            let file = file.display();
            return Err(PostgresError::Option(format!(
                "{file} has another password for each host; all hosts of the URL need the same"
            )));
        }
        Ok(first)
    }
}

fn host_text(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    }
}

fn in_home(file: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    Some(PathBuf::from(variable("HOME")?).join(file))
}

/// Finds special characters that are not percent-encoded: what follows them would be read as another part of the URL.
/// The error does not contain any part of the password.
fn check_characters(url: &str) -> Result<(), PostgresError> {
    let Some((_, rest)) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "postgres" | "postgresql"))
    else {
        return Err(PostgresError::Url("it does not begin with postgres://".to_owned()));
    };
    let place = rest.split('?').next().unwrap_or(rest);
    // An `@` in an option is refused as well, as it cannot be told from one in a password with a `?`.
    let login = rest.rsplit_once('@').map_or("", |(login, _)| login);
    let is_encoded = |part: &str| {
        let digits = part.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let is_ambiguous = login.contains(['@', '/', '?']) || place.matches('@').count() > 1;
    if is_ambiguous || !login.split('%').skip(1).all(is_encoded) {
        return Err(PostgresError::SpecialCharacter);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, fs};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn parsed(url: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let variables: HashMap<_, _> = variables.iter().copied().collect();
        let parsed = Config::parse_with(url, PATIENCE, |name| variables.get(name).map(OsString::from));
        parsed.map_err(|error| error.to_string())
    }

    fn password(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let config = parsed(url, variables).unwrap();
        config.database.get_password().map(|password| String::from_utf8(password.to_vec()).unwrap())
    }

    #[test]
    fn a_raw_special_character_in_a_password_is_explained_and_the_password_is_not_shown() {
        for secret in ["se@cret", "se/cret", "se?cret", "se%cret", "secret%", "se@cr/et", "se@cr?et=1", "%4"] {
            let refused = parsed(&format!("postgres://reversi:{secret}@db/reversi"), &[]).err().unwrap();
            assert!(refused.contains("as %40") && !refused.contains("cr"), "{secret}: {refused}");
        }
        for (written, meant) in [("se%40cret", "se@cret"), ("se#cret:+&= !", "se#cret:+&= !"), ("%25%2F%3f", "%/?")] {
            let found = password(&format!("postgres://reversi:{written}@db/reversi"), &[]);
            assert_eq!(found.as_deref(), Some(meant));
        }
        let refused = parsed("host=db password=secret", &[]).err().unwrap();
        assert!(refused.contains("postgres://") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn a_password_is_that_of_the_url_or_of_the_environment_or_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwords");
        fs::write(&file, "one:5433:games:reversi:of one\ntwo:*:*:*:of two\n").unwrap();
        password_file::tests::permit_owner_only(&file);
        let file = file.to_str().unwrap();
        let in_file = [("PGPASSFILE", file)];
        assert_eq!(password("postgres://reversi@one:5433/games", &in_file).as_deref(), Some("of one"));
        assert_eq!(password("postgres://reversi@one/games", &in_file), None);
        assert_eq!(password("postgres://reversi@two", &in_file).as_deref(), Some("of two"));
        let by_url = format!("postgres://reversi@two/games?passfile={}", file.replace('/', "%2F"));
        assert_eq!(password(&by_url, &[("PGPASSFILE", "/nowhere")]).as_deref(), Some("of two"));
        let all = [("PGPASSFILE", file), ("PGPASSWORD", "of all")];
        assert_eq!(password("postgres://reversi@two", &all).as_deref(), Some("of all"));
        assert_eq!(password("postgres://reversi:mine@two", &all).as_deref(), Some("mine"));
        let refused = parsed("postgres://reversi@one:5433,two:5433/games", &in_file).err().unwrap();
        assert!(refused.contains("another password for each host"), "{refused}");
    }

    #[test]
    fn each_sslmode_has_the_meaning_of_libpq() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("root.crt");
        let home = folder.path().to_str().unwrap();
        let security = |options: &str| {
            let (_, options) = Options::take_from(&format!("postgres://db/games?{options}"));
            let variable = |name: &str| (name == "HOME").then(|| home.into());
            options.security(variable).map_err(|error| error.to_string())
        };
        let with_file = format!("sslrootcert={}&sslmode=", file.display());
        let (authority, name) = (Trust::Authority(file.clone()), Trust::AuthorityAndName(file));
        for (options, encryption, trust) in [
            ("", Encryption::IfPossible, Trust::Anyone),
            ("sslmode=disable", Encryption::Never, Trust::Anyone),
            ("sslmode=allow", Encryption::IfNecessary, Trust::Anyone),
            ("sslmode=prefer", Encryption::IfPossible, Trust::Anyone),
            ("sslmode=require", Encryption::Always, Trust::Anyone),
            ("sslmode=verify-full", Encryption::Always, Trust::System),
            ("sslrootcert=system", Encryption::Always, Trust::System),
            (&format!("{with_file}require"), Encryption::Always, authority.clone()),
            (&format!("{with_file}verify-ca"), Encryption::Always, authority.clone()),
            (&format!("{with_file}verify-full"), Encryption::Always, name),
        ] {
            assert_eq!(security(options), Ok((encryption, trust)), "{options}");
        }
        for (options, reason) in [
            ("sslmode=verify-ca", "needs sslrootcert=FILE"),
            ("sslmode=require&sslrootcert=system", "needs sslmode=verify-full"),
            ("sslmode=on", "none of disable, allow"),
        ] {
            let refused = security(options).unwrap_err();
            assert!(refused.contains(reason), "{options}: {refused}");
        }
        let own = folder.path().join(".postgresql/root.crt");
        fs::create_dir(own.parent().unwrap()).unwrap();
        fs::write(&own, "").unwrap();
        assert_eq!(security("sslmode=require"), Ok((Encryption::Always, Trust::Authority(own))));
    }

    /// Else a host that has lost its power would keep each renewal of a lease from the next host.
    #[test]
    fn the_next_of_several_hosts_is_tried_within_a_lease() {
        let waits = |url: &str| *parsed(url, &[]).unwrap().database.get_connect_timeout().unwrap();
        assert_eq!(waits("postgres://one/games"), PATIENCE);
        assert_eq!(waits("postgres://one,two/games"), OF_SEVERAL);
        assert_eq!(waits("postgres://one,two/games?connect_timeout=2"), Duration::from_secs(2));
    }

    #[test]
    fn the_security_may_be_that_of_the_environment() {
        let encryption = |url: &str| parsed(url, &[("PGSSLMODE", "disable")]).unwrap().encryption;
        assert_eq!(encryption("postgres://db/games"), Encryption::Never);
        assert_eq!(encryption("postgres://db/games?sslmode=require"), Encryption::Always);
        let refused = parsed("postgres://db/games", &[("PGSSLROOTCERT", "system"), ("PGSSLMODE", "require")]);
        assert!(refused.err().unwrap().contains("needs sslmode=verify-full"));
    }

    #[test]
    fn only_hosts_that_can_be_written_are_asked_for() {
        for good in ["any", "read-write", "primary"] {
            parsed(&format!("postgres://one,two/games?target_session_attrs={good}"), &[]).unwrap();
        }
        let refused = parsed("postgres://db/games?target_session_attrs=standby", &[]).err().unwrap();
        assert!(refused.contains("the server writes"), "{refused}");
        let refused = parsed("postgres://db/games?sslkey=x", &[]).err().unwrap();
        assert!(refused.contains("unknown option `sslkey`"), "{refused}");
    }
}
