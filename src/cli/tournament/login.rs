//! The login of an organiser or an entrant, which is always kept: the next command needs it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::{
    cli::connect::{
        login::{self, LoginOptions, Visitor},
        server_address::{Address, CONNECTION},
    },
    client::{PlayerKind, Reader, Session},
};

/// The option of commands that need an earlier login.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct KeepOption {
    /// The file that keeps the login; that of `create` if left out.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE", help_heading = CONNECTION)]
    keep: Option<PathBuf>,
}

impl KeepOption {
    pub(super) fn file(&self) -> Option<&Path> {
        self.keep.as_deref()
    }
}

/// Logs in for a command after which the login is needed again. Returns the file that keeps it.
pub(super) async fn log_in(
    server: &Address,
    options: LoginOptions,
    prefix: &str,
) -> anyhow::Result<(Session, PathBuf)> {
    let file = file(options.keep.as_deref())?;
    let options = LoginOptions { keep: Some(file.clone()), ..options };
    let client = login::connect(server).await?;
    Ok((login::resume_any_or_log_in(&client, &options, prefix, PlayerKind::Human).await?, file))
}

/// Reads as the player of a login, if one is named: an organiser sees a tournament without its delay.
pub(super) async fn read(
    server: &Address,
    login: LoginOptions,
    read: impl AsyncFnOnce(Reader) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let visitor = Visitor::enter(server, &login).await?;
    let done = read(visitor.reader()).await;
    visitor.leave().await;
    done
}

/// Resumes the login of an earlier command.
pub(super) async fn resume(server: &Address, keep: Option<&Path>) -> anyhow::Result<Session> {
    let file = file(keep)?;
    let session = login::resume(&login::connect(server).await?, &file).await?;
    session.with_context(|| {
        let shown = file.display();
        format!("{shown} has no login of this server; `reversi tournament create` and `join` keep one there")
    })
}

/// The file to name in the commands that come next; none if it is that of this system.
pub(super) fn option(file: &Path) -> String {
    let is_default = default_file().is_some_and(|default| default == file);
    if is_default { String::new() } else { format!(" --keep {}", file.display()) }
}

/// The file that keeps the login; that of this system if none is given.
pub(in crate::cli) fn file(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(file) = given {
        return Ok(file.to_owned());
    }
    let file = default_file().context("this system has no folder for the login; name a file with --keep FILE")?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    Ok(file)
}

/// Beside the data of a server, in this system's folder for application data.
fn default_file() -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "reversi")?.data_dir().join("logins"))
}
