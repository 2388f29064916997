//! Any page token gives a page or `INVALID_ARGUMENT`.
#![no_main]

mod server;

use libfuzzer_sys::fuzz_target;
use prost::Message as _;
use reversi::proto::v1::{ListGamesRequest, ListRoomsRequest};
use server::{Answer, Server};
use tonic::Code;

fuzz_target!(|token: &str| {
    let rooms = ListRoomsRequest { page_token: token.into(), ..Default::default() }.encode_to_vec();
    let games = ListGamesRequest { page_token: token.into(), ..Default::default() }.encode_to_vec();
    for (method, message) in
        [("/reversi.v1.LobbyService/ListRooms", rooms), ("/reversi.v1.RecordService/ListGames", games)]
    {
        if let Err(status) = Server::call(method, message.into(), Answer::One) {
            assert_eq!(status.code(), Code::InvalidArgument, "{status}");
        }
    }
});
