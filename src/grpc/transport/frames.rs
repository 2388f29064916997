//! The heads of the frames of HTTP/2 (RFC 9113, section 4.1) in one direction of a connection.

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const PADDED: u8 = 8;

/// Length of a head in bytes.
const HEAD: usize = 9;

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    /// Length of the payload in bytes.
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

/// Finds the heads in bytes that arrive in parts, from the first frame on.
#[derive(Default)]
pub(super) struct FrameHeads {
    head: [u8; HEAD],
    /// Bytes of `head` received so far.
    filled: usize,
    /// Bytes of the payload still to skip.
    payload: usize,
}

impl FrameHeads {
    /// Removes bytes up to the end of the next head, and returns the head. None if the bytes end first.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<FrameHead> {
        let skipped = self.payload.min(bytes.len());
        self.payload -= skipped;
        let taken = (HEAD - self.filled).min(bytes.len() - skipped);
        let (before, rest) = bytes.split_at(skipped + taken);
        *bytes = rest;
        self.head[self.filled..][..taken].copy_from_slice(&before[skipped..]);
        self.filled += taken;
        if self.filled < HEAD {
            return None;
        }
        self.filled = 0;
        let [high, middle, low, kind, flags, stream @ ..] = self.head;
        self.payload = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        // The highest bit is reserved.
        let stream = u32::from_be_bytes(stream) & (u32::MAX >> 1);
        Some(FrameHead { length: self.payload, kind, flags, stream })
    }

    /// True if the last frame is complete.
    pub(super) fn is_between_frames(&self) -> bool {
        self.filled == 0 && self.payload == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn heads(reader: &mut FrameHeads, mut bytes: &[u8]) -> Vec<FrameHead> {
        std::iter::from_fn(|| reader.next(&mut bytes)).collect()
    }

    proptest! {
        #[test]
        fn heads_are_found_in_any_parts(
            frames in proptest::collection::vec((0..300_usize, any::<u8>(), any::<u8>(), any::<u32>()), 0..20),
            part in 1..400_usize,
        ) {
            let (mut bytes, mut expected) = (Vec::new(), Vec::new());
            for (length, kind, flags, stream) in frames {
                bytes.extend([0, (length >> 8) as u8, length as u8, kind, flags]);
                bytes.extend(stream.to_be_bytes());
                bytes.extend(std::iter::repeat_n(0xff, length));
                expected.push(FrameHead { length, kind, flags, stream: stream % (1 << 31) });
            }
            let mut reader = FrameHeads::default();
            let found: Vec<_> = bytes.chunks(part).flat_map(|part| heads(&mut reader, part)).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(reader.is_between_frames());
        }
    }

    #[test]
    fn a_frame_ends_with_its_last_byte() {
        let mut reader = FrameHeads::default();
        for (byte, is_between) in
            [0, 0, 2, 0, 0, 0, 0, 0, 1, 7, 7].into_iter().zip([false; 10].into_iter().chain([true]))
        {
            heads(&mut reader, &[byte]);
            assert_eq!(reader.is_between_frames(), is_between);
        }
    }
}
