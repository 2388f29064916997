//! Page tokens: the position in a listing at which the next page starts, opaque to clients.

use std::cmp::Reverse;

use tonic::Status;

use crate::{
    proto::convert::Malformed,
    room::{GameId, Timestamp},
    runtime::RowKey,
};

/// The token of the page after a row of the room list.
pub(crate) fn row_token((Reverse(created), room): RowKey) -> String {
    format!("{}.{room}", created.0)
}

/// Reads a token of [`row_token`]; none for the first page.
pub(crate) fn read_row(token: &str) -> Result<Option<RowKey>, Status> {
    let Some((created, room)) = split(token)? else { return Ok(None) };
    Ok(Some((Reverse(created), room.parse().map_err(|_| bad())?)))
}

/// The token of the page after a game.
pub(crate) fn game_token((ended, game): (Timestamp, GameId)) -> String {
    format!("{}.{game}", ended.0)
}

/// Reads a token of [`game_token`]; none for the first page.
pub(crate) fn read_game(token: &str) -> Result<Option<(Timestamp, GameId)>, Status> {
    let Some((ended, game)) = split(token)? else { return Ok(None) };
    Ok(Some((ended, game.parse().map_err(|_| bad())?)))
}

fn split(token: &str) -> Result<Option<(Timestamp, &str)>, Status> {
    if token.is_empty() {
        return Ok(None);
    }
    let (time, id) = token.split_once('.').ok_or_else(bad)?;
    let time = time.parse().map_err(|_| bad())?;
    Ok(Some((Timestamp(time), id)))
}

fn bad() -> Status {
    let problem = "must be a next_page_token of this server";
    Malformed::new(Malformed::BAD_PAGE_TOKEN, "page_token", problem).into()
}
