//! Compiles the messages and client stubs of `proto/` with `protox`, so that no `protoc` is needed.

use std::{fs, io, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=../../proto/reversi/v1");
    let files =
        fs::read_dir("../../proto/reversi/v1")?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    let files = protox::compile(files, ["../../proto"])?;
    tonic_prost_build::configure().build_server(false).bytes(".").compile_fds(files)?;
    Ok(())
}
