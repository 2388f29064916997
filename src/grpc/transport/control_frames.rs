//! The limit on control frames of a connection.
//!
//! Settings, pings, window updates, resets, unknown and empty frames cost a client almost nothing, and the server has
//! to read and often to answer each. The transport limits few of them.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::frames::{ACK, DATA, END_STREAM, FrameHead, HEADERS, PADDED, RST_STREAM, SETTINGS};
use crate::runtime::Limits;

/// Control frames that a client may send for one frame of an answer: window updates of the stream and of the
/// connection, a ping that measures the connection, and settings that follow from it.
const PER_ANSWER: u32 = 4;

/// SETTINGS cost one more control frame for this many open streams: a new initial window changes the window of each.
const STREAMS_PER_FRAME: usize = 8;

/// A token bucket that also fills with each frame of an answer. It starts with the tokens of one second, not with the
/// burst: otherwise an attacker would get the burst with each new connection.
pub(super) struct ControlFrameLimit {
    per_second: u32,
    burst: u32,
    left: u32,
    open_streams: BTreeSet<u32>,
    /// The highest stream id so far: later headers of a stream are trailers.
    last_stream: u32,
    /// Maximum open streams: the transport refuses further ones.
    most_streams: usize,
    /// When tokens were last added by the rate.
    refilled: Instant,
}

impl ControlFrameLimit {
    pub(super) fn new(limits: &Limits) -> Self {
        let (per_second, burst) = (limits.control_frames_per_second, limits.control_frame_burst);
        Self {
            per_second,
            burst,
            left: per_second.min(burst),
            open_streams: BTreeSet::new(),
            last_stream: 0,
            most_streams: usize::try_from(limits.streams_per_connection).unwrap_or(usize::MAX),
            refilled: Instant::now(),
        }
    }

    /// Counts a received frame. Returns false if it exceeds the limit.
    pub(super) fn admit(&mut self, frame: FrameHead) -> bool {
        match frame.kind {
            HEADERS if frame.stream > self.last_stream => {
                self.last_stream = frame.stream;
                if self.open_streams.len() < self.most_streams {
                    self.open_streams.insert(frame.stream);
                }
            }
            RST_STREAM => drop(self.open_streams.remove(&frame.stream)),
            _ => {}
        }
        if !is_control(frame) {
            return true;
        }
        let is_new_settings = frame.kind == SETTINGS && frame.flags & ACK == 0;
        let cost = u32::try_from(1 + if is_new_settings { self.cost_of_streams() } else { 0 }).unwrap_or(u32::MAX);
        if self.left < cost {
            self.refill(Instant::now());
        }
        let left = self.left.checked_sub(cost);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// The cost of the open streams, in control frames.
    pub(super) fn cost_of_streams(&self) -> usize {
        self.open_streams.len() / STREAMS_PER_FRAME
    }

    /// Counts a sent frame.
    pub(super) fn sent(&mut self, frame: FrameHead) {
        let is_answer = matches!(frame.kind, HEADERS | DATA);
        if frame.kind == RST_STREAM || (is_answer && frame.flags & END_STREAM != 0) {
            self.open_streams.remove(&frame.stream);
        }
        if is_answer {
            self.left = self.left.saturating_add(PER_ANSWER).min(self.burst);
        }
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.refilled).as_millis();
        let added = passed * u128::from(self.per_second) / 1_000;
        if added > 0 {
            self.left = u32::try_from(added).unwrap_or(u32::MAX).saturating_add(self.left).min(self.burst);
            self.refilled = now;
        }
    }
}

/// True unless the frame is HEADERS, or DATA that ends a stream or has data. Padded DATA counts as empty.
fn is_control(frame: FrameHead) -> bool {
    match frame.kind {
        HEADERS => false,
        DATA => frame.flags & END_STREAM == 0 && (frame.length == 0 || frame.flags & PADDED != 0),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;
    use crate::grpc::transport::frames::PING;

    const fn frame(kind: u8, flags: u8, length: usize) -> FrameHead {
        FrameHead { length, kind, flags, stream: 1 }
    }

    const fn on(stream: u32, frame: FrameHead) -> FrameHead {
        FrameHead { stream, ..frame }
    }

    /// The number of pings within the limit.
    fn admitted(limit: &mut ControlFrameLimit) -> u32 {
        (0..).take_while(|_| limit.admit(frame(PING, 0, 8))).count() as u32
    }

    fn limit(control_frames_per_second: u32, control_frame_burst: u32) -> ControlFrameLimit {
        ControlFrameLimit::new(&Limits { control_frames_per_second, control_frame_burst, ..Limits::default() })
    }

    #[tokio::test(start_paused = true)]
    async fn control_frames_are_limited_by_time_and_by_answers() {
        let mut limit = limit(10, 50);
        assert_eq!(admitted(&mut limit), 10);
        advance(Duration::from_millis(250)).await;
        assert_eq!(admitted(&mut limit), 2);
        advance(Duration::from_secs(60)).await;
        assert_eq!(admitted(&mut limit), 50);
        limit.sent(frame(HEADERS, 0, 10));
        limit.sent(frame(DATA, 0, 10));
        limit.sent(frame(PING, 1, 8));
        assert_eq!(admitted(&mut limit), 2 * PER_ANSWER);
        for _ in 0..100 {
            limit.sent(frame(DATA, 0, 10));
        }
        assert_eq!(admitted(&mut limit), 50);
    }

    #[tokio::test(start_paused = true)]
    async fn settings_cost_as_much_as_the_streams_that_they_change() {
        let settings = frame(SETTINGS, 0, 6);
        let (headers, reset, end) = (frame(HEADERS, 4, 20), frame(RST_STREAM, 0, 4), frame(DATA, END_STREAM, 0));
        let admitted = |open: u32| {
            let mut limit = limit(100, 100);
            for stream in 1..=open + 16 {
                limit.admit(on(stream, headers));
            }
            // Some end, some the client resets. One cannot end twice, nor begin again with trailers.
            for ended in 1..=8 {
                limit.sent(on(ended, [reset, end][ended as usize % 2]));
                limit.admit(on(ended + 8, reset));
                limit.sent(on(ended, end));
                limit.admit(on(ended, headers));
            }
            (0..).take_while(|_| limit.admit(settings)).count()
        };
        assert_eq!([0, 80, 400, 1_000].map(admitted), [100, 9, 1, 0]);
        let mut limit = limit(10, 10);
        for stream in 1..=10_000 {
            limit.admit(on(stream, headers));
        }
        assert_eq!(limit.open_streams.len(), 1_024, "the transport admits no more");
        assert_eq!((0..).take_while(|_| limit.admit(frame(SETTINGS, ACK, 0))).count(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_and_messages_are_no_control_frames() {
        let mut limit = limit(1, 1);
        admitted(&mut limit);
        for free in [frame(HEADERS, 4, 20), frame(DATA, 0, 1), frame(DATA, END_STREAM, 0)] {
            assert!(limit.admit(free), "{free:?}");
        }
        for kind in 2..=255 {
            assert!(!limit.admit(frame(kind, 0, 8)), "{kind}");
        }
        assert!(!limit.admit(frame(DATA, 0, 0)) && !limit.admit(frame(DATA, PADDED, 256)));
    }
}
