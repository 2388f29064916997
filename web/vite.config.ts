import { defineConfig } from "vitest/config";

// `npm run dev` proxies calls to a local server.
const server = process.env["REVERSI_SERVER"] ?? "http://127.0.0.1:50051";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    // Nothing inline: the Content-Security-Policy allows files of the server only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // The names of openings are read from the engine's list.
  server: { proxy: { "/reversi.v1": server }, fs: { allow: [".."] } },
  preview: { proxy: { "/reversi.v1": server } },
  test: { include: ["src/**/*.test.ts"] },
});
