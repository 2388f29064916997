//! Compiles the services of `proto/` with `protox`, without `protoc`.

use std::{env, fs, io, path::PathBuf};

use prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    // The page is embedded in the binary; cargo detects new files only by this line.
    println!("cargo:rerun-if-changed=web/dist");
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
        .boxed(".reversi.cluster.v1.Snapshot.room")
        .boxed(".reversi.cluster.v1.FollowResponse.item.base")
        .extern_path(".reversi.stored.v1", "crate::room::stored::v1")
        .compile_fds(files)?;
    Ok(())
}
