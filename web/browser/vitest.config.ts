import { defineConfig } from "vitest/config";

// Each story has a server, and browsers as players; two at a time are enough for a small machine. They wait for what is to
// be seen, never for a time, so the limits only end what hangs.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    reporters: ["verbose"],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
