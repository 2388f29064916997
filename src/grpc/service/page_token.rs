//! Page tokens: the position in a listing at which the next page starts, opaque to clients. A token belongs to one
//! method and filter, and is refused with others.

use std::{fmt::Display, str::FromStr};

use prost::Message;
use sha2::{Digest as _, Sha256};
use tonic::Status;

use crate::{proto::convert::Malformed, room::Timestamp, runtime::RankingKey};

/// What a client lists: a hash of the method and its filter, with which each token of it begins.
pub(super) struct Listing(String);

/// The last rank that a ranking goes to.
pub(super) const MAX_RANK: usize = 10_000;

impl Listing {
    pub(super) fn new(method: &str, filter: &impl Message) -> Self {
        let mut hash = Sha256::new_with_prefix(method);
        hash.update(filter.encode_to_vec());
        let hash = hash.finalize();
        Self(hash[..8].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The token of the page after an entry of this time and id.
    pub(super) fn write(&self, at: Timestamp, id: impl Display) -> String {
        format!("{}.{}.{id}", self.0, at.0)
    }

    /// Reads a token of [`Self::write`]; none for the first page.
    pub(super) fn read<T: FromStr>(&self, token: &str) -> Result<Option<(Timestamp, T)>, Status> {
        self.read_with(token, |position| {
            let (at, id) = position.split_once('.')?;
            Some((Timestamp(at.parse().ok()?), id.parse().ok()?))
        })
    }

    /// The token of the page after this rank, whose contestant has this key.
    pub(super) fn write_rank(&self, rank: usize, (rating, contestant): &RankingKey) -> String {
        format!("{}.{rank}.{:x}.{contestant}", self.0, rating.to_bits())
    }

    /// Reads a token of [`Self::write_rank`]; none for the first page.
    pub(super) fn read_rank(&self, token: &str) -> Result<Option<(usize, RankingKey)>, Status> {
        self.read_with(token, |position| {
            let (rank, key) = position.split_once('.')?;
            let (rating, contestant) = key.split_once('.')?;
            let rank = rank.parse().ok().filter(|rank| *rank < MAX_RANK)?;
            let rating =
                Some(f64::from_bits(u64::from_str_radix(rating, 16).ok()?)).filter(|rating| rating.is_finite());
            Some((rank, (rating?, contestant.parse().ok()?)))
        })
    }

    /// The token of the page after this id.
    pub(super) fn write_id(&self, id: impl Display) -> String {
        format!("{}.{id}", self.0)
    }

    /// Reads a token of [`Self::write_id`]; none for the first page.
    pub(super) fn read_id<T: FromStr>(&self, token: &str) -> Result<Option<T>, Status> {
        self.read_with(token, |position| position.parse().ok())
    }

    fn read_with<T>(&self, token: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Status> {
        if token.is_empty() {
            return Ok(None);
        }
        let position = token.strip_prefix(&self.0).and_then(|rest| rest.strip_prefix('.'));
        let malformed = || {
            let problem = "must be a next_page_token of this method, for the same filter";
            Malformed::new(Malformed::BAD_PAGE_TOKEN, "page_token", problem).into()
        };
        position.and_then(read).map(Some).ok_or_else(malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::RoomId;

    #[test]
    fn a_token_is_read_as_written_and_a_malformed_one_is_refused() {
        let listing = Listing::new("List", &());
        let (at, room) = (Timestamp(-1), RoomId::from_random(7));
        assert_eq!(listing.read(&listing.write(at, room)).unwrap(), Some((at, room)));
        for key in [(1500.25, "roxanne:2"), (-0.5, "expert:1")] {
            let key = (key.0, key.1.parse().unwrap());
            assert_eq!(listing.read_rank(&listing.write_rank(3, &key)).unwrap(), Some((3, key)));
        }
        assert!(listing.read::<RoomId>("").unwrap().is_none() && listing.read_rank("").unwrap().is_none());
        let token = |position: &str| format!("{}.{position}", listing.0);
        let dates = ["", "1", "1.x", "x.000000000000", "99999999999999999999.000000000000"];
        assert!(dates.iter().all(|position| listing.read::<RoomId>(&token(position)).is_err()));
        let infinite = format!("1.{:x}.roxanne:2", f64::NAN.to_bits());
        let ranks = ["", "1", "-1.0.roxanne:2", "10000.0.roxanne:2", "1.x.roxanne:2", "1.0.x", &infinite];
        assert!(ranks.iter().all(|position| listing.read_rank(&token(position)).is_err()));
    }
}
