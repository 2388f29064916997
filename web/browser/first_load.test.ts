import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";

/** The most bytes of a first visit; the same limit as in size.mjs. */
const BUDGET = 120 * 1024;

/** A limit for hangs only, in milliseconds; the measured time is printed. */
const TOO_LONG = 10_000;

scenario("the first screen loads within its budget", async ({ open, server }) => {
  const page = await open();
  const requests = await page.context().newCDPSession(page);
  await requests.send("Network.enable");
  await requests.send("Network.setCacheDisabled", { cacheDisabled: true });
  let bytes = 0;
  requests.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));

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
