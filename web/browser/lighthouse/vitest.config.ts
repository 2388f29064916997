import { defineConfig } from "vitest/config";

// Apart from the other browser tests, since the scores need a machine that does nothing else.
export default defineConfig({
  test: {
    include: ["browser/lighthouse/*.test.ts"],
    reporters: ["verbose"],
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
});
