//! Bearer tokens, as secrets and as hashes.

use std::{collections::BTreeSet, fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use thiserror::Error;

use crate::runtime::random::RandomSource;

/// A bearer token: 64 hexadecimal digits. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

/// The error of parsing a [`Token`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("malformed token")]
pub struct ParseTokenError;

/// The SHA-256 of a token; only this is stored.
#[derive(Clone, Copy)]
pub(crate) struct TokenHash(pub(crate) [u8; 32]);

impl TokenHash {
    /// The key of lookups, after which the whole hash is compared in constant time.
    pub(crate) fn key(&self) -> u64 {
        self.0.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    /// True if it is the hash of this token, in constant time.
    pub(crate) fn matches(&self, token: &Token) -> bool {
        self.0.ct_eq(&token.hash().0).into()
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
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0).into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl FromStr for Token {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseTokenError);
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut token = [0; 32];
        for (byte, pair) in token.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or(ParseTokenError)?;
            *byte = high << 4 | low;
        }
        Ok(Self(token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_round_trips_and_is_not_printed() {
        let token = Token::generate(&RandomSource::default());
        assert_eq!(token.reveal().parse(), Ok(token.clone()));
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert_eq!("00".parse::<Token>(), Err(ParseTokenError));
        assert_eq!("é".repeat(32).parse::<Token>(), Err(ParseTokenError));
    }
}
