import { expect, onTestFinished } from "vitest";
import { board, count, exchange, legal, quickGame } from "../harness/game_page";
import { Relay } from "../harness/relay";
import { address, logIn, scenario } from "../harness/scenario";

/** Two heartbeats of the server, and what a machine that does much else needs to open again, in milliseconds. */
const ON_AGAIN = 2 * 3_000 + 6_000;

scenario("a game goes on when old connections go silent and new ones work", async ({ browser, server }) => {
  const relay = await Relay.start(server.address);
  onTestFinished(() => relay.stop());
  const context = await browser.newContext({ locale: "en-US" });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(relay.url);
  await logIn(page, "ada");
  await quickGame(page, "random");
  await exchange(page);

  // The move of the player goes nowhere.
  const before = count(await board(page), "-");
  relay.silence();
  const silentAt = performance.now();
  await legal(page).first().click();
  await expect.poll(async () => count(await board(page), "-")).toBeLessThan(before - 1);
  await legal(page).first().waitFor();
  expect(performance.now() - silentAt).toBeLessThan(ON_AGAIN);

  // The move of the opponent does not arrive.
  const room = address(page.url());
  await page.goto(`${relay.url}#/${room}`);
  await legal(page).first().waitFor();
  relay.silence();
  // The banner may be gone within a frame.
  await expect.poll(() => relay.newConnections, { timeout: ON_AGAIN }).toBeGreaterThan(0);
  await page.locator(".banner").waitFor({ state: "hidden", timeout: ON_AGAIN });
  await exchange(page);
});
