//! Caches of searched states for alpha-beta.
//!
//! All caches are bounded: each key has one slot, and a later entry replaces an earlier one. Whole keys are compared,
//! so that states are never confused.
use std::hash::{Hash, Hasher};

/// The window of relevant values: the side to move already has `alpha`, and its opponent avoids `beta` or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The lower end.
    pub alpha: i32,
    /// The upper end, greater than `alpha`.
    pub beta: i32,
}

impl Window {
    /// The same window for the other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }
}

/// The result of searching a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Exact inside the window, else a bound.
    pub value: i32,
    /// Whether a line ended at the depth limit, so that a deeper search may give another value.
    pub horizon: bool,
}

/// A cache of searched states.
pub trait Cache<S, M> {
    /// A stored result for this state that is valid at exactly this depth and window.
    fn get(&self, state: &S, depth: u8, window: Window) -> Option<Searched>;

    /// The best move of the last search of this state at any depth, to be tried first.
    fn hint(&self, state: &S) -> Option<M>;

    /// Stores a result and its best move.
    fn put(&mut self, state: &S, depth: u8, window: Window, searched: Searched, best: M);
}

/// A cache that stores nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl<S, M> Cache<S, M> for NoCache {
    fn get(&self, _state: &S, _depth: u8, _window: Window) -> Option<Searched> {
        None
    }

    fn hint(&self, _state: &S) -> Option<M> {
        None
    }

    fn put(&mut self, _state: &S, _depth: u8, _window: Window, _searched: Searched, _best: M) {}
}

/// A transposition table: bounds serve all windows, and the best move the next depth.
#[derive(Clone, Debug)]
pub struct Transpositions<S, M> {
    slots: Slots<S, Transposition<M>>,
}

#[derive(Clone, Copy, Debug)]
struct Transposition<M> {
    depth: u8,
    bound: Bound,
    searched: Searched,
    best: M,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    AtMost,
    Exactly,
    AtLeast,
}

impl<S, M> Transpositions<S, M> {
    /// An empty table of 2^`bits` slots.
    #[must_use]
    pub fn with_bits(bits: u8) -> Self {
        Self { slots: Slots::with_bits(bits) }
    }
}

impl<S: Copy + Eq + Hash, M: Copy> Cache<S, M> for Transpositions<S, M> {
    fn get(&self, state: &S, depth: u8, window: Window) -> Option<Searched> {
        let known = self.slots.get(state)?;
        let value = known.searched.value;
        let enough = match known.bound {
            Bound::AtMost => value <= window.alpha,
            Bound::Exactly => true,
            Bound::AtLeast => value >= window.beta,
        };
        (known.depth == depth && enough).then_some(known.searched)
    }

    fn hint(&self, state: &S) -> Option<M> {
        Some(self.slots.get(state)?.best)
    }

    fn put(&mut self, state: &S, depth: u8, window: Window, searched: Searched, best: M) {
        let bound = if searched.value <= window.alpha {
            Bound::AtMost
        } else if searched.value >= window.beta {
            Bound::AtLeast
        } else {
            Bound::Exactly
        };
        let known = Transposition { depth, bound, searched, best };
        self.slots.put(*state, known);
    }
}

/// A cache keyed by state, depth and window together.
#[derive(Clone, Debug)]
pub struct WindowCache<S> {
    slots: Slots<(S, u8, Window), Searched>,
}

impl<S> WindowCache<S> {
    /// An empty cache of 2^`bits` slots.
    #[must_use]
    pub fn with_bits(bits: u8) -> Self {
        Self { slots: Slots::with_bits(bits) }
    }
}

impl<S: Copy + Eq + Hash, M> Cache<S, M> for WindowCache<S> {
    fn get(&self, state: &S, depth: u8, window: Window) -> Option<Searched> {
        self.slots.get(&(*state, depth, window)).copied()
    }

    fn hint(&self, _state: &S) -> Option<M> {
        None
    }

    fn put(&mut self, state: &S, depth: u8, window: Window, searched: Searched, _best: M) {
        self.slots.put((*state, depth, window), searched);
    }
}

/// A direct-mapped hash table, with one slot per index.
#[derive(Clone, Debug)]
struct Slots<K, V> {
    slots: Vec<Option<(K, V)>>,
    bits: u8,
}

impl<K, V> Slots<K, V> {
    fn with_bits(bits: u8) -> Self {
        assert!((1..=30).contains(&bits), "a cache of 2^{bits} slots");
        let slots = std::iter::repeat_with(|| None).take(1 << bits).collect();
        Self { slots, bits }
    }
}

impl<K: Eq + Hash, V> Slots<K, V> {
    fn get(&self, key: &K) -> Option<&V> {
        let (known, value) = self.slots[self.index(key)].as_ref()?;
        (known == key).then_some(value)
    }

    fn put(&mut self, key: K, value: V) {
        let index = self.index(&key);
        self.slots[index] = Some((key, value));
    }

    fn index(&self, key: &K) -> usize {
        let mut hasher = Multiplier(0);
        key.hash(&mut hasher);
        (hasher.finish() >> (64 - self.bits)) as usize
    }
}

/// A multiplicative hash (Knuth, The Art of Computer Programming 3, 6.4), of which the high bits are used. The standard
/// library's hasher resists attacks, which is not needed here, and takes longer than evaluating a board.
struct Multiplier(u64);

impl Hasher for Multiplier {
    fn finish(&self) -> u64 {
        (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            self.write_u64(word);
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Window = Window { alpha: -10, beta: 10 };

    fn searched(value: i32) -> Searched {
        Searched { value, horizon: true }
    }

    #[test]
    fn a_transposition_serves_the_windows_its_bound_decides() {
        let mut table = Transpositions::with_bits(4);
        table.put(&'s', 3, WIDE, searched(4), 'm');
        assert_eq!(table.get(&'s', 3, Window { alpha: 7, beta: 8 }), Some(searched(4)));
        assert_eq!(table.get(&'s', 2, WIDE), None, "another depth");
        assert_eq!(table.get(&'t', 3, WIDE), None, "another state");
        assert_eq!(table.hint(&'s'), Some('m'));
        table.put(&'s', 3, Window { alpha: -10, beta: 4 }, searched(5), 'm');
        assert_eq!(table.get(&'s', 3, WIDE), None, "a lower bound of 5 does not decide a window up to 10");
        assert_eq!(table.get(&'s', 3, Window { alpha: -10, beta: 5 }), Some(searched(5)));
        table.put(&'s', 3, Window { alpha: 6, beta: 10 }, searched(5), 'm');
        assert_eq!(table.get(&'s', 3, WIDE), None, "an upper bound of 5 does not decide a window from -10");
        assert_eq!(table.get(&'s', 3, Window { alpha: 5, beta: 10 }), Some(searched(5)));
    }

    #[test]
    fn a_window_cache_needs_equal_state_depth_and_window() {
        let mut cache = WindowCache::with_bits(4);
        let get =
            |cache: &WindowCache<char>, state, depth, window| Cache::<char, u8>::get(cache, &state, depth, window);
        cache.put(&'s', 3, WIDE, searched(4), 0_u8);
        assert_eq!(get(&cache, 's', 3, WIDE), Some(searched(4)));
        assert_eq!(get(&cache, 's', 2, WIDE), None);
        assert_eq!(get(&cache, 't', 3, WIDE), None);
        assert_eq!(get(&cache, 's', 3, Window { alpha: -9, beta: 10 }), None);
    }

    #[test]
    fn a_full_table_drops_entries_and_never_returns_a_wrong_one() {
        let mut table = Transpositions::with_bits(2);
        for state in 0..100_u64 {
            table.put(&state, 1, WIDE, searched(state as i32 % 10), ());
        }
        let known: Vec<u64> = (0..100).filter(|state| table.get(state, 1, WIDE).is_some()).collect();
        assert!((1..=4).contains(&known.len()), "{known:?}");
        for state in known {
            assert_eq!(table.get(&state, 1, WIDE), Some(searched(state as i32 % 10)));
        }
    }
}
