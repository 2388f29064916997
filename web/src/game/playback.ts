/** The ply that a key moves to from `at`, in 0..=plies; undefined for other keys. */
export function step(key: string, at: number, plies: number): number | undefined {
  switch (key) {
    case "ArrowLeft":
      return Math.max(0, at - 1);
    case "ArrowRight":
      return Math.min(plies, at + 1);
    case "Home":
      return 0;
    case "End":
      return plies;
    default:
      return undefined;
  }
}

/** Milliseconds a ply during automatic playback, by speed. */
export const SPEEDS = { "½×": 2_000, "1×": 1_000, "2×": 500, "4×": 250 } as const;
export type Speed = keyof typeof SPEEDS;

export function isSpeed(value: unknown): value is Speed {
  return typeof value === "string" && Object.hasOwn(SPEEDS, value);
}
