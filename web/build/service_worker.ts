import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Plugin, transformWithOxc } from "vite";

const SOURCE = new URL("../service_worker/service_worker.ts", import.meta.url);

/** Builds the service worker, which knows the files of this build and its version. */
export function serviceWorker(): Plugin {
  return {
    name: "service-worker",
    enforce: "post",
    async generateBundle(_options, bundle) {
      const files = Object.keys(bundle).filter((name) => name.startsWith("assets/"));
      const paths = files.map((name) => `/${name}`).sort();
      const index = bundle["index.html"];
      const page = index?.type === "asset" ? index.source : "";
      const version = createHash("sha256").update(paths.join()).update(page).digest("hex").slice(0, 16);
      const { code } = await transformWithOxc(readFileSync(SOURCE, "utf8"), SOURCE.pathname);
      const head = `const VERSION = "${version}";\nconst FILES = ${JSON.stringify(paths)};\n`;
      this.emitFile({ type: "asset", fileName: "service_worker.js", source: head + code });
    },
  };
}
