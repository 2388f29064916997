const FIRST = 500;
const LONGEST = 15_000;

/**
 * The delay before retry number `attempt` (the first is 0), in milliseconds. Half of it is jitter, scaled by `random` in
 * 0..1, so that clients of a restarted server do not all return at once.
 */
export function backoff(attempt: number, random: number): number {
  const longest = Math.min(LONGEST, FIRST * 2 ** attempt);
  return longest / 2 + (longest / 2) * random;
}
