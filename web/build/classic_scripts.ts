import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Plugin, transformWithOxc } from "vite";

const APPEARANCE = new URL("../src/appearance.js", import.meta.url);
const SERVICE_WORKER = new URL("../service_worker/service_worker.ts", import.meta.url);

/** Scripts that are no modules, which Vite leaves alone: appearance.js in the head of index.html, and the service worker. */
export function classicScripts(): Plugin {
  return {
    name: "classic-scripts",
    enforce: "post",
    buildStart() {
      if (this.meta.watchMode) return;
      this.emitFile({ type: "asset", name: "appearance.js", source: readFileSync(APPEARANCE) });
    },
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle, path }) => {
        if (path !== "/index.html") return;
        const built = Object.values(bundle ?? {}).find(({ name }) => name === "appearance.js");
        const src = built ? `/${built.fileName}` : "/src/appearance.js";
        return [{ tag: "script", attrs: { src }, injectTo: "head" }];
      },
    },
    async generateBundle(_options, bundle) {
      const files = Object.keys(bundle)
        .filter((name) => name.startsWith("assets/"))
        .sort();
      const index = bundle["index.html"];
      const page = index?.type === "asset" ? index.source : "";
      const version = createHash("sha256").update(files.join()).update(page).digest("hex").slice(0, 16);
      const { code } = await transformWithOxc(readFileSync(SERVICE_WORKER, "utf8"), SERVICE_WORKER.pathname);
      const head = `const VERSION = "${version}";\nconst FILES = ${JSON.stringify(files.map((name) => `/${name}`))};\n`;
      this.emitFile({ type: "asset", fileName: "service_worker.js", source: head + code });
    },
  };
}
