//! The tokens of players, as secrets and as hashes.
//!
//! ```text
//!   Token ──SHA-256──▶ PlayToken ──SHA-256──▶ TokenHash
//! ```
//!
//! A play token is made of the token, and not the other way round, and both lead to the hash that is stored. So both
//! are valid on all servers of a database, and end together, and the store knows nothing of play tokens. Each step has
//! its own prefix in what is hashed: what one kind of token is for, no other kind is.

use std::{collections::BTreeSet, fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use crate::runtime::random::RandomSource;

/// What is hashed before a token.
const PLAY_TOKEN_OF: &[u8] = b"reversi play token";

/// What is hashed before a play token.
const HASH_OF: &[u8] = b"reversi token hash";

/// The text before the digits of a play token.
const PLAY_TOKEN: &str = "play_";

/// A player's token, with all rights: 64 hexadecimal digits. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

/// A token that is limited to playing: `play_` and 64 hexadecimal digits. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct PlayToken([u8; 32]);

/// What a caller sends to be known as a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BearerToken {
    /// With all rights.
    Full(Token),
    /// Limited to playing.
    Play(PlayToken),
}

/// The error of parsing a token.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("malformed token")]
pub struct ParseTokenError;

/// The hash of a token; only this is stored.
#[derive(Clone, Copy)]
pub(crate) struct TokenHash(pub(crate) [u8; 32]);

impl TokenHash {
    /// The key of lookups, after which the whole hash is compared in constant time.
    pub(crate) fn key(&self) -> u64 {
        self.0.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    /// True if it is the same hash, in constant time.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Token {
    /// A new random token.
    #[must_use]
    pub fn generate(random: &RandomSource) -> Self {
        Self(random.secret())
    }

    /// True if it may come from a random generator. False for tokens such as one repeated digit.
    #[must_use]
    pub fn looks_random(&self) -> bool {
        // 32 random bytes have at least 20 different values, except for one in 10^9.
        self.0.iter().collect::<BTreeSet<_>>().len() >= 20
    }

    /// The token as it is sent.
    #[must_use]
    pub fn reveal(&self) -> String {
        hexadecimal(&self.0)
    }

    /// The token of the same player that is limited to playing.
    #[must_use]
    pub fn play_token(&self) -> PlayToken {
        PlayToken(digest(PLAY_TOKEN_OF, &self.0))
    }

    pub(crate) fn hash(&self) -> TokenHash {
        self.play_token().hash()
    }

    /// The hash that was stored before there were play tokens. Such a token has none until it is replaced.
    pub(super) fn older_hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0).into())
    }
}

impl PlayToken {
    /// The token as it is sent.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PLAY_TOKEN}{}", hexadecimal(&self.0))
    }

    fn hash(&self) -> TokenHash {
        TokenHash(digest(HASH_OF, &self.0))
    }
}

impl BearerToken {
    /// The hashes of which one is stored if the token is valid, the likelier one first.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = TokenHash> + use<> {
        let (hash, older) = match self {
            Self::Full(token) => (token.hash(), Some(token.older_hash())),
            Self::Play(token) => (token.hash(), None),
        };
        std::iter::once(hash).chain(older)
    }
}

impl From<&Token> for BearerToken {
    fn from(token: &Token) -> Self {
        Self::Full(token.clone())
    }
}

impl From<PlayToken> for BearerToken {
    fn from(token: PlayToken) -> Self {
        Self::Play(token)
    }
}

impl From<&Self> for BearerToken {
    fn from(token: &Self) -> Self {
        token.clone()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl fmt::Debug for PlayToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PlayToken(..)")
    }
}

impl FromStr for Token {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        bytes(text).map(Self)
    }
}

impl FromStr for BearerToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        match text.strip_prefix(PLAY_TOKEN) {
            Some(digits) => Ok(Self::Play(PlayToken(bytes(digits)?))),
            None => Ok(Self::Full(text.parse()?)),
        }
    }
}

fn digest(prefix: &[u8], secret: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(prefix).chain_update(secret).finalize().into()
}

fn hexadecimal(secret: &[u8; 32]) -> String {
    secret.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of 64 hexadecimal digits.
fn bytes(text: &str) -> Result<[u8; 32], ParseTokenError> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return Err(ParseTokenError);
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut secret = [0; 32];
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or(ParseTokenError)?;
        *byte = high << 4 | low;
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> Token {
        Token::generate(&RandomSource::default())
    }

    /// Whether a text is valid where this hash is stored, and then whether it has all rights.
    fn rights(text: &str, stored: TokenHash) -> Option<bool> {
        let sent: BearerToken = text.parse().ok()?;
        let is_full = matches!(sent, BearerToken::Full(_));
        sent.hashes().any(|hash| hash.is(&stored)).then_some(is_full)
    }

    #[test]
    fn a_token_round_trips_and_is_not_printed() {
        let token = token();
        assert_eq!(token.reveal().parse(), Ok(token.clone()));
        assert_eq!(token.play_token().reveal().parse(), Ok(BearerToken::Play(token.play_token())));
        assert_eq!(format!("{token:?} {:?}", token.play_token()), "Token(..) PlayToken(..)");
        for bad in ["00", "play_", "play_00", &"é".repeat(32), &format!("play_play_{}", token.reveal())] {
            assert_eq!(bad.parse::<BearerToken>(), Err(ParseTokenError), "{bad}");
        }
        assert_eq!(token.play_token().reveal().parse::<Token>(), Err(ParseTokenError));
    }

    #[test]
    fn a_play_token_is_never_one_with_all_rights() {
        for _ in 0..100 {
            let token = token();
            let (full, play) = (token.reveal(), token.play_token().reveal());
            for (stored, has_play_token) in [(token.hash(), true), (token.older_hash(), false)] {
                assert_eq!(rights(&full, stored), Some(true));
                assert_eq!(rights(&play, stored), has_play_token.then_some(false));
                let digits = play.strip_prefix("play_").unwrap();
                // Without the prefix, and what is made of that.
                for made in [digits, &digits.to_uppercase(), &digits.parse::<Token>().unwrap().play_token().reveal()] {
                    assert_eq!(rights(made, stored), None, "{made}");
                }
                // The stored hash itself, which a copy of the store has.
                for prefix in ["", "play_"] {
                    assert_eq!(rights(&format!("{prefix}{}", hexadecimal(&stored.0)), stored), None);
                }
                assert_eq!(rights(&format!("play_{full}"), stored), None);
            }
        }
    }
}
