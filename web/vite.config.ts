import { defineConfig } from "vitest/config";
import { firstPaint } from "./build/first_paint.ts";
import { serviceWorker } from "./build/service_worker.ts";

// `npm run dev` proxies calls to a local server.
const server = process.env["REVERSI_SERVER"] ?? "http://127.0.0.1:50051";

export default defineConfig({
  plugins: [firstPaint(), serviceWorker()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // The first with light-dark(), which would else be rewritten at length.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Nothing inline: the Content-Security-Policy allows files of the server only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Two files for the first screen, of which the protocol runs in a task of its own, and one for what other screens
        // share: each further file costs a round trip.
        codeSplitting: {
          groups: [
            { name: "protocol", tags: ["$initial"], test: /src\/gen|@bufbuild|@connectrpc/ },
            { name: "first", tags: ["$initial"] },
            { name: "shared", minShareCount: 2 },
          ],
        },
      },
    },
  },
  // The names of openings are read from the engine's list.
  server: { proxy: { "/reversi.v1": server }, fs: { allow: [".."] } },
  preview: { proxy: { "/reversi.v1": server } },
  // With style sheets, since a test reads one.
  test: { include: ["src/**/*.test.ts"], css: true },
});
