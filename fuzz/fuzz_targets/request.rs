//! Any bytes as the message of any method are answered, and never with an error of the server.
#![no_main]

mod server;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use prost::Message as _;
use prost_types::FileDescriptorSet;
use reversi::proto::DESCRIPTORS;
use server::{Answer, Server};
use tonic::Code;

/// The methods of all services, but for those after which the player's token is invalid.
static METHODS: LazyLock<Vec<(String, Answer)>> = LazyLock::new(|| {
    let files = FileDescriptorSet::decode(DESCRIPTORS).expect("descriptors").file;
    let services = files.iter().flat_map(|file| file.service.iter().map(move |service| (file.package(), service)));
    let methods = services.flat_map(|(package, service)| {
        service.method.iter().map(move |method| {
            let answer = if method.server_streaming() { Answer::Stream } else { Answer::One };
            (format!("/{package}.{}/{}", service.name(), method.name()), answer)
        })
    });
    methods.filter(|(path, _)| !["LogOut", "ReplaceToken"].iter().any(|name| path.ends_with(name))).collect()
});

fuzz_target!(|input: (u8, &[u8])| {
    let (method, message) = input;
    let (path, answer) = &METHODS[usize::from(method) % METHODS.len()];
    if let Err(status) = Server::call(path, message.to_vec().into(), *answer) {
        assert!(!matches!(status.code(), Code::Internal | Code::Unknown) || is_malformed(&status), "{path}: {status}");
    }
});

/// Whether the message is no protobuf, for which tonic answers `INTERNAL`.
fn is_malformed(status: &tonic::Status) -> bool {
    status.message().contains("decode")
}
