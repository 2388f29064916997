//! The measured process: a server or the baseline server, started by the bench or running already.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use tokio::time::Instant;

use crate::connection::WINDOW;

/// The process to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A server that keeps nothing.
    Ephemeral,
    /// A server that keeps everything in a new folder below this one.
    Durable(PathBuf),
    /// Bare tonic with the same messages.
    Limit,
    /// A running server, and its process if known.
    Running { url: String, pid: Option<u32> },
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ephemeral => f.write_str("server, ephemeral"),
            Self::Durable(_) => f.write_str("server, durable"),
            Self::Limit => f.write_str("limit"),
            Self::Running { url, .. } => f.write_str(url),
        }
    }
}

/// Options that lift all limits: the whole load comes from one address.
const UNBOUNDED: &str = "--log error --max-connections-per-address 0 --opening 60 --opening-rate 0 \
    --max-streams-per-connection 1000000 --log-in-rate 0 --max-players 1000000 --max-players-per-address 0 \
    --rate 100000000 --burst 1000000000 --rate-per-address 0 --max-calls 1000000 --max-calls-per-address 0 \
    --max-streams 1000000 \
    --max-streams-per-address 0 --max-rooms-per-player 1000000 --max-rooms-per-address 0 --max-seats-per-address 0 \
    --max-rooms 1000000 --room-sleep 86400 --game-rate 0 --game-rate-per-address 0";

/// Open files of a server that are no connections.
const OTHER_FILES: u64 = 256;

/// Clock ticks per second in `/proc/PID/stat`, the same on every Linux.
const TICKS: u32 = 100;

/// The target's process. Dropping this kills it if the bench started it.
pub(crate) struct TargetProcess {
    pub(crate) url: String,
    pub(crate) began: Instant,
    pid: Option<u32>,
    child: Option<Child>,
    /// Kept open so that the process can write.
    stdout: Option<BufReader<ChildStdout>>,
    /// The data folder, deleted on drop.
    folder: Option<PathBuf>,
}

impl TargetProcess {
    /// Starts the target, unless it is running, on the processors `cpus`; `None` for all.
    pub(crate) async fn start(target: &Target, cpus: Option<&str>) -> anyhow::Result<Self> {
        let began = Instant::now();
        let mut process = Self { url: String::new(), began, pid: None, child: None, stdout: None, folder: None };
        let mut command = itself(cpus)?;
        match target {
            Target::Running { url, pid } => {
                (process.url, process.pid) = (url.clone(), *pid);
                return Ok(process);
            }
            Target::Limit => command.arg("limit"),
            Target::Ephemeral => serve(&mut command).arg("--ephemeral"),
            Target::Durable(parent) => {
                let folder = new_folder(parent)?;
                serve(&mut command).arg("--data").arg(&folder);
                process.folder = Some(folder);
                &mut command
            }
        };
        let stdout = process.spawn(command)?;
        let first_line = tokio::task::spawn_blocking(move || {
            let (mut stdout, mut line) = (stdout, String::new());
            stdout.read_line(&mut line).map(|_| (stdout, line))
        });
        let (stdout, line) = first_line.await??;
        process.stdout = Some(stdout);
        let address = line.trim_end().strip_prefix("reversi is listening on ").context("the server does not start")?;
        process.url = format!("http://{address}");
        Ok(process)
    }

    /// Returns its standard output.
    fn spawn(&mut self, mut command: Command) -> anyhow::Result<BufReader<ChildStdout>> {
        let own = std::env::vars_os().map(|(name, _)| name);
        for name in own.filter(|name| name.to_string_lossy().starts_with("REVERSI_")) {
            command.env_remove(name);
        }
        // Ctrl-C is for the bench, which ends the process itself.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().context("the server cannot be started")?;
        self.pid = Some(child.id());
        let stdout = child.stdout.take().map(BufReader::new);
        self.child = Some(child);
        stdout.context("no output from the server")
    }

    /// Whether the process was running before the bench.
    pub(crate) fn runs_on(&self) -> bool {
        self.child.is_none()
    }

    /// CPU time and memory; `None` where the system does not report them.
    pub(crate) fn usage(&self) -> Option<Usage> {
        Usage::of(&self.pid?.to_string())
    }
}

impl Drop for TargetProcess {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn itself(cpus: Option<&str>) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let Some(cpus) = cpus else { return Ok(Command::new(program)) };
    // `taskset` executes the program in the same process.
    let mut command = Command::new("taskset");
    command.args(["-c", cpus]).arg(program);
    Ok(command)
}

fn serve(command: &mut Command) -> &mut Command {
    let window = WINDOW.to_string();
    // The rest is for other files.
    let connections = rlimit::increase_nofile_limit(u64::MAX)
        .map_or(1_000_000, |files| files.saturating_sub(OTHER_FILES))
        .to_string();
    let sizes = ["--connection-window", &window, "--max-connections", &connections];
    let bounds = UNBOUNDED.split_whitespace().chain(sizes);
    command.args(["serve", "--listen", "127.0.0.1:0"]).args(bounds)
}

fn new_folder(parent: &Path) -> anyhow::Result<PathBuf> {
    let mut names = (0..u32::MAX).map(|number| parent.join(format!(".reversi-bench-{}-{number}", std::process::id())));
    let folder = names.find(|folder| !folder.exists()).context("there is no free name for a folder")?;
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// CPU time and memory of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// CPU time of all threads.
    pub(crate) cpu: Duration,
    /// Resident memory, in bytes.
    pub(crate) resident: u64,
}

impl Usage {
    pub(crate) fn own() -> Option<Self> {
        Self::of("self")
    }

    fn of(pid: &str) -> Option<Self> {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
        Some(Self { cpu: cpu(&read("stat")?)?, resident: resident(&read("status")?)? })
    }
}

fn cpu(stat: &str) -> Option<Duration> {
    // The second field, the program name in brackets, may contain spaces and brackets.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(Duration::from_secs(1) / TICKS * (ticks()? + ticks()?))
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_status_is_parsed() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 3 0 100 1000 10";
        assert_eq!(cpu(stat), Some(Duration::from_secs(2)));
        assert_eq!(resident("Name:\ta\nVmRSS:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!((cpu(""), resident("")), (None, None));
    }
}
