import { readFileSync } from "node:fs";
import type { HtmlTagDescriptor, Plugin } from "vite";

const STYLE = ["theme", "base", "header", "small_board"].map((name) => `src/style/${name}.css`);
/** The entry, and the one file that it imports. */
const IMPORTED = /( *<script type="module".*\n) *<link rel="modulepreload" .*href="(.*)">\n/;
const APPEARANCE = "src/appearance.js";

/**
 * Loads first what the markup of a page needs: a small style sheet, and a script that gives the chosen colors. Neither is a
 * module, so they are files of their own. The other style sheet moves behind the markup, where it does not delay the paint.
 * What the entry imports is a script before it, so that the two run in tasks of their own, which block a slow device less.
 */
export function firstPaint(): Plugin {
  return {
    name: "first-paint",
    enforce: "post",
    buildStart() {
      if (this.meta.watchMode) return;
      this.emitFile({ type: "asset", name: "first_paint.css", source: STYLE.map(read).join("\n") });
      this.emitFile({ type: "asset", name: "appearance.js", source: read(APPEARANCE) });
    },
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle }) {
        if (!bundle) return [...STYLE.map(sheet), script(APPEARANCE)];
        const built = (name: string) => {
          const file = Object.values(bundle).find((file) => file.name === name);
          if (!file) throw new Error(`${name} is not built`);
          return file.fileName;
        };
        if (!IMPORTED.test(html)) throw new Error("the entry does not import one file");
        const links = html.match(/ *<link rel="stylesheet".*\n/g) ?? [];
        const scripts = html.replace(
          IMPORTED,
          (_, first, file) => `    <script type="module" crossorigin src="${file}"></script>\n${first}`,
        );
        return {
          html: links.reduce((page, link) => page.replace(link, "").replace("  </body>", `${link}  </body>`), scripts),
          tags: [sheet(built("first_paint.css")), script(built("appearance.js"))],
        };
      },
    },
  };
}

function read(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
}

function sheet(file: string): HtmlTagDescriptor {
  return { tag: "link", attrs: { rel: "stylesheet", href: `/${file}` }, injectTo: "head-prepend" };
}

function script(file: string): HtmlTagDescriptor {
  return { tag: "script", attrs: { src: `/${file}` }, injectTo: "head" };
}
