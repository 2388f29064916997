const FIRST = 500;
const LONGEST = 15_000;

/**
 * How long to wait before attempt number `attempt`, in milliseconds; the first is 0. Half of it is chance, a number from 0
 * to 1, so that the players of a restarted server do not return all at once.
 */
export function backoff(attempt: number, chance: number): number {
  const most = Math.min(LONGEST, FIRST * 2 ** attempt);
  return most / 2 + (most / 2) * chance;
}
