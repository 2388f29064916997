import { defineConfig } from "vite";
import page from "./vite.config.ts";

// The embedded board is a page of its own, which shares no file with the other one: it stays small, and has no code that
// logs in.
export default defineConfig({
  oxc: page.oxc ?? {},
  build: { ...page.build, emptyOutDir: false, copyPublicDir: false, rolldownOptions: { input: "embed.html" } },
});
