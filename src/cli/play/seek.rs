//! The repeated search of `reversi play` for any opponent.

use std::{future::pending, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::{
    cli::connect::terms::{Terms, seek_interval},
    client::{ClientError, Room, Session, Settings, SideWish},
};

pub(in crate::cli) struct Seek {
    session: Session,
    side: SideWish,
    settings: Settings,
    /// The wait in seconds after which an AI of the server is welcome.
    house: Option<u16>,
    /// When to call again.
    again: Instant,
    calls: JoinSet<Result<Room, ClientError>>,
}

impl Seek {
    /// Makes the first call. Also returns the room in which the player waits or plays.
    pub(super) async fn begin(
        session: &Session,
        side: SideWish,
        terms: &Terms,
        house: Option<u16>,
    ) -> Result<(Self, Room), ClientError> {
        let (session, settings) = (session.clone(), terms.settings());
        let (again, calls) = (Instant::now(), JoinSet::new());
        let mut seek = Self { session, side, settings, house, again, calls };
        let room = seek.call().await?;
        seek.wait();
        Ok((seek, room))
    }

    /// The room of an opponent who waits elsewhere, which the player has entered. Call it while the player waits. Cancel
    /// safe.
    pub(super) async fn next(&mut self, waits_in: &Room) -> Room {
        loop {
            if let Some(answer) = self.calls.join_next().await {
                self.wait();
                match answer {
                    Ok(Ok(room)) if room.id != waits_in.id => return room,
                    // The next call may succeed.
                    _ => continue,
                }
            }
            sleep_until(self.again).await;
            let call = self.call();
            self.calls.spawn(call);
        }
    }

    /// Whether a call may have moved the player to another room.
    pub(super) fn is_under_way(&self) -> bool {
        !self.calls.is_empty()
    }

    fn wait(&mut self) {
        self.again = Instant::now() + seek_interval(self.house);
    }

    fn call(&self) -> impl Future<Output = Result<Room, ClientError>> + Send + use<> {
        let (session, side, settings, house) = (self.session.clone(), self.side, self.settings.clone(), self.house);
        async move {
            match house {
                Some(house) => session.quick_start_or_house(side, settings, Duration::from_secs(house.into())).await,
                None => session.quick_start_with(None, side, settings).await,
            }
        }
    }
}

/// As [`Seek::next`]; pending without a search.
pub(super) async fn found_by(seek: Option<&mut Seek>, waits_in: &Room) -> Room {
    match seek {
        Some(seek) => seek.next(waits_in).await,
        None => pending().await,
    }
}
