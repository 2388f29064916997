//! Checks join codes, passwords and the administrator's secret before a room decides who enters. The room does not wait
//! for this: a password is compared with the hash in a snapshot, and the room then compares that hash with its current
//! one.

use super::rooms::Rooms;
use crate::{
    room::{Credentials, JoinCode, PasswordHash, Rejection, RoomId},
    runtime::{limit::password_guesses::Guess, outcome::RoomError, player::player::Player},
};

impl Rooms {
    /// The hash of a new password for a room.
    ///
    /// # Errors
    /// When too many passwords wait to be hashed, or the player has requested too much.
    pub async fn hash_password(&self, player: &Player, password: &str) -> Result<PasswordHash, RoomError> {
        self.passwords.hash(player, password).await
    }

    /// The room of a join code. `code` is `None` if the text was no valid code, which counts as a wrong guess.
    ///
    /// # Errors
    /// When there is no such room, or the player or its address has guessed wrong too often.
    pub async fn find(&self, player: &Player, code: Option<JoinCode>) -> Result<RoomId, RoomError> {
        let guess = guess_of(player, None);
        let room = match code {
            None => None,
            Some(code) => match self.by_code(code) {
                None => {
                    // Before the store is asked, so that guesses are bounded.
                    self.guesses.check(guess, self.host.context.clock.now()).map_err(RoomError::WrongGuesses)?;
                    Box::pin(self.host.context.journal.room_of_code(code)).await?
                }
                room => room,
            },
        };
        self.judge(guess, room.is_some())?;
        Ok(room.ok_or(Rejection::RoomNotFound)?)
    }

    /// The credentials of a player for a room, from a join code and a password as sent. The room itself checks all
    /// except the password.
    ///
    /// # Errors
    /// When the code or the password is wrong, the player or its address has guessed wrong too often, or too many
    /// passwords wait to be compared.
    pub async fn credentials(
        &self,
        player: &Player,
        room: RoomId,
        code: Option<JoinCode>,
        password: Option<&str>,
    ) -> Result<Credentials, RoomError> {
        let mut credentials = Credentials { code, password: None };
        if code.is_none() && password.is_none() {
            return Ok(credentials);
        }
        let mut seen = self.current(player, room, &Credentials::default()).await.map(drop);
        if code.is_some() && is_hidden(&seen) {
            let guess = guess_of(player, None);
            self.guesses.check(guess, self.host.context.clock.now()).map_err(RoomError::WrongGuesses)?;
            seen = self.current(player, room, &credentials).await.map(drop);
            self.judge(guess, !is_hidden(&seen))?;
        }
        match seen {
            Err(error @ RoomError::Rejected(Rejection::RoomNotFound)) => Err(error),
            Err(RoomError::Rejected(Rejection::BadPassword)) => {
                credentials.password = self.matching_hash(player, room, password).await?;
                Ok(credentials)
            }
            _ => Ok(credentials),
        }
    }

    /// The hash of the room's password, if the given password matches it. `None` if the room has no password.
    async fn matching_hash(
        &self,
        player: &Player,
        room: RoomId,
        password: Option<&str>,
    ) -> Result<Option<PasswordHash>, RoomError> {
        let Some(password) = password else { return Err(Rejection::BadPassword.into()) };
        let snapshot = self.snapshot_as_admin(room).await?;
        let Some(hash) = snapshot.room.settings().password.clone() else { return Ok(None) };
        let matches = self.check_password(player, room, &hash, password).await?;
        if matches { Ok(Some(hash)) } else { Err(Rejection::BadPassword.into()) }
    }

    /// Whether a password matches a hash. Guesses are counted for each id.
    ///
    /// # Errors
    /// When the player or its address has guessed wrong too often, or too many passwords wait to be compared.
    pub(in crate::runtime) async fn check_password(
        &self,
        player: &Player,
        of: RoomId,
        hash: &PasswordHash,
        password: &str,
    ) -> Result<bool, RoomError> {
        let guess = guess_of(player, Some(of));
        self.guesses.check(guess, self.host.context.clock.now()).map_err(RoomError::WrongGuesses)?;
        let matches = self.passwords.matches(player, password, hash).await?;
        self.judge(guess, matches)?;
        Ok(matches)
    }

    /// Counts a guess of the administrator's secret by a player, or by a client of an address. Beyond the limits, the
    /// answer does not tell whether the guess was right.
    ///
    /// # Errors
    /// When the player or its address has guessed wrong too often.
    pub fn judge_secret(&self, player: &Player, right: bool) -> Result<(), RoomError> {
        let guess = guess_of(player, None);
        self.judge(guess, right)?;
        if !right {
            let address = guess.address.map(tracing::field::display);
            tracing::warn!(player = %guess.player, address, "a wrong administrator's secret");
        }
        Ok(())
    }

    fn judge(&self, guess: Guess, right: bool) -> Result<(), RoomError> {
        self.guesses.judge(guess, right, self.host.context.clock.now()).map_err(RoomError::WrongGuesses)
    }
}

/// True if a room cannot be seen with its id alone.
fn is_hidden(seen: &Result<(), RoomError>) -> bool {
    matches!(seen, Err(RoomError::Rejected(Rejection::RoomNotFound)))
}

fn guess_of(player: &Player, room: Option<RoomId>) -> Guess {
    Guess { player: player.id(), address: player.quota.home().map(|home| home.prefix()), room }
}
