import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { test as plain } from "vitest";
import { en } from "../../src/text/en";
import { Server } from "./server";

/** Where pictures of the page go: kept by whoever runs the tests, never committed. */
export const OUT = join(import.meta.dirname, "../../../.ci/out");

/** Longer than anything here takes, and shorter than a story may. */
const PATIENCE = 30_000;

/** What a browser may say on its console while a story goes as it should. */
type Harmless = RegExp;

export interface Opening extends BrowserContextOptions {
  /** Where in the page to begin, after the `#`. */
  at?: string;
}

export interface Fixtures {
  browser: Browser;
  /** An empty folder. */
  folder: string;
  server: Server;
  /** Whatever else a browser says on its console fails the story. */
  harmless: Harmless[];
  /** Opens the page in a browser of its own, which knows nobody yet. */
  open: (opening?: Opening) => Promise<Page>;
  /** Opens the page, and logs in under a name. */
  enter: (name: string, opening?: Opening) => Promise<Page>;
}

/** A story, told with as many browsers as it needs. It fails when a browser has anything to complain of. */
export const story = plain.extend<Fixtures>({
  browser: [
    async ({}, use) => {
      const browser = await chromium.launch({
        executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
        // Root has no sandbox; and what containers offer as shared memory is too small.
        args: ["--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
      });
      await use(browser);
      await browser.close();
    },
    { scope: "worker" },
  ],
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), "reversi-"));
    await use(folder);
    rmSync(folder, { recursive: true });
  },
  server: async ({}, use) => {
    const server = await Server.start();
    await use(server);
    await server.kill();
  },
  harmless: async ({}, use) => use([]),
  open: async ({ browser, server, harmless, task }, use) => {
    const contexts: BrowserContext[] = [];
    const complaints: string[] = [];
    await use(async ({ at = "", ...options } = {}) => {
      const context = await browser.newContext({ locale: "en-US", acceptDownloads: true, ...options });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE);
      listen(context, server.url, harmless, complaints);
      const page = await context.newPage();
      await page.goto(`${server.url}#/${at}`);
      return page;
    });
    if (task.result?.errors?.length) await photograph(contexts, task.name);
    for (const context of contexts) await context.close();
    if (complaints.length > 0) throw new Error(complaints.join("\n"));
  },
  enter: async ({ open }, use) =>
    use(async (name, opening) => {
      const page = await open(opening);
      await logIn(page, name);
      return page;
    }),
});

export async function logIn(page: Page, name: string): Promise<void> {
  await page.getByLabel(en.logIn.name).fill(name);
  await page.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  await page.getByRole("button", { name: en.menu.settings }).getByText(name).waitFor();
}

/** Where in the page a link leads: what is after its `#`. */
export function address(link: string): string {
  return link.split("#/")[1] ?? "";
}

/** Takes down all that a page does wrong by itself, which includes to call anybody but its server. */
function listen(context: BrowserContext, home: string, harmless: Harmless[], complaints: string[]): void {
  context.on("console", (message) => {
    const said = `${message.text()} (${message.location().url})`;
    const bad = message.type() === "error" || message.type() === "warning";
    if (bad && !harmless.some((expected) => expected.test(said))) complaints.push(`console: ${said}`);
  });
  context.on("weberror", (problem) => complaints.push(`uncaught: ${problem.error().stack ?? problem.error().message}`));
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home) && !/^(data|blob):/.test(url)) complaints.push(`a request elsewhere: ${url}`);
  });
}

/** What the browsers of a story showed when it failed. */
async function photograph(contexts: BrowserContext[], name: string): Promise<void> {
  const folder = join(OUT, "failures");
  mkdirSync(folder, { recursive: true });
  const pages = contexts.flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    await page.screenshot({ path: join(folder, `${name.replaceAll(" ", "_")}-${index + 1}.png`), fullPage: true });
  }
}
