import type { Page } from "playwright-core";
import { expect } from "vitest";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { board, createRoom, download, result, seatAi } from "./harness/game_page";

const { replay } = en;

scenario("a game of two AIs shows evaluations, is replayed and downloaded", async ({ openAs }) => {
  const page = await openAs("ada");
  await createRoom(page, async () => {
    await seatAi(page, "black", "mcts:2");
    await seatAi(page, "white", "greedy");
    await page.getByLabel(en.create.pause).fill("0.1");
  });
  await page.getByRole("button", { name: en.room.start }).click();
  await page.getByRole("img", { name: en.game.evaluation }).waitFor();
  await page.getByRole("img", { name: new RegExp(`^${en.game.discBalance} `) }).waitFor();
  await result(page).waitFor();
  const final = await board(page);
  const plies = await page.locator(".moves .move").count();

  await page.getByRole("link", { name: en.analysis.open }).waitFor();
  await result(page).getByRole("link", { name: en.game.replay }).click();
  const slider = page.getByRole("slider", { name: replay.position });
  await slider.waitFor();
  const start = await board(page);
  expect(start).not.toBe(final);
  await page.keyboard.press("End");
  await at(page, plies, plies);
  expect(await board(page)).toBe(final);
  await page.keyboard.press("ArrowLeft");
  await at(page, plies - 1, plies);
  await page.keyboard.press("Home");
  await at(page, 0, plies);
  expect(await board(page)).toBe(start);
  // Keys step through the game wherever the focus is, on its board, too.
  await page.getByRole("gridcell", { name: "d4," }).click();
  await page.keyboard.press("ArrowRight");
  await at(page, 1, plies);
  await slider.fill(String(plies - 5));
  await at(page, plies - 5, plies);
  await page.getByRole("combobox", { name: replay.speed }).selectOption("4×");
  await page.getByRole("button", { name: replay.play, exact: true }).click();
  await page.getByRole("button", { name: replay.again }).waitFor();
  await at(page, plies, plies);

  await page.getByRole("button", { name: en.analysis.findMistakes }).click();
  await page.getByText(/lost [0-9.]+ discs in all/).waitFor({ timeout: 90_000 });
  await page.locator(".move .loss").first().click();
  await page.getByText(/was better/).waitFor();
  expect(await page.locator(".graph-mistake").count()).toBe(await page.locator(".move .loss").count());

  expect((await download(page, replay.transcript)).toString()).toMatch(/^([a-h][1-8])+\n$/);
  const ggf = (await download(page, replay.ggf)).toString();
  expect(ggf).toMatch(/^\(;GM\[Othello\]/);
  expect(ggf.match(/(?<!P)[BW]\[/g)).toHaveLength(plies);
});

async function at(page: Page, ply: number, plies: number): Promise<void> {
  await page.locator(".replay-caption").getByText(replay.at(ply, plies), { exact: true }).waitFor();
}
