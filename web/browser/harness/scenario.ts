import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { test } from "vitest";
import { en } from "../../src/text/en";
import { Server } from "./server";

/** The folder for screenshots; not committed. */
export const OUT = join(import.meta.dirname, "../../../.ci/out");

/** The timeout of one action, in milliseconds; shorter than that of a test. */
const ACTION_TIMEOUT = 30_000;

/** A console message that is expected. */
type ExpectedError = RegExp;

export interface Opening extends BrowserContextOptions {
  /** The fragment of the first address, without `#/`. */
  at?: string;
}

export interface Fixtures {
  browser: Browser;
  /** An empty folder. */
  folder: string;
  server: Server;
  /** Any other warning or error on a browser's console fails the test. */
  expectedErrors: ExpectedError[];
  /** Opens the page in a new browser context, logged out. */
  open: (opening?: Opening) => Promise<Page>;
  /** Opens the page and logs in. */
  openAs: (name: string, opening?: Opening) => Promise<Page>;
}

/** A test with a server and any number of browsers. It fails on unexpected console messages and on requests to other hosts. */
export const scenario = test.extend<Fixtures>({
  browser: [
    async ({}, use) => {
      const browser = await chromium.launch({
        executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
        // Chromium has no sandbox as root, and containers have too little shared memory.
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
  expectedErrors: async ({}, use) => use([]),
  open: async ({ browser, server, expectedErrors, task }, use) => {
    const contexts: BrowserContext[] = [];
    const problems: string[] = [];
    await use(async ({ at = "", ...options } = {}) => {
      const context = await browser.newContext({ locale: "en-US", acceptDownloads: true, ...options });
      contexts.push(context);
      context.setDefaultTimeout(ACTION_TIMEOUT);
      listen(context, server.url, expectedErrors, problems);
      const page = await context.newPage();
      await page.goto(`${server.url}#/${at}`);
      return page;
    });
    if (task.result?.errors?.length) await takeScreenshots(contexts, task.name);
    for (const context of contexts) await context.close();
    if (problems.length > 0) throw new Error(problems.join("\n"));
  },
  openAs: async ({ open, server }, use) =>
    use(async (name, opening) => {
      const { at, ...options } = opening ?? {};
      const page = await open(options);
      await logIn(page, name);
      if (at) await page.goto(`${server.url}#/${at}`);
      return page;
    }),
});

export async function logIn(page: Page, name: string): Promise<void> {
  await page.getByLabel(en.logIn.name).fill(name);
  await page.getByRole("button", { name: en.logIn.enter, exact: true }).click();
  await page.getByRole("button", { name: en.menu.settings }).getByText(name).waitFor();
}

/** The fragment of a link, without `#/`. */
export function address(link: string): string {
  return link.split("#/")[1] ?? "";
}

/** Collects console errors, uncaught exceptions and requests to other hosts. */
function listen(context: BrowserContext, home: string, expectedErrors: ExpectedError[], problems: string[]): void {
  context.on("console", (message) => {
    const said = `${message.text()} (${message.location().url})`;
    const bad = message.type() === "error" || message.type() === "warning";
    if (bad && !expectedErrors.some((expected) => expected.test(said))) problems.push(`console: ${said}`);
  });
  context.on("weberror", (problem) => problems.push(`uncaught: ${problem.error().stack ?? problem.error().message}`));
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(home) && !/^(data|blob):/.test(url)) problems.push(`a request elsewhere: ${url}`);
  });
}

/** Saves screenshots of a failed test. */
async function takeScreenshots(contexts: BrowserContext[], name: string): Promise<void> {
  const folder = join(OUT, "failures");
  mkdirSync(folder, { recursive: true });
  const pages = contexts.flatMap((context) => context.pages());
  for (const [index, page] of pages.entries()) {
    await page.screenshot({ path: join(folder, `${name.replaceAll(" ", "_")}-${index + 1}.png`), fullPage: true });
  }
}
