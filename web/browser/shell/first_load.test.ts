import type { CDPSession, Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../../src/text/en";
import { scenario } from "../harness/scenario";

/** The most bytes of a first visit; the same limit as in size.mjs. */
const BUDGET = 120 * 1024;

/** A limit for hangs only, in milliseconds; the measured time is printed. */
const TOO_LONG = 10_000;

/** Slow 3G: 400 kbit/s, and 400 ms for an answer. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** The latest first paint over such a network, in milliseconds. The network takes most of it, whatever the machine. */
const FIRST_PAINT = 1_500;

scenario("the first screen loads within its budget", async ({ open, server }) => {
  const page = await open();
  const network = await withoutCaches(page);
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));

  await page.goto("about:blank");
  await page.goto(server.url, { waitUntil: "commit" });
  await page.getByLabel(en.logIn.name).waitFor();
  expect(await page.getByLabel(en.logIn.name).isEnabled()).toBe(true);
  const time = await page.evaluate(() => performance.now());
  await page.waitForLoadState("load");
  console.log(`usable after ${time.toFixed(0)} ms and ${(bytes / 1024).toFixed(1)} KB`);

  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(BUDGET);
  expect(time).toBeLessThan(TOO_LONG);
});

scenario("over a slow network something is painted before the script has loaded", async ({ open, server }) => {
  const page = await open();
  const network = await withoutCaches(page);
  await page.goto("about:blank");
  await network.send("Network.emulateNetworkConditions", SLOW);
  await page.goto(server.url, { waitUntil: "commit" });
  await page.getByLabel(en.logIn.name).waitFor();

  const { paint, script } = await page.evaluate(() => {
    const entry = document.querySelector<HTMLScriptElement>("script[type=module]")?.src ?? "";
    const [loaded] = performance.getEntriesByName(entry) as PerformanceResourceTiming[];
    const [painted] = performance.getEntriesByName("first-contentful-paint");
    return { paint: painted?.startTime ?? NaN, script: loaded?.responseEnd ?? NaN };
  });
  console.log(`first paint after ${paint.toFixed(0)} ms, script loaded after ${script.toFixed(0)} ms`);
  expect(paint).toBeLessThan(FIRST_PAINT);
  expect(paint).toBeLessThan(script);
});

/** The network of a first visit. */
async function withoutCaches(page: Page): Promise<CDPSession> {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.setCacheDisabled", { cacheDisabled: true });
  await network.send("Network.setBypassServiceWorker", { bypass: true });
  return network;
}
