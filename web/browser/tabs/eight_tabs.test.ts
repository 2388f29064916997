import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { GameEndReason } from "../../src/gen/reversi/v1/types_pb";
import { en } from "../../src/text/en";
import { board, createRoom, exchange, legal, playToTheEnd, quickGame, result, seatAi } from "../harness/game_page";
import { address, logIn, scenario } from "../harness/scenario";

scenario(
  "a game is played to its end among eight tabs and eight embedded boards",
  { timeout: 240_000 },
  async ({ browser, server }) => {
    onTestFinished(server.demo(8));
    const context = await browser.newContext({ locale: "en-US" });
    onTestFinished(() => context.close());
    const open = (at: string) => openTab(context, `${server.url}#/${at}`);
    const overview = await open("tv");
    const tiles = overview.locator("a.tile");
    await expect.poll(() => tiles.count()).toBe(8);
    const rooms = await tiles.evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));

    const game = await open("");
    await logIn(game, "ada");
    await shortGame(game);
    const site = await openTab(context, await embeddingSite(server.url, rooms));
    const [rules, second] = await Promise.all(
      ["rules", address(game.url()), ...rooms.slice(0, 3).map(address), "analysis/start/f5d6"].map(open),
    );
    await rules?.getByText(en.rules.guide).waitFor();
    for (const frame of site.frames().slice(1)) await frame.getByRole("grid").waitFor();

    // Both tabs with the game show it, and take moves.
    if (second) await exchange(second);
    await exchange(game);
    await playToTheEnd(game);
    await result(game).getByText(en.result.reason[GameEndReason.DISCS]).waitFor();
    if (second) await result(second).getByText(en.result.reason[GameEndReason.DISCS]).waitFor();

    // Each board is still told of its game.
    const changes = site
      .frames()
      .slice(1)
      .map(async (frame) => {
        const shown = () => frame.locator("main").innerHTML();
        const before = await shown();
        await expect.poll(shown).not.toBe(before);
      });
    await Promise.all(changes);
    const banners = context.pages().map((page) => page.locator(".banner:not([hidden])").count());
    expect(await Promise.all(banners)).toEqual(banners.map(() => 0));
  },
);

scenario("a second tab of the player takes nothing from the first", async ({ openAs }) => {
  const first = await openAs("ada");
  await quickGame(first, "random");
  const second = await openTab(first.context(), first.url());
  await exchange(second);
  const reached = await board(second);
  await expect.poll(() => board(first)).toBe(reached);

  // A hidden tab is told of turns only, until it is seen again.
  await setHidden(second, true);
  await exchange(first);
  expect(await board(second)).toBe(reached);
  expect(await second.title()).toContain(en.game.yourTurn);
  await setHidden(second, false);
  const present = await board(first);
  await expect.poll(() => board(second)).toBe(present);

  const rules = await openTab(first.context(), new URL("#/rules", first.url()).href);
  await rules.getByRole("link", { name: en.ownGame.back }).first().waitFor();
  await exchange(first);
  await second.close();
  await exchange(first);
  expect(await first.getByText(en.connection.elsewhere).count()).toBe(0);
});

scenario("a browser without shared workers plays, and shows boards", async ({ open, server }) => {
  const page = await open();
  await page.context().addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
  await page.reload();
  await logIn(page, "ada");
  await quickGame(page, "random");
  const embedded = await openTab(page.context(), `${server.url}embed#/${address(page.url())}`);
  await embedded.getByText(en.game.toMove.black).waitFor();
  await exchange(page);
  const reached = await board(page);
  await expect.poll(() => board(embedded)).toBe(reached);
  await embedded.getByText(en.game.toMove.black).waitFor();
});

/** As the browser does it when the tab is covered by another. */
function setHidden(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
}

async function openTab(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Starts a game of about twenty moves against an AI, as black. */
async function shortGame(page: Page): Promise<void> {
  await createRoom(page, async () => {
    await seatAi(page, "white", "random");
    await page.getByLabel(en.create.pause).fill("0");
    await page.getByRole("group", { name: en.create.opening }).getByText(en.create.random, { exact: true }).click();
    await page.getByLabel(en.create.plies).fill("20");
  });
  await page.getByRole("button", { name: en.room.start, exact: true }).click();
  await legal(page).first().waitFor();
}

/** A page of the same site, so that its boards and the tabs have the same six connections. */
async function embeddingSite(url: string, rooms: string[]): Promise<string> {
  const frames = rooms.map((room) => `<iframe src="${url}embed${room}" width="200" height="280"></iframe>`);
  const site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(frames.join("")));
  await once(site.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
}
