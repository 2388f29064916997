import type { Page } from "playwright-core";
import { expect } from "vitest";
import { GameEndReason } from "../src/gen/reversi/v1/types_pb";
import { en } from "../src/text/en";
import { scenario } from "./harness/scenario";
import { legal, quickGame } from "./harness/game_page";

const { archive } = en;

scenario("finished games are listed, and their openings explored", async ({ open, openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  await ada.getByRole("gridcell", { name: "f5," }).click();
  await legal(ada).first().waitFor();
  await ada.getByRole("button", { name: en.game.resign }).click();
  await ada.getByRole("button", { name: en.game.confirm, exact: true }).click();
  await ada.getByRole("link", { name: en.game.replay }).click();
  await ada.getByRole("link", { name: archive.explore }).waitFor();

  const visitor = await open({ at: "records" });
  await visitor.getByRole("link", { name: /^ada – / }).waitFor();
  await visitor.getByText(archive.noRanking).first().waitFor();
  await visitor.getByLabel(archive.result).selectOption(archive.blackWins);
  await visitor.getByText(archive.noGames).waitFor();
  await visitor.getByLabel(archive.result).selectOption(archive.whiteWins);
  await visitor.getByRole("link", { name: /^ada – / }).waitFor();
  await visitor.getByText(`${archive.whiteWins} · ${en.result.reason[GameEndReason.RESIGNATION]}`).waitFor();

  await filterByPlayerAndOpening(visitor);

  await visitor.getByRole("link", { name: archive.openings }).click();
  const first = visitor.getByRole("button", { name: "d3 c4 f5 e6" });
  await first.waitFor();
  await visitor.getByRole("heading", { name: archive.recent }).waitFor();
  await first.click();
  await expect.poll(() => visitor.url()).toContain("#/explore/d3");
  await visitor.getByRole("gridcell", { name: "c5," }).click();
  await visitor.getByRole("heading", { name: "Perpendicular" }).waitFor();
  await visitor.getByText(archive.none).waitFor();
  await visitor.getByRole("button", { name: archive.back }).click();
  await expect.poll(() => visitor.url()).toMatch(/#\/explore\/d3$/);
  await visitor.getByLabel(archive.minRating).selectOption("2000");
  await visitor.getByText(archive.none).waitFor();
  await visitor.reload();
  await visitor.getByText(archive.none).waitFor();
  expect(await visitor.getByLabel(archive.minRating).inputValue()).toBe("2000");
});

scenario("an aborted game is listed as such and can be replayed", async ({ openAs }) => {
  const ada = await openAs("ada");
  await quickGame(ada, "random");
  await ada.getByRole("button", { name: en.game.abort }).click();
  await ada.getByRole("link", { name: en.game.replay }).click();
  await ada.getByRole("slider", { name: en.replay.position }).waitFor();
  await ada.goto(new URL("#/records", ada.url()).href);
  const row = ada.getByRole("listitem").filter({ has: ada.getByRole("link", { name: /^ada – / }) });
  await row.getByText(en.stats.aborted).waitFor();
  expect(await row.locator("strong, .numbers").count()).toBe(0);
});

async function filterByPlayerAndOpening(page: Page): Promise<void> {
  const game = page.getByRole("link", { name: /^ada – / });
  const player = page.getByLabel(archive.player);
  await player.fill("nemo");
  await player.press("Enter");
  await page.getByText(archive.nobody("nemo")).waitFor();
  await player.fill("ada");
  await player.press("Enter");
  await page.getByText(archive.nobody("nemo")).waitFor({ state: "detached" });
  await game.waitFor();
  const opening = page.getByLabel(en.create.opening);
  await opening.selectOption("Tiger");
  await page.getByText(archive.noGames).waitFor();
  const own = page.locator(".record-list .hint").first();
  await opening.selectOption("");
  await game.waitFor();
  const played = (await own.innerText()).split(" · ")[2] ?? "";
  await opening.selectOption(played);
  await game.waitFor();
  const from = page.getByLabel(archive.from, { exact: true });
  await from.fill("2100-01-01");
  await page.getByText(archive.noGames).waitFor();
  await from.fill("2020-01-01");
  await game.click();
  await page.getByRole("slider", { name: en.replay.position }).waitFor();
  await page.goBack();
  await game.waitFor();
  expect(await player.inputValue()).toBe("ada");
  expect(await opening.inputValue()).toBe(played);
  expect(await from.inputValue()).toBe("2020-01-01");
}
