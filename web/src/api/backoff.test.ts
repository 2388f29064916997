import { expect, it } from "vitest";
import { backoff } from "./backoff";

it("grows exponentially to a limit, with jitter", () => {
  expect([0, 1, 2, 3].map((attempt) => backoff(attempt, 1))).toEqual([500, 1000, 2000, 4000]);
  expect(backoff(100, 1)).toBe(15_000);
  expect(backoff(1, 0)).toBe(500);
});
