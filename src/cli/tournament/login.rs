//! The login of an organiser or an entrant, which is always kept: the next command needs it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::{
    cli::connect::{
        login::{self, LoginOptions},
        server_address::{Address, CONNECTION},
    },
    client::{PlayerKind, Session},
};

/// The option of commands that need an earlier login.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = CONNECTION)]
#[group(skip)]
pub(super) struct KeepOption {
    /// The file that keeps the login; that of `create` if left out.
    #[arg(long, env = "REVERSI_KEEP", value_name = "FILE")]
    keep: Option<PathBuf>,
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

/// Resumes the login of an earlier command.
pub(super) async fn resume(server: &Address, KeepOption { keep }: &KeepOption) -> anyhow::Result<Session> {
    let file = file(keep.as_deref())?;
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

fn file(given: Option<&Path>) -> anyhow::Result<PathBuf> {
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
