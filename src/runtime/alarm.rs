//! A timer that is put off more often than it rings.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

/// The one timer of a room's clocks. Every move puts its time off, which costs nothing: it is set anew when it has gone off too
/// early, or would too late.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Waits until then; for ever without a time. May be dropped and asked again.
    pub(super) async fn ring(&mut self, wake: Option<Instant>) {
        let Some(wake) = wake else { return std::future::pending().await };
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(wake)));
        loop {
            if timer.deadline() > wake || timer.is_elapsed() {
                timer.as_mut().reset(wake);
            }
            timer.as_mut().await;
            if timer.deadline() >= wake {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_rings_at_the_time_that_was_named_last() {
        let mut alarm = Alarm::default();
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        // Put off, brought forward, and then waited for.
        for seconds in [5, 9, 4] {
            assert!(timeout(Duration::from_secs(1), alarm.ring(Some(after(seconds)))).await.is_err(), "{seconds}");
        }
        for (named, rang) in [(4, 4), (8, 8), (8, 8), (7, 8)] {
            alarm.ring(Some(after(named))).await;
            assert_eq!(began.elapsed().as_secs(), rang);
        }
        assert!(timeout(Duration::from_secs(99), alarm.ring(None)).await.is_err());
    }
}
