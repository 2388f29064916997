//! Compiles the services of `proto/` with `protox`, without `protoc`.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    // The page is embedded in the binary; cargo detects new files only by this line.
    println!("cargo:rerun-if-changed=web/dist");
    // `cargo run` passes it on to the program, for which variables REVERSI_* are options.
    println!("cargo:rustc-env=BUILD_COMMIT={}", commit());
    let out = PathBuf::from(env::var("OUT_DIR")?);

    let files = fs::read_dir("proto/reversi/v1")?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let files = protox::compile(files, ["proto"])?;
    fs::write(out.join("descriptors.bin"), files.encode_to_vec())?;

    // The services use the messages of the client's crate. Messages of streams are encoded before tonic gets them.
    let server = out.join("server");
    fs::create_dir_all(&server)?;
    let services = tonic_prost_build::configure()
        .build_client(false)
        .out_dir(server)
        .codec_path("crate::proto::ServerCodec")
        .extern_path(".reversi.v1", "crate::proto::v1");
    let methods = files.file.iter().flat_map(|file| &file.service).flat_map(|service| &service.method);
    let streamed = methods.filter(|method| method.server_streaming()).map(|method| method.output_type());
    streamed
        .fold(services, |services, message| services.extern_path(message, "crate::proto::EncodedMessage"))
        .compile_fds(files.clone())?;

    // The links between nodes: not among the descriptors, as no client calls them.
    let cluster = out.join("cluster");
    fs::create_dir_all(&cluster)?;
    let files = protox::compile(["proto/reversi/cluster/v1/node.proto"], ["proto"])?;
    tonic_prost_build::configure()
        .out_dir(cluster)
        // What is large and rare, so that a move does not take its memory.
        .boxed(".reversi.cluster.v1.Ask.question.create")
        .boxed(".reversi.cluster.v1.Ask.question.tournament")
        .boxed(".reversi.cluster.v1.Snapshot.room")
        .boxed(".reversi.cluster.v1.FollowResponse.item.base")
        .extern_path(".reversi.stored.v1", "crate::room::stored::v1")
        .compile_fds(files)?;
    Ok(())
}

/// The commit of this source: that of the variable REVERSI_COMMIT, or else of the Git checkout; empty without both. Not of
/// a checkout in debug builds, as each commit would compile everything again.
fn commit() -> String {
    println!("cargo:rerun-if-env-changed=REVERSI_COMMIT");
    if let Ok(commit) = env::var("REVERSI_COMMIT") {
        return commit;
    }
    if env::var_os("PROFILE").is_none_or(|profile| profile != "release") || !Path::new(".git").exists() {
        return String::new();
    }
    // Without Git, or if it does not trust the folder, the commit is unknown.
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
        output.and_then(|output| String::from_utf8(output.stdout).ok()).map(|text| text.trim().to_owned())
    };
    // The log of HEAD changes with each commit.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default()
}
