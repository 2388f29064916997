//! Roots of functions.

/// Bounds the steps; the usual number is 3 to 6.
const MAX_STEPS: u32 = 100;

/// A step this small is the last: the next one would be near its square.
const LAST_STEP: f64 = 1e-9;

/// The root of an increasing function between two numbers, by Newton's method from `start`; a step out of the interval in
/// which the root must lie is replaced by half of it. `step` is the difference to the root divided by the slope.
#[must_use]
pub fn increasing_root([mut low, mut high]: [f64; 2], start: f64, step: impl Fn(f64) -> f64) -> f64 {
    let mut x = start.clamp(low, high);
    for _ in 0..MAX_STEPS {
        let change = step(x);
        if change > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let next = x + change;
        let next = if next > low && next < high { next } else { f64::midpoint(low, high) };
        let moved = (next - x).abs();
        x = next;
        if moved <= LAST_STEP {
            break;
        }
    }
    x
}
