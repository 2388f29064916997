//! The limit on the invitations of one player: seats that others reserve for it.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use tokio::time::Instant;

use super::{
    limits::{INVITED, INVITED_PERIOD},
    rate_limiter::TooFast,
};
use crate::room::PlayerId;

/// The latest invitations of one player, each until [`INVITED_PERIOD`] has passed. An inviter who has made as many of them as are
/// left for all waits: the first makes half of [`INVITED`], a second one half of the rest. So nobody takes them all.
#[derive(Default)]
pub(crate) struct InvitationLimit(Mutex<VecDeque<(Instant, PlayerId)>>);

impl InvitationLimit {
    /// Counts an invitation. Fails while the inviter waits; it is then not counted.
    pub(crate) fn admit(&self, inviter: PlayerId) -> Result<(), TooFast> {
        let now = Instant::now();
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    /// The number of invitations that an inviter makes before it waits.
    fn admitted(limit: &InvitationLimit, inviter: u64) -> usize {
        (0..).take_while(|_| limit.admit(PlayerId::from_random(inviter)).is_ok()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn each_inviter_leaves_as_many_as_it_makes() {
        let limit = InvitationLimit::default();
        let inviters: Vec<_> = (1..=6).map(|inviter| admitted(&limit, inviter)).collect();
        assert_eq!(inviters, [10, 5, 3, 1, 1, 0]);
        assert_eq!((1..=100).map(|inviter| admitted(&limit, inviter)).sum::<usize>(), 0);
        advance(INVITED_PERIOD).await;
        assert_eq!(admitted(&limit, 7), 10);
        assert_eq!(limit.0.into_inner().unwrap().len(), 10, "old ones are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn an_inviter_waits_until_enough_have_passed() {
        let (limit, [ada, bea], second) = (InvitationLimit::default(), [1, 2], Duration::from_secs(1));
        for inviter in [bea, ada, ada, ada, ada, ada, ada, ada, ada, ada] {
            limit.admit(PlayerId::from_random(inviter)).unwrap();
            advance(second).await;
        }
        limit.admit(PlayerId::from_random(ada)).unwrap();
        // Ada has made ten, and nine are left: one more when Bea's has passed, and the first of her own.
        let TooFast { retry_after } = limit.admit(PlayerId::from_random(ada)).unwrap_err();
        assert_eq!(retry_after, INVITED_PERIOD - 9 * second);
        advance(retry_after).await;
        assert_eq!(admitted(&limit, ada), 1);
    }
}
