//! Compiles `proto/` with `protox`, so that no `protoc` is needed, and puts the page of `web/dist` into the binary.

use std::{
    env,
    path::{Path, PathBuf},
};

use prost::Message as _;

const FILES: [&str; 7] = [
    "reversi/v1/types.proto",
    "reversi/v1/session.proto",
    "reversi/v1/lobby.proto",
    "reversi/v1/room.proto",
    "reversi/v1/game.proto",
    "reversi/v1/record.proto",
    "reversi/v1/analysis.proto",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=web/dist");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let dist = Path::new("web/dist").canonicalize()?;
    std::fs::write(out.join("page.rs"), memory_serve::assets_to_code("web/dist", &dist, &out, true, |_| {}))?;

    let files = protox::compile(FILES, ["proto"])?;
    std::fs::write(out.join("descriptors.bin"), files.encode_to_vec())?;

    tonic_prost_build::configure().build_server(false).bytes(".").compile_fds(files.clone())?;

    // The services once more, over the messages made above, but with little memory for each call.
    let server = out.join("server");
    std::fs::create_dir_all(&server)?;
    tonic_prost_build::configure()
        .build_client(false)
        .out_dir(server)
        .codec_path("crate::proto::SmallCodec")
        .extern_path(".reversi.v1", "crate::proto::v1")
        .compile_fds(files)?;
    Ok(())
}
