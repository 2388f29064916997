//! Page tokens: the position in a listing at which the next page starts, opaque to clients.

use std::{fmt::Display, str::FromStr};

use tonic::Status;

use crate::{proto::convert::Malformed, room::Timestamp};

/// The token of the page after a row or game of this time and id.
pub(crate) fn write(at: Timestamp, id: impl Display) -> String {
    format!("{}.{id}", at.0)
}

/// Reads a token of [`write()`]; none for the first page.
pub(crate) fn read<T: FromStr>(token: &str) -> Result<Option<(Timestamp, T)>, Status> {
    if token.is_empty() {
        return Ok(None);
    }
    let parts = token.split_once('.').and_then(|(at, id)| Some((Timestamp(at.parse().ok()?), id.parse().ok()?)));
    let problem = "must be a next_page_token of this server";
    parts.map(Some).ok_or_else(|| Malformed::new(Malformed::BAD_PAGE_TOKEN, "page_token", problem).into())
}
