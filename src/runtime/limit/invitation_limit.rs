//! The limit on invitations of one player. An invitation is a seat that another player reserves for it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{client_address::Prefix, rate_limiter::TooFast};
use crate::room::PlayerId;

/// Maximum number of seats that others reserve for one player within [`INVITED_PERIOD`]: more than anybody reads.
const INVITED: usize = 20;

/// The time after which an invitation no longer counts.
const INVITED_PERIOD: Duration = Duration::from_secs(3 * 60);

/// The invitations that one player has received in the last [`INVITED_PERIOD`], at most [`INVITED`]. An inviter is
/// refused once it has made as many as there are left. So the first inviter can make at most half of them, the next one
/// at most half of the rest, and so on.
#[derive(Default)]
pub(crate) struct InvitationLimit(Mutex<VecDeque<(Instant, Inviter)>>);

/// Who counts as one inviter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inviter {
    /// All players of a network, because it is easy to create more of them.
    Network(Prefix),
    /// A player whose address does not tell it from others.
    Player(PlayerId),
}

/// A counted invitation. If it is dropped without [`Invitation::keep`], it no longer counts.
pub(crate) struct Invitation {
    limit: Arc<InvitationLimit>,
    counted: Option<(Instant, Inviter)>,
}

impl Invitation {
    /// Keeps it counted. Call when it has been sent.
    pub(crate) fn keep(mut self) {
        self.counted = None;
    }
}

impl Drop for Invitation {
    fn drop(&mut self) {
        let mut latest = self.limit.latest();
        if let Some(place) = latest.iter().position(|invitation| Some(*invitation) == self.counted) {
            latest.remove(place);
        }
    }
}

impl InvitationLimit {
    fn latest(&self) -> MutexGuard<'_, VecDeque<(Instant, Inviter)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an invitation. Fails, without counting it, while the inviter must wait.
    pub(crate) fn admit(self: &Arc<Self>, inviter: Inviter) -> Result<Invitation, TooFast> {
        let now = Instant::now();
        let mut latest = self.latest();
        while latest.front().is_some_and(|(at, _)| now >= *at + INVITED_PERIOD) {
            latest.pop_front();
        }
        let waits_without = |passed: &usize| {
            let counted = latest.iter().skip(*passed);
            let left = INVITED.saturating_sub(counted.len());
            counted.filter(|(_, by)| *by == inviter).count() >= left
        };
        match (0..latest.len()).take_while(waits_without).last().and_then(|last| latest.get(last)) {
            Some((last, _)) => Err(TooFast { retry_after: *last + INVITED_PERIOD - now }),
            None => {
                latest.push_back((now, inviter));
                Ok(Invitation { limit: Arc::clone(self), counted: Some((now, inviter)) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    fn player(number: u64) -> Inviter {
        Inviter::Player(PlayerId::from_random(number))
    }

    /// The number of invitations that an inviter makes before it waits.
    fn admitted(limit: &Arc<InvitationLimit>, inviter: u64) -> usize {
        (0..).take_while(|_| limit.admit(player(inviter)).map(Invitation::keep).is_ok()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn each_inviter_leaves_as_many_as_it_makes() {
        let limit = Arc::default();
        let inviters: Vec<_> = (1..=6).map(|inviter| admitted(&limit, inviter)).collect();
        assert_eq!(inviters, [10, 5, 3, 1, 1, 0]);
        assert_eq!((1..=100).map(|inviter| admitted(&limit, inviter)).sum::<usize>(), 0);
        advance(INVITED_PERIOD).await;
        assert_eq!(admitted(&limit, 7), 10);
        assert_eq!(limit.latest().len(), 10, "old ones are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn an_inviter_waits_until_enough_have_passed() {
        let (limit, [ada, bea], second) = (Arc::<InvitationLimit>::default(), [1, 2], Duration::from_secs(1));
        for inviter in [bea, ada, ada, ada, ada, ada, ada, ada, ada, ada] {
            limit.admit(player(inviter)).map(Invitation::keep).unwrap();
            advance(second).await;
        }
        limit.admit(player(ada)).map(Invitation::keep).unwrap();
        // Ada has made ten, and nine are left: one more when Bea's has passed, and the first of her own.
        let TooFast { retry_after } = limit.admit(player(ada)).err().unwrap();
        assert_eq!(retry_after, INVITED_PERIOD - 9 * second);
        advance(retry_after).await;
        assert_eq!(admitted(&limit, ada), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_invitation_that_is_not_sent_does_not_count() {
        let limit: Arc<InvitationLimit> = Arc::default();
        let early = limit.admit(player(1)).unwrap();
        advance(Duration::from_secs(1)).await;
        let begun: Vec<_> = (0..9).map(|_| limit.admit(player(1)).unwrap()).collect();
        assert!(limit.admit(player(1)).is_err(), "all count until they are dropped");
        drop(begun);
        assert_eq!(admitted(&limit, 1), 9);
        advance(INVITED_PERIOD).await;
        assert_eq!(admitted(&limit, 1), 10);
        drop(early);
        assert_eq!(limit.latest().len(), 10, "it had been forgotten");
    }
}
