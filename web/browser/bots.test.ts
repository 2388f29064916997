import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../src/text/en";
import { botInGame, otherPlayer } from "./harness/other_player";
import { address, scenario } from "./harness/scenario";

const { bots } = en;

scenario("an author sees what a bot does and what went wrong, and the bot goes on", async ({ server, openAs }) => {
  const { bot, roomId, gameId } = await botInGame(server);
  const ada = await openAs("ada");
  await ada.getByRole("button", { name: en.menu.settings }).click();
  await ada.getByRole("link", { name: bots.title }).click();
  await ada.getByText(bots.none).waitFor();
  expect(await ada.getByLabel(bots.token).getAttribute("type")).toBe("password");

  await add(ada, `${server.url} ${bot.token} nova`);
  const panel = panelOf(ada, "nova");
  await panel.getByText(bots.reads, { exact: true }).waitFor();
  await panel.getByText(bots.games(1)).waitFor();
  await panel.getByText(bots.seats(1, 1)).waitFor();
  await panel.getByText("ILLEGAL_MOVE GameService/PlayMove").waitFor();
  await panel.getByText(bots.times(1)).waitFor();
  const room = panel.getByRole("link", { name: bots.seat(en.side.black, roomId) });
  expect(address((await room.getAttribute("href")) ?? "")).toBe(`room/${roomId}`);
  // A running game has no page of its own.
  expect(await panel.getByRole("link", { name: bots.game, exact: true }).count()).toBe(0);

  // The page reads no turns of the bot, whose own stream is open still.
  await bot.games.resign({ gameId });
  await expect.poll(() => bot.events.some(({ case: kind }) => kind === "gameEnded")).toBe(true);
  await panel.getByText(bots.games(0)).waitFor();
  await panel.getByRole("link", { name: bots.game, exact: true }).click();
  await ada.getByRole("slider", { name: en.replay.position }).waitFor();
  bot.leave();
  await ada.goto(new URL("#/bots", ada.url()).href);
  await ada.reload();
  await panel.getByText(bots.readsNot).waitFor();

  const kept = await ada.evaluate(() => localStorage.getItem("reversi.bots"));
  expect(JSON.parse(kept ?? "")).toEqual([bot.playToken]);
  expect(await ada.content()).not.toContain(bot.playToken.slice("play_".length));
  expect(await ada.content()).not.toContain(bot.token);
  expect(ada.url()).toBe(`${server.url}#/bots`);
});

scenario(
  "tokens are kept, refused ones are told, and both are removed by keyboard",
  async ({ server, open, expectedErrors }) => {
    expectedErrors.push(/^Failed to load resource/);
    const bot = await otherPlayer(server, "nova");
    const page = await open({ at: "bots" });
    await add(page, "nova");
    await page.getByRole("alert").getByText(bots.unreadable).waitFor();
    await add(page, `https://reversi.example ${bot.token} nova`);
    await page.getByRole("alert").getByText(bots.elsewhere).waitFor();
    await add(page, bot.playToken);
    await panelOf(page, "nova").getByText(bots.noProblems).waitFor();
    await add(page, bot.playToken);
    await page.getByRole("alert").getByText(bots.known).waitFor();
    await add(page, "0".repeat(64));
    await page.getByRole("alert").getByText(bots.invalid).waitFor();

    await page.reload();
    await page.getByRole("alert").getByText(bots.invalid).waitFor();
    await page.getByRole("button", { name: bots.removeName(bots.unknown) }).focus();
    await page.keyboard.press("Enter");
    await page.getByText(bots.invalid).waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("INPUT");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText(bots.none).waitFor();
    expect(await page.evaluate(() => localStorage.getItem("reversi.bots"))).toBe("[]");
  },
);

async function add(page: Page, pasted: string): Promise<void> {
  await page.getByLabel(bots.token).fill(pasted);
  await page.keyboard.press("Enter");
}

function panelOf(page: Page, name: string) {
  return page.locator(".panel").filter({ has: page.getByRole("heading", { name }) });
}
