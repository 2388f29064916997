//! Page tokens: the position in a listing at which the next page starts, opaque to clients.

use std::{fmt::Display, str::FromStr};

use tonic::Status;

use crate::{proto::convert::Malformed, room::Timestamp};

/// The token of the page after a row or game of this time and id.
pub(crate) fn write(at: Timestamp, id: impl Display) -> String {
    format!("{}.{id}", at.0)
}

/// The last rank that a ranking goes to.
pub(super) const MAX_RANK: usize = 10_000;

/// The token of the page after a rank.
pub(super) fn write_rank(rank: usize) -> String {
    rank.to_string()
}

/// Reads a token of [`write_rank()`]; 0 for the first page.
pub(super) fn read_rank(token: &str) -> Result<usize, Status> {
    let rank = if token.is_empty() { Some(0) } else { token.parse().ok().filter(|rank| *rank < MAX_RANK) };
    rank.ok_or_else(malformed)
}

/// Reads a token of [`write()`]; none for the first page.
pub(crate) fn read<T: FromStr>(token: &str) -> Result<Option<(Timestamp, T)>, Status> {
    if token.is_empty() {
        return Ok(None);
    }
    let parts = token.split_once('.').and_then(|(at, id)| Some((Timestamp(at.parse().ok()?), id.parse().ok()?)));
    parts.map(Some).ok_or_else(malformed)
}

fn malformed() -> Status {
    Malformed::new(Malformed::BAD_PAGE_TOKEN, "page_token", "must be a next_page_token of this server").into()
}
