import { defineConfig } from "vitest/config";

// Each test has its own server and browsers, two tests at a time. They wait for elements, never for a time; the timeouts
// only end tests that hang.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    exclude: ["browser/lighthouse"],
    reporters: ["verbose"],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
