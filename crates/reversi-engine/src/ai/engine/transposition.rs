//! The transposition table: the results of earlier searches by position.
//!
//! The threads of a search share it without a lock: an entry is two words, the first of which is the key XOR the
//! second, so that halves of two writes do not match (Hyatt and Mann, "A Lockless Transposition Table Implementation
//! for Parallel Search", 2002).
use std::sync::atomic::{AtomicU64, Ordering};

use crate::search::Stop;

/// A bounded table of positions. Entries of earlier searches are never found, only overwritten, so that a search does
/// not depend on them.
#[derive(Debug)]
pub(super) struct TranspositionTable {
    buckets: Vec<Bucket>,
    /// Masks a hash to a bucket's index. A search uses no more buckets than it needs, so that a small one stays in the
    /// processor's cache.
    mask: usize,
    /// The maximum number of buckets, a power of two.
    most: usize,
    generation: u8,
}

/// Four entries, which fill a cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket([Slot; 4]);

#[derive(Debug, Default)]
struct Slot {
    check: AtomicU64,
    word: AtomicU64,
}

/// The depth in plies and the certainty (see [`super::probcut`]) of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    pub(super) depth: u8,
    pub(super) certainty: u8,
}

/// The bounds of a position's value and its best moves, or [`NO_SQUARE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) lower: i16,
    pub(super) upper: i16,
    pub(super) effort: Effort,
    pub(super) best: u8,
    pub(super) second: u8,
}

pub(super) const NO_SQUARE: u8 = 64;

impl TranspositionTable {
    /// A table of at most `bytes`, but at least one bucket. Memory is allocated when a search needs it.
    pub(super) fn with_bytes(bytes: usize) -> Self {
        let most = 1 << (bytes / size_of::<Bucket>()).max(1).ilog2();
        Self { buckets: vec![Bucket::default()], mask: 0, most, generation: 0 }
    }

    /// Forgets all entries and grows for a search of `positions` positions; stops growing if the flag is set.
    pub(super) fn prepare(&mut self, positions: u64, stop: &Stop) {
        self.forget();
        let wanted = usize::try_from(positions).unwrap_or(usize::MAX).saturating_mul(BUCKETS_PER_POSITION);
        let count = wanted.clamp(1, self.most).next_power_of_two();
        if count > self.buckets.len() {
            self.grow(count, stop);
        }
        self.mask = (1 << count.min(self.buckets.len()).ilog2()) - 1;
    }

    /// Begins a generation and clears a part of the table, so that every part is cleared before a generation's number
    /// is used again, after 256 searches.
    fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        let part = self.buckets.len().div_ceil(GENERATIONS);
        let parts = self.buckets.chunks_mut(part);
        for bucket in parts.skip(self.generation.into()).take(1).flatten() {
            *bucket = Bucket::default();
        }
    }

    fn grow(&mut self, count: usize, stop: &Stop) {
        // Entries need not be copied: all are forgotten.
        self.buckets = Vec::new();
        self.buckets.reserve_exact(count);
        while self.buckets.is_empty() || self.buckets.len() < count && !stop.is_stopped() {
            let len = count.min(self.buckets.len() + BUCKETS_AT_ONCE);
            self.buckets.resize_with(len, Bucket::default);
        }
    }

    #[inline(always)]
    pub(super) fn find(&self, key: u64) -> Option<Entry> {
        self.bucket(key).0.iter().find_map(|slot| {
            let word = slot.word.load(Ordering::Relaxed);
            self.is_of(key, slot, word).then(|| Entry::of_word(word))
        })
    }

    /// Stores an entry. It is joined with that of the same position, or else replaces the one of the lowest depth.
    #[inline(always)]
    pub(super) fn keep(&self, key: u64, mut entry: Entry) {
        let slots = &self.bucket(key).0;
        let mut victim = &slots[0];
        let mut least = u32::MAX;
        for slot in slots {
            let word = slot.word.load(Ordering::Relaxed);
            if self.is_of(key, slot, word) {
                entry = entry.joined(Entry::of_word(word));
                victim = slot;
                break;
            }
            let is_used = word != 0 && generation_of(word) == self.generation;
            let worth = if is_used { u32::from(depth_of(word)) + 1 } else { 0 };
            if worth < least {
                least = worth;
                victim = slot;
            }
        }
        let word = entry.word(self.generation);
        victim.word.store(word, Ordering::Relaxed);
        victim.check.store(key ^ word, Ordering::Relaxed);
    }

    /// Whether the slot has this position, stored by this search.
    #[inline(always)]
    fn is_of(&self, key: u64, slot: &Slot, word: u64) -> bool {
        slot.check.load(Ordering::Relaxed) ^ word == key && generation_of(word) == self.generation && word != 0
    }

    #[inline(always)]
    fn bucket(&self, key: u64) -> &Bucket {
        &self.buckets[(key >> 20) as usize & self.mask]
    }
}

/// Enough that no bucket is ever full, so that a larger table gives the same result.
const BUCKETS_PER_POSITION: usize = 16;

/// The number of buckets (1 MiB, 0.5 ms of work) after which the flag is checked.
const BUCKETS_AT_ONCE: usize = 1 << 14;

/// The number of distinct generations.
const GENERATIONS: usize = 1 << 8;

const DEPTH_SHIFT: u32 = 32;
const CERTAINTY_SHIFT: u32 = 38;
const BEST_SHIFT: u32 = 41;
const SECOND_SHIFT: u32 = 48;
const GENERATION_SHIFT: u32 = 56;

fn depth_of(word: u64) -> u8 {
    (word >> DEPTH_SHIFT) as u8 & 63
}

fn generation_of(word: u64) -> u8 {
    (word >> GENERATION_SHIFT) as u8
}

impl Entry {
    fn of_word(word: u64) -> Self {
        Self {
            lower: word as i16,
            upper: (word >> 16) as i16,
            effort: Effort { depth: depth_of(word), certainty: (word >> CERTAINTY_SHIFT) as u8 & 7 },
            best: (word >> BEST_SHIFT) as u8 & 127,
            second: (word >> SECOND_SHIFT) as u8 & 127,
        }
    }

    fn word(self, generation: u8) -> u64 {
        u64::from(self.lower.cast_unsigned())
            | u64::from(self.upper.cast_unsigned()) << 16
            | u64::from(self.effort.depth & 63) << DEPTH_SHIFT
            | u64::from(self.effort.certainty & 7) << CERTAINTY_SHIFT
            | u64::from(self.best & 127) << BEST_SHIFT
            | u64::from(self.second & 127) << SECOND_SHIFT
            | u64::from(generation) << GENERATION_SHIFT
    }

    /// This entry joined with an older one of the same position.
    fn joined(mut self, older: Self) -> Self {
        if self.effort == older.effort {
            let (lower, upper) = (self.lower.max(older.lower), self.upper.min(older.upper));
            // Selective searches of one position may contradict each other; then the newer one counts.
            if lower <= upper {
                (self.lower, self.upper) = (lower, upper);
            }
        }
        if self.best == NO_SQUARE {
            (self.best, self.second) = (older.best, older.second);
        } else if self.best != older.best {
            self.second = older.best;
        } else {
            self.second = older.second;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl TranspositionTable {
        /// A table that is ready for any search.
        pub(in super::super) fn ready(bytes: usize) -> Self {
            let mut table = Self::with_bytes(bytes);
            table.prepare(u64::MAX, &Stop::new());
            table
        }

        fn bytes(&self) -> usize {
            self.buckets.len() * size_of::<Bucket>()
        }
    }

    fn any_entry() -> impl Strategy<Value = Entry> {
        (any::<i16>(), any::<i16>(), 0..64_u8, 0..8_u8, 0..=64_u8, 0..=64_u8).prop_map(
            |(lower, upper, depth, certainty, best, second)| Entry {
                lower,
                upper,
                effort: Effort { depth, certainty },
                best,
                second,
            },
        )
    }

    proptest! {
        #[test]
        fn an_entry_fits_into_a_word(entry in any_entry(), generation: u8) {
            let word = entry.word(generation);
            prop_assert_eq!(Entry::of_word(word), entry);
            prop_assert_eq!(generation_of(word), generation);
        }

        #[test]
        fn entries_are_found_until_they_are_cleared(entry in any_entry(), key: u64) {
            let mut table = TranspositionTable::ready(1 << 12);
            table.keep(key, entry);
            prop_assert_eq!(table.find(key), Some(entry));
            let other = Entry { effort: Effort { depth: 1, certainty: 0 }, ..entry };
            table.forget();
            prop_assert_eq!(table.find(key), None);
            table.keep(key, other);
            prop_assert_eq!(table.find(key), Some(other));
        }
    }

    fn plain(depth: u8) -> Entry {
        Entry { lower: -5, upper: 7, effort: Effort { depth, certainty: 1 }, best: 3, second: NO_SQUARE }
    }

    #[test]
    fn bounds_of_equal_effort_are_merged_and_the_earlier_best_move_is_kept() {
        let table = TranspositionTable::ready(64);
        table.keep(9, plain(4));
        table.keep(9, Entry { lower: -9, upper: 2, best: 8, ..plain(4) });
        let joined = Entry { lower: -5, upper: 2, best: 8, second: 3, ..plain(4) };
        assert_eq!(table.find(9), Some(joined));
    }

    #[test]
    fn old_searches_and_then_the_least_effort_are_replaced_first() {
        let mut table = TranspositionTable::ready(64);
        (1..=4).for_each(|depth| table.keep(depth, plain(depth as u8)));
        table.keep(5, plain(5));
        assert_eq!(table.find(1), None);
        assert!((2..=5).all(|key| table.find(key).is_some()));
        table.forget();
        (6..=9).for_each(|key| table.keep(key, plain(1)));
        assert!((6..=9).all(|key| table.find(key).is_some()), "deep entries of an old search are replaced");
    }

    #[test]
    fn torn_writes_are_not_found() {
        let table = TranspositionTable::ready(64);
        table.keep(9, plain(4));
        let slot = &table.buckets[0].0[0];
        slot.word.store(plain(5).word(1), Ordering::Relaxed);
        assert_eq!(table.find(9), None);
    }

    #[test]
    fn the_memory_is_what_a_search_needs_and_never_exceeds_the_limit() {
        for bytes in [0, 64, 100, 1000, 1 << 16] {
            assert!(TranspositionTable::ready(bytes).bytes() <= bytes.max(64));
        }
        let mut table = TranspositionTable::with_bytes(1 << 24);
        table.prepare(200, &Stop::new());
        assert_eq!((table.bytes(), table.mask), (1 << 18, (1 << 12) - 1));
        table.prepare(u64::MAX, &Stop::new());
        assert_eq!((table.bytes(), table.mask), (1 << 24, (1 << 18) - 1));
        table.prepare(200, &Stop::new());
        assert_eq!((table.bytes(), table.mask), (1 << 24, (1 << 12) - 1));
    }

    #[test]
    fn growing_ends_when_the_flag_is_raised() {
        let stop = Stop::new();
        stop.stop();
        let mut table = TranspositionTable::with_bytes(1 << 24);
        table.prepare(u64::MAX, &stop);
        assert_eq!(table.bytes(), 1 << 20);
        table.keep(u64::MAX, plain(4));
        assert_eq!(table.find(u64::MAX), Some(plain(4)));
    }

    #[test]
    fn a_reused_generation_finds_no_old_entries() {
        for bytes in [1 << 12, 1 << 16] {
            let mut table = TranspositionTable::ready(bytes);
            let buckets = 0..table.buckets.len() as u64;
            buckets.clone().for_each(|bucket| table.keep(bucket << 20 | 1, plain(4)));
            for _ in 0..2 * GENERATIONS {
                table.forget();
                assert!(buckets.clone().all(|bucket| table.find(bucket << 20 | 1).is_none()));
            }
        }
    }
}
