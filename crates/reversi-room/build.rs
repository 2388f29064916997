//! Compiles the stored messages of `proto/` with `protox`, so that no `protoc` is needed.

use std::{fs, io, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=../../proto/reversi/stored");
    let files = fs::read_dir("../../proto/reversi/stored/v1")?;
    let files = files.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    let files = protox::compile(files, ["../../proto"])?;
    let mut config = prost_build::Config::new();
    // What is large and rare, so that a move does not take its memory.
    for field in ["Fact.thought", "Fact.kind.created", "Play.thought", "Command.kind.configure"] {
        config.boxed(format!(".reversi.stored.v1.{field}"));
    }
    config.compile_fds(files)?;
    Ok(())
}
